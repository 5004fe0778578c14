"""Finds the place of a quotation in a text."""

from __future__ import annotations

_EMPHASIS = "*_`"
_ENDS = ".?!\u3002\uff1f\uff01"


class Quotations:
    r"""A text in which quotations are looked up.

    A quotation counts where its letters and digits stand in the text in the same order with no other between
    them: whoever quotes may drop markup and change case, white space and the kind of quotation marks, and
    nothing else.

    >>> Quotations("We **don't** ship on Friday.").find("we don\u2019t ship")
    (0, 17)
    """

    def __init__(self, text: str) -> None:
        self._text = text
        places = [(letter, at) for at, char in enumerate(text) for letter in _letters(char)]
        self._letters = "".join(letter for letter, _ in places)
        self._at = [at for _, at in places]

    def find(self, quote: str) -> tuple[int, int] | None:
        """Start and end in the text of the first place that says `quote`; None where there is none."""
        letters = "".join(_letters(quote))
        place = self._letters.find(letters) if letters else -1
        while place >= 0:
            start, end = self._at[place], self._at[place + len(letters) - 1] + 1
            if not (self._inside_word(start) or self._inside_word(end)):
                return self._with_marks(start, end)
            place = self._letters.find(letters, place + 1)
        return None

    def _inside_word(self, at: int) -> bool:
        """Returns True if a word of a script with spaces goes on over this place."""
        around = self._text[at - 1 : at + 1] if at else ""
        return len(around) == 2 and around.isalnum() and around.isascii()

    def _with_marks(self, start: int, end: int) -> tuple[int, int]:
        """Widens a range by the marks of emphasis around it, and by the mark that ends the sentence."""
        before, after = self._text[:start], self._text[end:]
        return (len(before.rstrip(_EMPHASIS)), len(self._text) - len(after.lstrip(_EMPHASIS + _ENDS)))


def _letters(text: str) -> list[str]:
    return [char for char in text.casefold() if char.isalnum()]
