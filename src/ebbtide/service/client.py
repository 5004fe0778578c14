"""Client of the service, with the verbs of its registry; it needs no other package."""

from __future__ import annotations

import hmac
import http.client
import json
import secrets
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final, Self
from urllib.parse import quote, urlencode, urlsplit

from ebbtide.errors import ConfigError, expect
from ebbtide.events.event import Event
from ebbtide.events.event_json import event_wire
from ebbtide.service.background_runs import BackgroundRuns
from ebbtide.service.service_error import ServiceError
from ebbtide.supervision.ladder import Cause
from ebbtide.supervision.runs.advice import Advice
from ebbtide.supervision.runs.run_store import RunStanding
from ebbtide.supervision.verdict import Verdict

_REST_S: Final = 0.25  # before the second try; twice as long before the third
_LONGEST_REST_S: Final = 5.0
_LAST_S: Final = 1.0  # that closing waits for what adapters have recorded


class ServiceClient:
    """Asks a service, over one connection that stays open. It may be used from several threads.

    An adapter takes it for its registry, as ``watch(client, runs=ServiceClient())``: its runs show on the
    page of the service, and Stop ends them. Adapters ask `in_background`, so that no call of theirs waits for
    more than 50 ms; every other caller waits for the answer, and the verbs raise where none comes.

    A request that nothing came of is sent again, up to `tries` times in all: events only where each has a
    `seq`, so that it counts once.

    Args:
        url: Where the service is.
        token: What it wants to know; None where it asks nobody.
        timeout_s: Seconds to wait for an answer.
        tries: Number of times that a request is sent at most.
        project: The project of the runs; None where nobody says.
        agent: The agent that works, likewise.
        user: For whom it works, likewise.
        shadow: True if nothing is said to the model, and only a person ends a run.

    Raises:
        ConfigError: The URL is none of a service.

    Example:
        service = ServiceClient()
        service.record("invoice-7", ToolCall(name="search", args={"q": "7"}, result="none", seq=1))
        turn = service.before_model("invoice-7")
        if turn.refusal is not None: ...
    """

    def __init__(
        self,
        url: str = "http://127.0.0.1:8620",
        *,
        token: str | None = None,
        timeout_s: float = 10.0,
        tries: int = 4,
        project: str | None = None,
        agent: str | None = None,
        user: str | None = None,
        shadow: bool = False,
    ) -> None:
        expect("url", url, str)
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ConfigError(f"url = {url!r:.80}: expected http://HOST:PORT")
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self._connection = kind(parts.hostname, parts.port, timeout=timeout_s)
        self._tries = tries
        self._new_client = partial(
            ServiceClient,
            url,
            token=token,
            timeout_s=timeout_s,
            tries=1,
            project=project,
            agent=agent,
            user=user,
            shadow=shadow,
        )
        self._background: BackgroundRuns | None = None
        self._base = parts.path.rstrip("/")
        self._token = token
        self._proven: object = None  # the socket behind which the service is
        self._headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        self._lock = threading.Lock()
        self._project = project
        self._agent = agent
        self._user = user
        self._shadow = shadow

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def in_background(self) -> BackgroundRuns:
        """Returns its registry for adapters: the same one each time, over a connection of its own."""
        with self._lock:
            if self._background is None:
                self._background = BackgroundRuns(self._new_client())
            return self._background

    def close(self) -> None:
        """Closes the connection; the next request opens it again."""
        if self._background is not None:
            self._background.close(_LAST_S)
        with self._lock:
            self._connection.close()

    def record(self, run_id: str, event: Event) -> Verdict:
        """Adds an event to a run; returns what holds then.

        Raises:
            ServiceError: It was not taken.
        """
        return self.add(run_id, [event])

    def add(
        self,
        run_id: str,
        events: Iterable[Event],
        *,
        project: str | None = None,
        agent: str | None = None,
        user: str | None = None,
    ) -> Verdict:
        """Adds events to a run; returns what holds then.

        When this comes back, they are on the disk of the service. Its project, agent and user are those that
        were named last, here or to the client.

        Raises:
            ServiceError: They were not taken.
        """
        wires = [event_wire(event) for event in events]
        body = "\n".join(json.dumps(wire, default=str) for wire in wires).encode()
        path = _path(
            run_id,
            "events",
            project=project or self._project,
            agent=agent or self._agent,
            user=user or self._user,
        )
        return self._verdict("POST", path, body, is_safe=all("seq" in wire for wire in wires))

    def before_model(
        self, run_id: str, *, agent: str | None = None, project: str | None = None, user: str | None = None
    ) -> Advice:
        """Returns what to do before the next call of the model of a run, as `Runs.before_model` does.

        Args:
            agent: Whose model is called, where several work at once.
            project: Whose budget pays, where the events of the run have not said so yet; None takes that of
                the client.
            user: Likewise.
        """
        path = _path(run_id, "check", agent=agent, project=project or self._project, user=user or self._user)
        advice = Advice(self._verdict("POST", path))
        is_heeded = not self._shadow or advice.verdict.cause is Cause.PERSON
        return advice if is_heeded else Advice(Verdict())

    def end(self, run_id: str) -> RunStanding:
        """Ends a run; returns what it has come to."""
        return RunStanding.from_dict(self._json("POST", _path(run_id, "end")))

    def standing(self) -> list[RunStanding]:
        """Returns how every run of the service stands, the most urgent first."""
        standings = map(RunStanding.from_dict, self.runs())
        return sorted(standings, key=lambda standing: standing.urgency, reverse=True)

    def acknowledge(self, run_id: str, *, agent: str | None = None, by: str | None = None) -> Verdict:
        """Lets a run go on for a person; returns what holds then."""
        return self._verdict("POST", _path(run_id, "acknowledge", agent=agent, by=by))

    def extend(self, run_id: str, turns: int, *, by: str | None = None) -> Verdict:
        """Lets a run go on for some turns for a person; returns what holds then."""
        return self._verdict("POST", _path(run_id, "extend", by=by), {"turns": turns})

    def stop(self, run_id: str, reason: str = "", *, by: str | None = None) -> Verdict:
        """Ends a run for a person: its next check says so."""
        return self._verdict("POST", _path(run_id, "stop", by=by), {"reason": reason})

    def delete(self, run_id: str) -> None:
        """Deletes a run with all its events."""
        self._ask("DELETE", _path(run_id))

    def verdict(self, run_id: str) -> Verdict:
        """Returns what holds for a run; it counts as no check, and hands over no note."""
        return self._verdict("GET", _path(run_id, "verdict"))

    def now(self) -> dict[str, Any]:
        """Returns what is stuck now: ``sentence`` in words, ``stuck`` and ``silent`` run by run."""
        return self._json("GET", "/v1/now")

    def run(self, run_id: str) -> dict[str, Any]:
        """Returns one run, as a row of `runs`."""
        return self._json("GET", _path(run_id))

    def summary(self, run_id: str) -> dict[str, Any]:
        """Returns what a run came to so far, as `ebbtide check --json` does."""
        return self._json("GET", _path(run_id, "summary"))

    def claims(self, run_id: str, text: str) -> dict[str, Any]:
        """Returns whether a report is true before it is said: ``line``, ``correct``, and ``claims`` each."""
        return self._json("POST", _path(run_id, "claims"), {"text": text})

    def runs(self, **filters: str | int) -> Iterator[dict[str, Any]]:
        """Yields all runs that the filters let through: ``standing``, ``since``, ``agent``, ``order``..."""
        cursor: dict[str, str] = {}
        while True:
            page = self._json("GET", f"/v1/runs?{urlencode({**filters, **cursor})}")
            yield from page["runs"]
            if page["next_cursor"] is None:
                return
            cursor = {"cursor": page["next_cursor"]}

    def spending(
        self, by: str = "day", *, since: str | None = None, timezone: str | None = None
    ) -> list[dict[str, Any]]:
        """Returns the spending by ``day`` (in a zone), ``project``, ``agent``, ``user`` or ``model``."""
        wanted = {"by": by, "since": since, "timezone": timezone}
        query = urlencode({key: value for key, value in wanted.items() if value is not None})
        groups: list[dict[str, Any]] = self._json("GET", f"/v1/spending?{query}")["groups"]
        return groups

    def budgets(self) -> list[dict[str, Any]]:
        """Returns how the budgets of the service stand; empty where none are set."""
        budgets: list[dict[str, Any]] = self._json("GET", "/v1/budgets")["budgets"]
        return budgets

    def check_trace(self, trace: Path | bytes) -> dict[str, Any]:
        """Returns what a recorded run came to, as `ebbtide check --json` does: a file, or what is in it."""
        return self._json("POST", "/v1/check", trace if isinstance(trace, bytes) else trace.read_bytes())

    def is_up(self) -> bool:
        """Returns True if a service answers there; asked once."""
        try:
            with self._lock:
                self._connection.request("GET", f"{self._base}/healthz")
                answer = self._connection.getresponse()
                health = json.loads(answer.read())
        except (OSError, http.client.HTTPException, ValueError):
            self.close()
            return False
        return isinstance(health, dict) and health.get("status") == "ok"

    def _prove(self) -> None:
        """Sends a token only to a service that knows it: anybody may listen on a port.

        Raises:
            ServiceError: Somebody else does.
        """
        connection = self._connection
        if self._token is None or (connection.sock is not None and self._proven is connection.sock):
            return
        nonce = secrets.token_hex(16)
        connection.request("GET", f"{self._base}/healthz?nonce={nonce}")
        content = connection.getresponse().read()
        try:
            proof = json.loads(content).get("proof")
        except (ValueError, AttributeError):
            proof = None
        if not isinstance(proof, str) or not hmac.compare_digest(
            proof.encode("utf-8", "replace"), token_proof(self._token, nonce).encode()
        ):
            connection.close()
            where = f"{connection.host}:{connection.port}"
            raise ServiceError(f"{where}: what answers there does not know the token, so it is not sent", 401)
        self._proven = connection.sock

    def _verdict(
        self, method: str, path: str, body: bytes | Mapping[str, Any] = b"", *, is_safe: bool = True
    ) -> Verdict:
        return Verdict.from_dict(self._json(method, path, body, is_safe=is_safe)["verdict"])

    def _json(
        self, method: str, path: str, body: bytes | Mapping[str, Any] = b"", *, is_safe: bool = True
    ) -> dict[str, Any]:
        content = self._ask(method, path, body, is_safe=is_safe)
        try:
            value: dict[str, Any] = json.loads(content)
        except ValueError as error:
            raise ServiceError(f"{method} {path}: the response is not JSON; is this the service?") from error
        return value

    def _ask(
        self, method: str, path: str, body: bytes | Mapping[str, Any] = b"", *, is_safe: bool = True
    ) -> bytes:
        """Returns the body of the answer; a request that nothing came of is sent again."""
        headers = self._headers
        if not isinstance(body, bytes):
            body, headers = json.dumps(body).encode(), {**headers, "Content-Type": "application/json"}
        for number in range(1, self._tries + 1):
            status, content, rest_s = None, b"", _REST_S * 2 ** (number - 1)
            try:
                with self._lock:
                    self._prove()
                    self._connection.request(method, self._base + path, body, headers)
                    answer = self._connection.getresponse()
                    status, content = answer.status, answer.read()
                    rest_s = max(rest_s, float(answer.headers.get("Retry-After") or 0))
                if status < http.HTTPStatus.BAD_REQUEST:
                    return content
                error = ServiceError(f"{method} {path}: {status} {_detail(content)}", status)
            except (OSError, http.client.HTTPException) as cause:
                self.close()
                error = ServiceError(f"{method} {path}: {type(cause).__name__}: {cause}")
            # Without an answer nobody knows whether it was taken.
            may_repeat = error.may_repeat or (status is None and is_safe)
            if not may_repeat or number == self._tries:
                raise error
            time.sleep(min(rest_s, _LONGEST_REST_S))
        raise AssertionError  # pragma: no cover - the last try raises or returns


def token_proof(token: str, nonce: str) -> str:
    """Returns what only somebody who knows the token can answer to a nonce."""
    return hmac.new(token.encode(), f"ebbtide service {nonce}".encode(), "sha256").hexdigest()


def _path(run_id: str, verb: str = "", **query: str | None) -> str:
    known_values = {name: value for name, value in query.items() if value is not None}
    path = f"/v1/runs/{quote(run_id, safe='')}{'/' if verb else ''}{verb}"
    return f"{path}?{urlencode(known_values)}" if known_values else path


def _detail(content: bytes) -> str:
    """Returns the words of a problem."""
    try:
        problem = json.loads(content)
        parts = [problem.get(name) for name in ("where", "detail", "hint")]
    except (ValueError, AttributeError):
        return content[:200].decode("utf-8", "replace")
    return ": ".join(part for part in parts if part)
