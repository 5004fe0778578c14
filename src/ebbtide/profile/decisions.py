"""Thresholds of the gate before the decision log."""

from __future__ import annotations

from dataclasses import dataclass

from ebbtide.checks import flag, number, share, whole
from ebbtide.errors import ConfigError


@dataclass(frozen=True, slots=True, kw_only=True)
class GateRules:
    """Thresholds under which a candidate is no decision, or not fit to be kept.

    Args:
        weighs: Phrases are evidence, for noise or for a choice, and what is left of the noise counts. Off,
            every rule refuses alone, as in the spec.
        frames: The activity of an agent when its turns are taken for decisions.
        refuse_at: Noise less choice from which a candidate is refused; without `weighs` it is 1.
        quoted_noise: Noise that one sentence of a longer turn counts as where it has no clear sign of a
            choice; 0 takes it like any other text. Only with `weighs`.
        short_below: Characters under which a description is too short; wide ones count twice.
        short_words: Words with content from which a short description is kept all the same; None where none
            saves it.
        short_turn_below: Characters under which a turn without tools decides nothing.
        bullets_above: Share of the lines of a turn, over 0 to 1, above which it is a list.
        report_markers: Words of completed work at the beginning of a turn with tools that make it a report.
        report_characters: Length of that beginning.
        default_confidence: The confidence that stands for none.
        model: File that `ebbtide decisions train` made of labels of your own, which is weighed beside the
            rules; None where the rules stand alone. A path in a profile file starts from its folder. It needs
            `weighs` and the extra ``semantic``.

    Source: decision quality gate, layers 1 and 3.
    """

    weighs: bool = False
    frames: tuple[str, ...] = ("decision", "debug")
    refuse_at: float = 1.0
    quoted_noise: float = 0.75
    short_below: int = 20
    short_words: int | None = None
    short_turn_below: int = 50
    bullets_above: float = 0.6
    report_markers: int = 2
    report_characters: int = 300
    default_confidence: float = 0.5
    model: str | None = None

    def __post_init__(self) -> None:
        flag("weighs", self.weighs)
        # A list is what TOML has.
        if isinstance(self.frames, list):
            object.__setattr__(self, "frames", tuple(self.frames))
        if not isinstance(self.frames, tuple) or not all(isinstance(name, str) for name in self.frames):
            raise ConfigError(f"frames = {self.frames!r}: expected a list of names")
        number("refuse_at", self.refuse_at, above=0, expected="a number above 0")
        share("quoted_noise", self.quoted_noise)
        for name in ("short_below", "short_turn_below"):
            whole(name, getattr(self, name), 0)
        for name in ("report_markers", "report_characters"):
            whole(name, getattr(self, name), 1)
        if self.short_words is not None:
            whole("short_words", self.short_words, 1)
        share("bullets_above", self.bullets_above)
        share("default_confidence", self.default_confidence)
        if self.model is None:
            return
        if not isinstance(self.model, str) or not self.model:
            raise ConfigError(f"model = {self.model!r:.60}: expected the name of a file")
        if not self.weighs:
            raise ConfigError("model: a trained model is weighed beside the rules, and weighs = false")
