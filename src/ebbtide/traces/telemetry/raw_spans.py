"""Spans and log records in whatever exporters wrap them, before anybody knows what they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ebbtide.traces.records.fields import items, mapping, seconds, text
from ebbtide.traces.telemetry import genai_names as names
from ebbtide.traces.telemetry.span_attributes import NOBODY, RawSpan, SpanWriter, flattened

_DEEPEST = 32  # values in each other
_WRAPPINGS = 12  # lists and objects around a span
_CONTEXTS = ("context", "spanContext", "_spanContext")
_STARTS = (
    "startTimeUnixNano",
    "start_time_unix_nano",
    "startTime",
    "start_time",
    "timestamp",
    "start_timestamp",
)
_ENDS = ("endTimeUnixNano", "end_time_unix_nano", "endTime", "end_time", "end_timestamp")


@dataclass(frozen=True, slots=True, kw_only=True)
class RawLog:
    """An event of the GenAI conventions that was logged, not kept in its span.

    Args:
        name: Its name.
        fields: Its attributes, and what its body holds.
        trace: The trace that it belongs to.
        span: The span.
        at: Seconds.
    """

    name: str
    fields: Mapping[str, Any]
    trace: str
    span: str
    at: float | None


def raw_spans(value: Any, depth: int = 0, writer: SpanWriter = NOBODY) -> Iterator[RawSpan]:
    """The spans in a record; a table may be written by rows, or by columns with a key for every row.

    Args:
        value: The record.
        depth: How many lists and objects are around it.
        writer: Who wrote the spans, where what is around them says so.
    """
    if isinstance(value, list) and depth < _WRAPPINGS:
        for item in value:
            yield from raw_spans(item, depth + 1, writer)
        return
    if not isinstance(value, dict):
        return
    writer = SpanWriter(scope_name(value) or writer.scope, _service_of(value) or writer.service)
    for group in (*names.GROUPS, *names.SCOPES, "spans", "data"):
        if isinstance(value.get(group), list) and depth < _WRAPPINGS:
            yield from raw_spans(value[group], depth + 1, writer)
            return
    if isinstance(value.get("trace"), dict) and "resourceSpans" in value["trace"]:
        yield from raw_spans(value["trace"], depth + 1, writer)
        return
    columns = value.get("context.span_id")
    if isinstance(columns, dict):
        for row in columns:
            yield from raw_spans({name: mapping(column).get(row) for name, column in value.items()})
        return
    raw = _raw_span(value, writer)
    if raw is not None:
        yield raw


def raw_logs(value: Any, depth: int = 0) -> Iterator[RawLog]:
    """The logged GenAI events in a record."""
    if isinstance(value, list) and depth < _WRAPPINGS:
        for item in value:
            yield from raw_logs(item, depth + 1)
        return
    if not isinstance(value, dict):
        return
    for group in (*names.LOG_GROUPS, *names.LOG_SCOPES, *names.LOG_RECORDS):
        if isinstance(value.get(group), list):
            yield from raw_logs(value[group], depth + 1)
            return
    log = raw_log(
        name=_either(value, "eventName", "event_name"),
        attributes=plain_attributes(value.get("attributes")),
        body=plain_value(value.get("body")),
        trace=_id(_either(value, "traceId", "trace_id")),
        span=_id(_either(value, "spanId", "span_id")),
        at=_time(_either(value, "timeUnixNano", "time_unix_nano", "observedTimeUnixNano", "timestamp")),
    )
    if log is not None:
        yield log


def raw_log(
    *,
    name: object,
    attributes: Mapping[str, Any],
    body: object,
    trace: str | None,
    span: str | None,
    at: float | None,
) -> RawLog | None:
    """A log record that is an event of the GenAI conventions, and belongs to a span; None for any other."""
    name = name or attributes.get("event.name")
    if not (isinstance(name, str) and name.startswith("gen_ai.") and trace and span):
        return None
    fields = {**attributes, **(body if isinstance(body, dict) else {"content": body} if body else {})}
    return RawLog(name=name, fields=fields, trace=trace, span=span, at=at)


def plain_value(value: Any, depth: int = 0) -> Any:
    """Returns the value that an attribute's value stands for; OTLP writes its type beside it."""
    if isinstance(value, str):
        return value
    if depth > _DEEPEST:
        return None
    if isinstance(value, list):
        return [plain_value(item, depth + 1) for item in value]
    if not isinstance(value, dict) or len(value) != 1:
        return value
    ((kind, inner),) = value.items()
    if kind in (
        "stringValue",
        "boolValue",
        "doubleValue",
        "bytesValue",
        "string_value",
        "bool_value",
        "double_value",
    ):
        return inner
    if kind in ("intValue", "int_value"):
        return (
            int(inner)
            if isinstance(inner, str) and len(inner) < 30 and inner.removeprefix("-").isdecimal()
            else inner
        )
    if kind in ("arrayValue", "array_value"):
        return [plain_value(item, depth + 1) for item in items(mapping(inner).get("values"))]
    if kind in ("kvlistValue", "kvlist_value"):
        return plain_attributes(items(mapping(inner).get("values")), depth + 1)
    return value


def plain_attributes(value: Any, depth: int = 0) -> dict[str, Any]:
    """Attributes by name: of a list of keys and values, or of an object."""
    if isinstance(value, dict):
        return {key: plain_value(item, depth) for key, item in value.items()}
    plain: dict[str, Any] = {}
    for item in items(value):
        entry = mapping(item)
        if isinstance(entry.get("key"), str):
            plain[entry["key"]] = plain_value(entry.get("value"), depth)
    return plain


