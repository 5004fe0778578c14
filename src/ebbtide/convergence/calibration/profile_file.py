"""A profile as the TOML file that `Profile.load` reads."""

from __future__ import annotations

import json
from collections.abc import Iterable

from ebbtide.profile import Profile


def profile_toml(profile: Profile, remarks: Iterable[str] = ()) -> str:
    """The file: a base, and what differs from it.

    Args:
        profile: Any. One that is named "spec" has that base, every other "default".
        remarks: Lines for the top of the file, as comments.

    >>> print(profile_toml(Profile.from_dict({"novelty": {"low_rounds": 3}})), end="")
    base = "default"
    <BLANKLINE>
    [novelty]
    low_rounds = 3
    """
    base = Profile.SPEC if profile.name == Profile.SPEC.name else Profile.DEFAULT
    lines = [f"# {' '.join(remark.split())}" for remark in remarks]
    lines.append(f'base = "{base.name}"')
    here, there = profile.to_dict(), base.to_dict()
    for section, values in here.items():
        changed = (
            {} if section == "name" else {key: it for key, it in values.items() if it != there[section][key]}
        )
        if changed:
            # Texts, numbers and true or false are written in TOML as in JSON.
            lines += ["", f"[{section}]", *(f"{key} = {json.dumps(it)}" for key, it in changed.items())]
    return "\n".join(lines) + "\n"
