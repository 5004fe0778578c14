"""How rounds are scored, as options say it."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from ebbtide.cli.declaration import read_prices
from ebbtide.convergence.meter import ConvergenceMeter
from ebbtide.errors import SemanticError
from ebbtide.profile import Profile
from ebbtide.text.embedding.vectors import Embedder
from ebbtide.traces.transcripts.turns import RoundUnit

if TYPE_CHECKING:
    from ebbtide.text.llm.chat_endpoint import ChatModel


@dataclass(frozen=True, slots=True, kw_only=True)
class SemanticLevel:
    """What meanings are compared with, or why they are not compared.

    Args:
        embedder: None where the level is off.
        problem: What is missing; None where nothing is.
    """

    embedder: Embedder | None = None
    problem: str | None = None


def semantic_level(use: str, model: str | None, cache: str | None) -> SemanticLevel:
    """The level that options ask for; naming a model asks for it.

    Raises:
        SemanticError: It was asked for, and cannot run.
    """
    if use == "off" and model is None:
        return SemanticLevel()
    from ebbtide.text.embedding.embedder import open_embedder

    try:
        return SemanticLevel(embedder=open_embedder(model, cache=Path(cache) if cache else None))
    except SemanticError as error:
        if use != "auto":
            raise
        return SemanticLevel(problem=str(error))


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoringOptions:
    """What every scoring command takes.

    `judge` is the model to ask, None for the rules alone; `redact` masks keys and passwords in the answer.
    """

    profile: Profile
    unit: RoundUnit
    as_json: bool
    explain: bool = False
    level: SemanticLevel = SemanticLevel()
    judge: ChatModel | None = None
    redact: bool = True

    @classmethod
    def of(
        cls,
        *,
        profile: str,
        unit: RoundUnit,
        as_json: bool,
        level: SemanticLevel,
        explain: bool = False,
        judge: str | None = None,
        prices: str | None = None,
        redact: bool = True,
    ) -> Self:
        """The options of the command line.

        Raises:
            ConfigError: There is no such profile, or the judge cannot be used.
        """
        options = cls(
            profile=Profile.load(profile),
            unit=unit,
            as_json=as_json,
            explain=explain,
            level=level,
            redact=redact,
        )
        if judge is None:
            return options
        from ebbtide.cli.judging import open_judge

        return dataclasses.replace(options, judge=open_judge(judge, read_prices(prices)))

    def meter(self) -> ConvergenceMeter:
        """A meter as these options want it."""
        return ConvergenceMeter(self.profile, explain=self.explain, embedder=self.level.embedder)

    def add_problem(self, wire: dict[str, Any]) -> dict[str, Any]:
        """A result for machines, with the reason why the semantic level is not in it."""
        return {**wire, "semantic_problem": self.level.problem} if self.level.problem else wire
