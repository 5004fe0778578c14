"""Words without their endings, so that "running tests" and "run tests" are the same claim.

Only what inflection adds is taken off: plural and verb -s, -ed and -ing, the possessive, the common
irregular forms. Derivation is left alone: "university" is not "universe", "new" is not "news". A stem is
a key to compare by, not a word to show: "decide", "decides" and "deciding" share "decid".

Source: rubric spec, section 1 (clause B01); the plural rules follow the idea of Harman's S-stemmer,
"How effective is suffixing?", JASIS 42(1), 1991.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import chain


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# What a token may lose at its edges. Signs that carry meaning there are not in it: c++ c# .net -5 50% $3 /etc
_EDGES = (
    "\"'`*~()[]{}<>,;:!?|\u2018\u2019\u201c\u201d\u00ab\u00bb\u2026\u2022\u2013\u2014"
    "\u3001\u3002\u300a\u300b\u300c\u300d\u300e\u300f\uff01\uff08\uff09\uff0c\uff1a\uff1b\uff1f"
)
_DASHES = "-\u2010\u2011\u2012\u2013\u2014"
_CLITICS = ("s", "m", "d", "ll", "re", "ve")
_AUXILIARIES = "do does did is are was were has have had would should could"
_NEGATED = {f"{word}nt": word for word in _words(_AUXILIARIES)} | {
    "cannot": "can",
    "cant": "can",
    "mustnt": "must",
    "neednt": "need",
    "shant": "shall",
    "wont": "will",
    "aint": "be",
}

# Scripts that are written without spaces: Thai and Lao, Burmese, Khmer, kana, Han.
_UNSPACED = re.compile(
    "([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U000323af]+)"
)
_ENGLISH = re.compile("[a-z]{2,30}")
_VOWEL = re.compile("[aeiouy]")
# Hop, typ, us: short enough that an e was lost before -ed or -ing, as hopp would have kept its second p.
_SHORT = re.compile("(?:[^aeiouy]|qu)*[aeiouy][^aeiouwxy]")

# One lemma a line, then the forms that no rule finds.
_IRREGULAR_FORMS = """
agree agreed; disagree disagreed; arise arose arisen; be am are been being is was were; become became
begin began begun; break broke broken; bring brought; build built; buy bought; catch caught
choose chose chosen; come came; deal dealt; die dying; do did does doing done; draw drew drawn
drive drove driven; eat ate eaten; fall fell fallen; feed fed; feel felt; fight fought; find found
fly flew flown; forbid forbade forbidden; forget forgot forgotten; free freed; freeze froze frozen
get got gotten; give gave given; go goes going gone went; grow grew grown; guarantee guaranteed
hang hung; have had has having; hear heard; hide hid hidden; hold held; keep kept; know knew known
lead led; lend lent; lie lying; lose lost; make made; mean meant; meet met; overcome overcame
override overrode overridden; pay paid; rebuild rebuilt; rerun reran; rewrite rewrote rewritten
ride rode ridden; rise rose risen; run ran; say said; see saw seen; seek sought; sell sold; send sent
shake shook shaken; show shown; shrink shrank shrunk; sit sat; sleep slept; speak spoke spoken
spend spent; stand stood; steal stole stolen; stick stuck; sweep swept; swear swore sworn
take took taken; teach taught; tear torn; tell told; throw threw thrown; tie tying
undergo underwent undergone; undo undid undone; understand understood; wake woke woken; wear wore worn
win won; withdraw withdrew withdrawn; write wrote written
analysis analyses; api apis; appendix appendices; axis axes; bus buses; child children; cli clis
cpu cpus; crisis crises; criterion criteria; db dbs; foot feet; gas gases; gpu gpus; half halves
hypothesis hypotheses; id ids; index indices; knife knives; man men; matrix matrices; menu menus
mouse mice; person people; phenomenon phenomena; pr prs; shelf shelves; thesis theses; tooth teeth
ui uis; vertex vertices; vm vms; wife wives; woman women
"""
# Words that only look inflected, or whose stem would be another word.
_WHOLE = _words(
    "alias always atlas besides bias canvas ceiling embed evening https lens news outing series species"
)
_NOUNS_IN_IE = _words("brownie calorie cookie genie indie movie newbie prairie rookie selfie zombie")
_KEEPS_E = _words("finale humane locale morale paste rationale unite")
_DOUBLES_L = _words(
    "cancel channel compel control dial enrol equal excel expel fuel initial label level marshal model panel"
    " parallel patrol propel rebel signal total travel tunnel"
)


@lru_cache(maxsize=1 << 15)
def stem(word: str) -> str:
    """Returns the word without its inflection; anything but 2 to 30 letters a-z is left alone.

    Args:
        word: One word in lower case.

    >>> stem("caching"), stem("caches"), stem("cached"), stem("cache")
    ('cach', 'cach', 'cach', 'cach')
    >>> stem("news"), stem("process"), stem("test_runs.py")
    ('news', 'process', 'test_runs.py')
    """
    if not _ENGLISH.fullmatch(word):
        return word
    lemma = _IRREGULAR.get(word, word)
    if len(lemma) <= 3 or lemma in _WHOLE:
        return lemma
    singular = _without_s(lemma)
    if singular in _WHOLE:
        return singular
    base = _without_ed_or_ing(singular)
    return base or _without_e(singular)


def stem_tokens(normal: str) -> frozenset[str]:
    """Returns the stems that a claim is compared by.

    White-space separated words lose punctuation at their edges, possessives and inflection; "don't" is
    "do" and "not"; text in scripts without spaces is cut into pairs of neighbouring characters.

    Args:
        normal: The L0 normal form of the claim.

    >>> sorted(stem_tokens("don't cache (50% of) the user's queries"))
    ['50%', 'cach', 'do', 'not', 'of', 'query', 'the', 'user']
    """
    return frozenset(chain.from_iterable(map(_stems_of, normal.split())))


def runs(core: str) -> tuple[str, ...]:
    """Returns the word cut where its script changes from or to one that is written without spaces."""
    if core.isascii():
        return (core,)
    return tuple(filter(None, map(bare, _UNSPACED.split(core))))


def bare(word: str) -> str:
    """Returns the word without punctuation at its edges; empty for punctuation alone."""
    core = word.strip(_EDGES).rstrip("." + _EDGES)
    if core.startswith("..") and not core.startswith("../"):
        core = core.lstrip(".")
    if core.isalnum() or any(map(str.isalnum, core)):
        return core
    return word if word.strip(_EDGES + _DASHES + ".") else ""


def spoken(core: str) -> tuple[str, ...]:
    """Returns the words in a contraction or possessive: ("do", "not") for "don't", ("user",) for "user's".

    Args:
        core: One lower-case word without punctuation at its edges.
    """
    plain = core.replace("\u2019", "'")
    negated = _NEGATED.get(plain.replace("'", ""))
    if negated is not None:
        return negated, "not"
    head, apostrophe, tail = plain.rpartition("'")
    return (head,) if apostrophe and head and tail in _CLITICS else (plain,)


def _stems_of(word: str) -> tuple[str, ...]:
    # Long words are blobs: they would fill the cache and are hardly ever met again.
    return _remembered_stems_of(word) if len(word) <= 64 else _remembered_stems_of.__wrapped__(word)


@lru_cache(maxsize=1 << 15)
def _remembered_stems_of(word: str) -> tuple[str, ...]:
    stems: list[str] = []
    for run in runs(bare(word)):
        if _UNSPACED.match(run):
            stems += [run[at : at + 2] for at in range(len(run) - 1)] or [run]
        else:
            stems += map(stem, spoken(run))
    return tuple(filter(None, stems))


def _without_s(word: str) -> str:
    if not word.endswith("s") or word.endswith(("ss", "us", "is")) or word in _WHOLE:
        return word
    singular = word[:-1]
    if singular.endswith("ie") and len(singular) > 3 and singular not in _NOUNS_IN_IE:
        return f"{word[:-3]}y"
    return word[:-2] if word.endswith("oes") and len(word) > 5 else singular


def _without_ed_or_ing(word: str) -> str | None:
    if word.endswith("ied"):
        return f"{word[:-3]}y" if len(word) > 4 else word[:-1]
    if word.endswith("eed") or not word.endswith(("ed", "ing")):
        return None
    base = word.removesuffix("ing") if word.endswith("ing") else word[:-2]
    if len(base) < 2 or not _VOWEL.search(base):
        return None
    if base.endswith("e"):
        return _without_e(base)
    if len(base) > 3 and base[-1] == base[-2] and base[-1] not in "aeiousfz":
        single = base[:-1]
        return single if base[-1] != "l" or single in _DOUBLES_L else base
    return f"{base}e" if _SHORT.fullmatch(base) or f"{base}e" in _KEEPS_E else base


def _without_e(word: str) -> str:
    # Whether an e was lost before -ed or -ing cannot be seen in general ("caching", "matching"). So it
    # goes from every word, except where it can be seen.
    base = word[:-1]
    if not word.endswith("e") or len(word) < 4 or base[-1] in "eioy" or word in _KEEPS_E:
        return word
    return word if _SHORT.fullmatch(base) else base


def _irregular() -> dict[str, str]:
    lines = (entry.split() for entry in _IRREGULAR_FORMS.replace("\n", ";").split(";"))
    return {form: forms[0] for forms in lines for form in forms}


_IRREGULAR = _irregular()
