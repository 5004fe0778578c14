"""The few keys by which decisions on one subject are found among all that stand.

Two that contradict each other share two words of their subject, or all of a short one. So the pairs of the
first words are the keys, and for a short subject its words as well. Stores keep hashes of these keys:
whoever changes what they are also has to migrate the stores.
"""

from __future__ import annotations

from itertools import combinations

from ebbtide.decisions.repeats.subject import LONGEST_SUBJECT, read_subject
from ebbtide.text.normal_form import normal_form

_WORDS = 4  # of a subject, the first ones
_SHORT = 2  # words of a subject of which each is a key


def subject_keys(text: str) -> tuple[tuple[str, ...], ...]:
    """The keys of a decision, at most six, each of one or two stems in alphabetical order.

    A text that is too long to be compared by its subject has none.

    >>> subject_keys("Keep the nightly backup of the database")
    (('backup', 'databas'), ('backup', 'nightly'), ('databas', 'nightly'))
    >>> subject_keys("Use Redis")
    (('redis',),)
    """
    form = normal_form(text)
    if len(form) > LONGEST_SUBJECT:
        return ()
    words = read_subject(form).topic[:_WORDS]
    alone = ((word,) for word in words) if len(words) <= _SHORT else ()
    return tuple(sorted({*(tuple(sorted(pair)) for pair in combinations(words, 2)), *alone}))
