"""Sends alerts beside everything else: the runs wait for none of it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Final, NamedTuple
from urllib.parse import quote

from ebbtide.errors import StoreError
from ebbtide.profile.loop_kinds import RULES, LoopKind
from ebbtide.service.alerts.alert import Alert, levels_of, shortened
from ebbtide.service.alerts.alert_book import AlertBook, WaitingAlert
from ebbtide.service.alerts.alert_settings import AlertLevel, AlertSettings
from ebbtide.service.alerts.channels import AlertError, Channel, channels_of
from ebbtide.service.runs.listing import find_run
from ebbtide.service.runs.live_runs import LiveRuns
from ebbtide.service.runs.moments import rough_time
from ebbtide.service.runs.now import now_answer
from ebbtide.supervision.ladder import Action
from ebbtide.supervision.summary.headline import live_word
from ebbtide.supervision.summary.run_summary import RunSummary
from ebbtide.supervision.verdict import Verdict
from ebbtide.text.redaction import redacted

_log = logging.getLogger(__name__)
_MOST_WAITING: Final = 1000  # verdicts that nobody has looked at yet
_TRIES: Final = 6
_FIRST_REST_S: Final = 1.0  # before the second try; four times as long before each further one
_LOOK_S: Final = 1.0  # between two looks at what is due
_SCAN_S: Final = 20.0  # between two looks for silent runs


class _News(NamedTuple):
    run_id: str
    level: AlertLevel
    reason: str
    kind: str | None
    words: str | None


class AlertSender:
    """Tells people of runs, once a run and level.

    Args:
        silent_after_s: Seconds without an event after which a run is silent.
        redact: Whether keys and passwords are masked.

    Attributes:
        deliveries: Alerts that were delivered, by channel.
        failures: Tries that failed, by channel; ``lost`` for what could not even be kept.
    """

    def __init__(
        self,
        runs: LiveRuns,
        settings: AlertSettings,
        *,
        page: str,
        silent_after_s: float = 600.0,
        redact: bool = True,
    ) -> None:
        self._runs = runs
        self._settings = settings
        self._page = (settings.page or page).rstrip("/")
        self._silent_after_s = silent_after_s
        self._redact = redact
        self._book = AlertBook(runs.database)
        self._inbox: asyncio.Queue[_News] = asyncio.Queue(_MOST_WAITING)
        self._news = asyncio.Event()
        self._channels = channels_of(settings)
        names = [channel.name for channel in self._channels]
        self.deliveries = Counter(dict.fromkeys(names, 0))
        self.failures = Counter(dict.fromkeys(names, 0))

    def waiting(self) -> int:
        """Alerts that are still to be sent."""
        return self._book.waiting()

    async def run(self) -> None:
        """Tell people until cancelled, first of what an earlier process has left."""
        if not self._channels or not self._settings.on:
            return
        loop = asyncio.get_running_loop()

        def on_verdict(run_id: str, verdict: Verdict) -> None:
            level = next((level for level in levels_of(verdict) if level in self._settings.on), None)
            if level is not None:
                words = live_word(verdict.action, verdict.kind).value
                news = _News(run_id, level, verdict.explanation, verdict.kind, words)
                loop.call_soon_threadsafe(self._receive, news)

        def on_outcome(run_id: str, outcome: RunSummary) -> None:
            if AlertLevel.END in self._settings.on:
                news = _News(run_id, AlertLevel.END, outcome.reason, None, outcome.words)
                loop.call_soon_threadsafe(self._receive, news)

        self._runs.on_verdict.append(on_verdict)
        self._runs.on_outcome.append(on_outcome)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._take_news())
            if AlertLevel.SILENT in self._settings.on:
                tasks.create_task(self._watch_silence())
            if AlertLevel.ESCALATE in self._settings.on:
                tasks.create_task(self._watch_wake_ups())
            for channel in self._channels:
                tasks.create_task(self._send_all(channel))

    def _receive(self, news: _News) -> None:
        try:
            self._inbox.put_nowait(news)
        except asyncio.QueueFull:
            self.failures["lost"] += 1

    async def _take_news(self) -> None:
        while True:
            await self._enter(await self._inbox.get())

    async def _watch_silence(self) -> None:
        while True:
            now = time.time()
            ask = partial(now_answer, self._runs.database, now, silent_after_s=self._silent_after_s)
            try:
                runs = (await asyncio.to_thread(ask))["silent"]
            except StoreError as error:
                runs = []
                _log.error("silent runs were not looked for: %s", error)
            for run in runs:
                reason = f"Nothing was heard for {rough_time(now - run['latest'])}."
                await self._enter(_News(run["run_id"], AlertLevel.SILENT, reason, None, None))
            await asyncio.sleep(min(_SCAN_S, self._silent_after_s / 2))

    async def _watch_wake_ups(self) -> None:
        while True:
            for run_id in self._runs.missed_wake_ups(time.time()):
                kind = LoopKind.MISSED_WAKE_UP
                words = live_word(Action.ESCALATE, kind).value
                await self._enter(_News(run_id, AlertLevel.ESCALATE, RULES[kind], kind, words))
            await asyncio.sleep(_LOOK_S)

    async def _enter(self, news: _News) -> None:
        try:
            is_new = await asyncio.to_thread(self._keep, news)
        except Exception as error:  # noqa: BLE001 - the next one has its chance
            self.failures["lost"] += 1
            _log.error("an alert was not kept: %s", error)
            return
        if is_new:
            self._news.set()

    def _keep(self, news: _News) -> bool:
        row = find_run(self._runs.database, news.run_id) or {}
        alert = Alert(
            level=news.level,
            run_id=news.run_id,
            reason=shortened(news.reason),
            kind=news.kind,
            agent=row.get("agent"),
            project=row.get("project"),
            cost_usd=row.get("cost_usd"),
            words=news.words,
            at=time.time(),
            link=f"{self._page}/runs/{quote(news.run_id, safe='')}",
        )
        visible = redacted(alert) if self._redact else alert
        return self._book.enter(alert, [(channel.name, channel.form(visible)) for channel in self._channels])

    async def _send_all(self, channel: Channel) -> None:
        while True:
            try:
                for item in await asyncio.to_thread(self._book.due, channel.name, time.time()):
                    await self._send(channel, item)
            except StoreError as error:
                _log.error("alerts cannot be read: %s", error)
            self._news.clear()
            try:
                async with asyncio.timeout(_LOOK_S):
                    await self._news.wait()
            except TimeoutError:
                pass

    async def _send(self, channel: Channel, item: WaitingAlert) -> None:
        error = await _apart(partial(channel.send, item.body))
        if error is None:
            await asyncio.to_thread(self._book.settle, item.number, "sent")
            self.deliveries[channel.name] += 1
            return
        self.failures[channel.name] += 1
        _log.warning("alert %d, try %d: %s", item.number, item.tries + 1, error)
        is_over = item.tries + 1 >= _TRIES or (isinstance(error, AlertError) and error.is_final)
        due = time.time() + _FIRST_REST_S * 4**item.tries
        await asyncio.to_thread(self._book.settle, item.number, "failed" if is_over else "waiting", due=due)


async def _apart(deliver: Callable[[], None]) -> Exception | None:
    """Runs a delivery and returns its error, in a thread of its own, which holds up no end of the service."""
    loop = asyncio.get_running_loop()
    outcome: asyncio.Future[Exception | None] = loop.create_future()

    def finish(error: Exception | None) -> None:
        if not outcome.done():
            outcome.set_result(error)

    def work() -> None:
        error: Exception | None = None
        try:
            deliver()
        except Exception as problem:  # noqa: BLE001 - counted, and logged
            error = problem
        with contextlib.suppress(RuntimeError):  # the service has ended meanwhile
            loop.call_soon_threadsafe(finish, error)

    threading.Thread(target=work, name="ebbtide-alert", daemon=True).start()
    return await outcome
