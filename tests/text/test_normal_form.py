"""The L0 normal form (novelty spec, 2.1)."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.text.normal_form import normal_form


@pytest.mark.clause("N01")
@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("Use PgBouncer.", "use pgbouncer"),
        ("  Use \t PgBouncer\n for\r\npooling ", "use pgbouncer for pooling"),
        ("Use\u00a0PgBouncer\u2003now\u3000please", "use pgbouncer now please"),
        ("Really?!?", "really"),
        ("Really ! ?", "really"),
        ("Version 1.2.", "version 1.2"),
        ("Wait, what", "wait, what"),
        ("cafe\u0301 is open", "caf\u00e9 is open"),
        ("...", ""),
        ("", ""),
    ],
)
def test_case_space_and_trailing_stops_do_not_count(claim: str, expected: str) -> None:
    """Claims that differ in case, white space, composition or final .!? have one normal form."""
    assert normal_form(claim) == expected


@pytest.mark.clause("N01")
@given(st.text())
def test_normal_form_is_idempotent_and_composed(text: str) -> None:
    """Applying it twice changes nothing, and the result is in NFC without outer or double white space."""
    form = normal_form(text)
    assert normal_form(form) == form
    assert unicodedata.is_normalized("NFC", form)
    assert form == " ".join(form.split())
    assert not form.endswith((".", "!", "?"))


@given(st.text(alphabet="aBc .!?\t"))
def test_words_survive(text: str) -> None:
    """No word between white space is lost or joined to another."""
    expected = list(text.lower().split())
    assert normal_form(text).split() == normal_form(" ".join(expected)).split()