def _plainly_named(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """A span that Go's console exporter wrote: names of its own, and types beside the values."""
    context, parent, status = (mapping(value.get(key)) for key in ("SpanContext", "Parent", "Status"))
    return {
        "name": value.get("Name"),
        "traceId": context.get("TraceID"),
        "spanId": context.get("SpanID"),
        "parentSpanId": parent.get("SpanID"),
        "startTime": value.get("StartTime"),
        "endTime": value.get("EndTime"),
        "attributes": _plainly_keyed(value.get("Attributes")),
        "status": {"code": status.get("Code"), "message": status.get("Description")},
        "events": [
            {
                "name": mapping(event).get("Name"),
                "attributes": _plainly_keyed(mapping(event).get("Attributes")),
            }
            for event in items(value.get("Events"))
        ],
    }


def _plainly_keyed(attributes: object) -> dict[str, Any]:
    entries = [mapping(item) for item in items(attributes)]
    return {
        item["Key"]: mapping(item.get("Value")).get("Value")
        for item in entries
        if isinstance(item.get("Key"), str)
    }


def _raw_span(value: Mapping[str, Any], writer: SpanWriter) -> RawSpan | None:
    if isinstance(value.get("SpanContext"), dict):
        value = _plainly_named(value)
    attributes = value.get("attributes", value.get("tags"))
    if not isinstance(attributes, dict | list):
        # A table's row keeps the attributes in columns.
        row = {key.removeprefix("attributes."): item for key, item in value.items()}
        if not any(key.startswith(names.PREFIXES) for key in row):
            return None
        attributes = row
    flat = flattened(plain_attributes(attributes))
    if isinstance(value.get("span_kind"), str):
        flat.setdefault("openinference.span.kind", value["span_kind"])
    context = next((inner for key in _CONTEXTS if (inner := mapping(value.get(key)))), {})
    start = _time(_either(value, *_STARTS))
    end = _time(_either(value, *_ENDS))
    microseconds = isinstance(value.get("duration"), int) and (
        "operationName" in value or "timestamp" in value
    )
    if end is None and start is not None and microseconds and abs(value["duration"]) < 1e18:
        end = start + value["duration"] / 1e6
    status = mapping(value.get("status"))
    code = _either(status, "code", "status_code", "statusCode")
    if code is None:
        code = _either(value, "status_code", "statusCode", "otel_status_code")
    return RawSpan(
        name=text(_either(value, "name", "operationName", "span_name")) or "",
        attributes=flat,
        events=_events(value),
        id=_id(
            _either(value, "spanId", "span_id", "spanID", "context.span_id")
            or _either(context, "span_id", "spanId")
            or value.get("id")
        ),
        trace=_id(
            _either(value, "traceId", "trace_id", "traceID", "context.trace_id")
            or _either(context, "trace_id", "traceId")
        )
        or "",
        parent=_id(_parent(value)),
        start=start,
        end=end,
        failed=code == 2
        or (isinstance(code, str) and code.rpartition("_")[2].rpartition(".")[2].upper() in ("ERROR", "2"))
        or flat.get("error") is True,
        message=text(_either(status, "message", "description")) or text(value.get("status_message")),
        writer=writer,
    )


def _service_of(value: Mapping[str, Any]) -> str | None:
    resource = value.get("resource")
    if not isinstance(resource, dict):
        return None
    return service_name(plain_attributes(resource.get("attributes")))


def _parent(value: Mapping[str, Any]) -> Any:
    parent = _either(value, "parentSpanId", "parent_span_id", "parentId", "parent_id")
    if parent is None:
        parent = mapping(value.get("parentSpanContext")).get("spanId")
    if parent is None:
        for reference in items(value.get("references")):
            if mapping(reference).get("refType") == "CHILD_OF":
                return mapping(reference).get("spanID")
    return parent


def _events(value: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    events: list[tuple[str, Mapping[str, Any]]] = []
    for event in items(value.get("events")):
        fields = mapping(event)
        if isinstance(fields.get("name"), str):
            events.append((fields["name"], plain_attributes(fields.get("attributes"))))
    return events


def _time(value: Any) -> float | None:
    """Seconds; JavaScript writes whole seconds and nanoseconds in a list."""
    if isinstance(value, list) and len(value) == 2 and all(type(part) is int for part in value):
        whole, rest = value
        return whole + rest / 1e9 if 0 <= whole < 1e11 and 0 <= rest < 1e10 else None
    return seconds(value)


def _id(value: Any) -> str | None:
    """The id as a text; None for that of no span, zeros in hexadecimal or base64."""
    if not isinstance(value, str):
        return None
    value = value.removeprefix("0x")
    return value if value.strip("0") and value.strip("A=") else None


def _either(value: Mapping[str, Any], *keys: str) -> Any:
    return next((value[key] for key in keys if value.get(key) is not None), None)


_SERVICE: Final = "service.name"
_NO_SERVICE: Final = "unknown_service"
_SCOPE: Final = ("scope", "instrumentationScope", "instrumentation_scope", "instrumentationLibrary")


def scope_name(value: Mapping[str, Any]) -> str | None:
    """The library that wrote what is in here, by the name of its instrumentation scope."""
    for key in _SCOPE:
        name = text(mapping(value.get(key)).get("name"))
        if name is not None:
            return name
    return None


def service_name(resource: Mapping[str, Any]) -> str | None:
    """The program that the attributes of a resource name; None where an SDK had to make a name up.

    Source: semantic conventions of OpenTelemetry, resource, ``service.name``.

    >>> service_name({"service.name": "billing"}), service_name({"service.name": "unknown_service:python"})
    ('billing', None)
    """
    name = text(resource.get(_SERVICE))
    return None if name is None or name.partition(":")[0] == _NO_SERVICE else name
