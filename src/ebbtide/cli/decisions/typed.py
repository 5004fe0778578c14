"""A decision as somebody types it: a text, a file of fields, and ``NAME=TEXT``."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from ebbtide.cli.decisions.place import moment_of
from ebbtide.cli.declaration import Option
from ebbtide.decision_log.exchange.markdown import split_front_matter
from ebbtide.decision_log.record.particulars import Particulars
from ebbtide.decision_log.record.record import Decision, Link, Relation
from ebbtide.decision_log.record.wire import from_wire
from ebbtide.decisions.candidate import Candidate, ReasonKind
from ebbtide.errors import ConfigError, TranscriptError
from ebbtide.settings_file import offer
from ebbtide.traces.input.source import STDIN, read_bytes

_OF_CANDIDATE = {name: hint for name, hint in get_type_hints(Candidate).items() if name != "source"}
_OF_RECORD = get_type_hints(Particulars)
_OF_DECISION = {name: get_type_hints(Decision)[name] for name in ("prediction", "review_by")}
_FIELDS = {**_OF_RECORD, **_OF_DECISION, **_OF_CANDIDATE}
_LINKS = (Relation.DEPENDS_ON, Relation.RELATED_TO, Relation.CONTRADICTS, Relation.SUPERSEDES)
_LONGEST = 4 << 20  # bytes of a text

TextFile = Annotated[
    Path | None,
    Option(
        "--file",
        "-f",
        metavar="FILE",
        help="Read the text from FILE, or - for standard input.",
    ),
]
Fields = Annotated[
    list[str] | None,
    Option(
        "--set",
        metavar="NAME=TEXT",
        help=f"Set a field: {', '.join(name for name in _FIELDS if name != 'description')}. Repeatable.",
    ),
]
Links = Annotated[
    list[str] | None,
    Option(
        "--link",
        metavar="KIND=ID",
        help=f"Link to another decision: {', '.join(_LINKS)}. Repeatable.",
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Typed:
    """A decision as it was typed; a field that was not typed is not there.

    Args:
        description: The text.
        words: The arguments of `Deliberation.record_decision`, without the text and the frame.
        frame: What the agent was doing.
    """

    description: str | None
    words: Mapping[str, Any]
    frame: str | None


def typed_text(argument: str | None, file: Path | None, what: str) -> str:
    """Returns a text: the argument, ``-`` for standard input, or that of a file.

    Raises:
        ConfigError: There is none, or there are two.
        TranscriptError: It cannot be read, or it is not UTF-8.
    """
    if (argument is None) == (file is None):
        raise ConfigError(f"pass one {what}: as an argument, as - for standard input, or with --file FILE")
    if argument is not None and argument != STDIN:
        return _utf8(argument.encode(errors="surrogateescape"), f"the {what}")
    source = STDIN if file is None or str(file) == STDIN else file
    name = "<stdin>" if source == STDIN else str(file)
    return _utf8(read_bytes(source, _LONGEST), name).rstrip("\r\n")


def typed_decision(
    text: str | None,
    file: Path | None = None,
    pairs: Sequence[str] | None = None,
    *,
    needs_text: bool = True,
    **options: object,
) -> Typed:
    """Reads a decision as it was typed.

    Args:
        text: The argument.
        file: A text, a text below front matter, or JSON with the names of the fields as keys.
        pairs: ``NAME=TEXT`` each; of a list, one item.
        needs_text: Whether there must be a text.
        **options: Values of options, by the names of their fields; they stand over the file.

    Raises:
        ConfigError: A field is unknown, or cannot have this value; or there is no text, or there are two.
        TranscriptError: The file cannot be read, or is not UTF-8.
    """
    table = {} if file is None else _table(typed_text(None, file, "description"), file)
    if text is not None:
        if "description" in table:
            raise ConfigError("the file and the command both have a description; pass only one")
        table["description"] = typed_text(text, None, "description")
    for pair in pairs or ():
        _state(table, *_parted(pair))
    table.update({name: value for name, value in options.items() if value is not None})
    for name in table:
        if name not in _FIELDS:
            raise ConfigError(f"{name}: no field of a decision; {offer(name, _FIELDS)}")
    if needs_text and "description" not in table:
        raise ConfigError(
            "pass one description: as an argument, as - for standard input, or with --file FILE"
        )
    return _typed(table)


def typed_links(texts: Sequence[str] | None) -> tuple[Link, ...]:
    """Returns links as written on the command line: ``depends_on=ID``, where the id may be shortened.

    Raises:
        ConfigError: One is written in another way.
    """
    links = []
    for text in texts or ():
        kind, _, beginning = text.partition("=")
        name = kind.strip().lower().replace("-", "_")
        if name not in _LINKS or not beginning.strip():
            raise ConfigError(f"--link {text!r:.60}: expected KIND=ID, where KIND is {', '.join(_LINKS)}")
        links.append(Link(relation=Relation(name), to=beginning.strip()))
    return tuple(links)


def _table(content: str, file: Path) -> dict[str, Any]:
    if content.lstrip().startswith("{"):
        try:
            return dict(json.loads(content))
        except (ValueError, RecursionError) as error:
            raise ConfigError(f"{file}: not JSON: {error}") from error
    values, text = split_front_matter(content)
    return {**values, "description": text.strip("\n")} if text.strip() else values


def _parted(pair: str) -> tuple[str, str]:
    name, equals, text = pair.partition("=")
    if not equals or not text.strip():
        raise ConfigError(f"--set {pair!r:.60}: expected NAME=TEXT")
    return name.strip().replace("-", "_"), text


def _state(table: dict[str, Any], name: str, text: str) -> None:
    """Adds a field that was typed as a text; of a list, an item."""
    hint = _FIELDS.get(name)
    if get_origin(hint) is tuple:
        table[name] = [*table.get(name, ()), text]
    elif float in get_args(hint) and name != "review_by":
        try:
            table[name] = float(text)
        except ValueError:
            raise ConfigError(f"{name} = {text!r:.60}: expected a number") from None
    else:
        table[name] = text


def _typed(table: Mapping[str, Any]) -> Typed:
    """The fields of a table, each read as its type has it."""
    weighed = [each if isinstance(each, Mapping) else {"title": each} for each in _list(table, "options")]
    of_candidate = {name: value for name, value in table.items() if name in _OF_CANDIDATE}
    of_candidate |= {
        "description": table.get("description", ""),
        "options": [each.get("title") for each in weighed],
        "reasons": [_reason(each) for each in _list(table, "reasons")],
    }
    candidate = from_wire(Candidate, of_candidate)
    of_record = {name: value for name, value in table.items() if name in _OF_RECORD}
    of_record["options"] = [each for each in weighed if len(each) > 1]
    particulars = from_wire(Particulars, of_record)
    for name in ("context", "choice", "consequences", "deciders"):
        value = getattr(particulars, name)
        if any(not text.strip() for text in ((value,) if isinstance(value, str) else value or ())):
            raise ConfigError(f"{name}: expected a text")
    words = {name: getattr(candidate, name) for name in _OF_CANDIDATE if name in table}
    words |= {name: table[name] for name in _OF_DECISION if name in table}
    if isinstance(words.get("review_by"), str):
        words["review_by"] = moment_of(words["review_by"], "--review-by")
    if particulars != Particulars():
        words["particulars"] = particulars
    return Typed(description=words.pop("description", None), frame=words.pop("frame", None), words=words)


def _list(table: Mapping[str, Any], name: str) -> Sequence[Any]:
    value = table.get(name, ())
    if not isinstance(value, list | tuple):
        raise ConfigError(f"{name} = {value!r:.60}: expected a list")
    return value


def _reason(value: object) -> object:
    """A reason with its kind: ``analysis: it is faster``, or without one."""
    if not isinstance(value, str):
        return value
    kind, colon, rest = value.partition(":")
    if colon and kind.strip().lower() in tuple(ReasonKind) and rest.strip():
        return {"text": rest.strip(), "kind": kind.strip().lower()}
    return {"text": value}


def _utf8(data: bytes, source: str) -> str:
    try:
        return data.removeprefix(b"\xef\xbb\xbf").decode()
    except UnicodeDecodeError as error:
        byte = data[error.start]
        raise TranscriptError(
            f"not UTF-8: 0x{byte:02x} at byte {error.start}", source=source, hint="Save it as UTF-8."
        ) from error
