"""A profile written to a file is the profile that is read from it."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from ebbtide.convergence.calibration.profile_file import profile_toml
from ebbtide.profile import Profile

units = st.floats(0.001, 1)
tables = st.fixed_dictionaries(
    {
        "base": st.sampled_from(["default", "spec"]),
        "novelty": st.fixed_dictionaries(
            {},
            optional={
                "jaccard_at_least": units,
                "cosine_at_least": units,
                "tokens": st.sampled_from(["words", "stems"]),
                "contrast_guard": st.booleans(),
                "low_rounds": st.integers(1, 9),
            },
        ),
        "gaming": st.fixed_dictionaries({}, optional={"spike_factor": st.floats(1.5, 9)}),
    }
)


@given(table=tables)
def test_round_trip(tmp_path_factory: object, table: dict[str, object]) -> None:
    """Whatever the profile, its file gives every value back."""
    profile = Profile.from_dict(table)
    path = tmp_path_factory.getbasetemp() / "profile.toml"
    path.write_text(profile_toml(profile, ["Two\nlines"]), encoding="utf-8")
    expected = {**profile.to_dict(), "name": "profile"}
    assert Profile.load(path).to_dict() == expected


def test_file_holds_only_what_differs(tmp_path: Path) -> None:
    """A built-in profile is its base and nothing else; remarks are comments of one line."""
    assert profile_toml(Profile.SPEC) == 'base = "spec"\n'
    assert profile_toml(Profile.DEFAULT, ["a\nb"]) == '# a b\nbase = "default"\n'
