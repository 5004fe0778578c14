"""The options for scoring rounds."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Self

from ebbtide.cli.declaration import Option, ProfileName, Redact, shared
from ebbtide.cli.runs.ignoring import with_ignored
from ebbtide.convergence.meter import ConvergenceMeter
from ebbtide.errors import SemanticError
from ebbtide.profile import Profile
from ebbtide.text.embedding.vectors import Embedder
from ebbtide.traces.transcripts.turns import RoundUnit

if TYPE_CHECKING:
    from ebbtide.text.llm.chat_endpoint import ChatModel


class SemanticUse(StrEnum):
    """The conditions under which meanings are compared."""

    OFF = "off"
    AUTO = "auto"  #: where it can be; the result says whether it was
    ON = "on"  #: or fail


Unit = Annotated[
    RoundUnit,
    Option("--round", help="Unit of a round in a plain conversation: a turn, or a circle of all speakers."),
]
Semantic = Annotated[
    SemanticUse,
    Option("--semantic", help="Also compare meanings: off, on, or auto (on if installed)."),
]
EmbedderName = Annotated[
    str | None,
    Option(
        "--embedder",
        metavar="NAME",
        help="Embedding model: minilm, folder:PATH, sentence-transformers:NAME or openai:URL#MODEL. "
        "It implies --semantic on.",
    ),
]
EmbeddingCache = Annotated[
    str | None,
    Option("--embedding-cache", metavar="FILE", help="File that caches embeddings between runs."),
]
Follow = Annotated[bool, Option("--follow", help="Keep reading a growing JSONL file.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class SemanticLevel:
    """The embedder that compares meanings, or the reason why there is none.

    Args:
        embedder: None where the level is off.
        problem: What is missing; None where nothing is.
    """

    embedder: Embedder | None = None
    problem: str | None = None


def semantic_level(use: SemanticUse, model: str | None, cache: str | None) -> SemanticLevel:
    """The level that options ask for; naming a model asks for it.

    Raises:
        SemanticError: It was asked for, and cannot run.
    """
    if use is SemanticUse.OFF and model is None:
        return SemanticLevel()
    from ebbtide.text.embedding.embedder import open_embedder

    try:
        return SemanticLevel(embedder=open_embedder(model, cache=Path(cache) if cache else None))
    except SemanticError as error:
        if use is not SemanticUse.AUTO:
            raise
        return SemanticLevel(problem=str(error))


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoringOptions:
    """The settings for scoring and showing conversations.

    `judge` is the model to ask, None for the rules alone; `redact` masks keys and passwords in the answer.
    """

    profile: Profile
    unit: RoundUnit
    level: SemanticLevel = SemanticLevel()
    redact: bool = True
    explain: bool = False
    judge: ChatModel | None = None

    @classmethod
    def read(
        cls,
        *,
        profile: str,
        unit: RoundUnit,
        semantic: SemanticUse,
        embedder: str | None,
        cache: str | None,
        redact: bool,
    ) -> Self:
        """The options that a command line says.

        Raises:
            ConfigError: There is no such profile.
            SemanticError: Meanings are to be compared, and cannot be.
        """
        level = semantic_level(semantic, embedder, cache)
        return cls(profile=with_ignored(Profile.load(profile), ()), unit=unit, level=level, redact=redact)

    def meter(self) -> ConvergenceMeter:
        """A meter as these options want it."""
        return ConvergenceMeter(self.profile, explain=self.explain, embedder=self.level.embedder)

    def add_problem(self, wire: dict[str, Any]) -> dict[str, Any]:
        """A result for machines, with the reason why the semantic level is not in it."""
        return {**wire, "semantic_problem": self.level.problem} if self.level.problem else wire


with_scoring = shared(
    {
        "profile": (ProfileName, "default"),
        "unit": (Unit, RoundUnit.TURN),
        "semantic": (Semantic, SemanticUse.OFF),
        "embedder": (EmbedderName, None),
        "cache": (EmbeddingCache, None),
        "redact": (Redact, True),
    },
    ScoringOptions.read,
)
