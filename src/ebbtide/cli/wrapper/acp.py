"""`ebbtide acp -- AGENT`: stands between an editor and an agent of the Agent Client Protocol, and judges."""

from __future__ import annotations

import subprocess
from contextlib import suppress
from typing import Annotated

import click

from ebbtide.cli.declaration import STOP, Argument, Command, Option
from ebbtide.cli.result import Exit
from ebbtide.cli.runs.options import with_agent_options
from ebbtide.cli.terminal import warn
from ebbtide.cli.wrapper.acp_relay import AcpRelay, AcpWatchJob
from ebbtide.cli.wrapper.agent_command import refuse_command
from ebbtide.cli.wrapper.watcher_process import UNWATCHED, MessageKind, WatcherMessage, WatcherProcess
from ebbtide.supervision.run_options import RunOptions


@click.command(
    cls=Command,
    exits={
        Exit.DONE: "AGENT ended with 0; any other code of AGENT is passed on (a signal: 128 + its number)"
    },
)
@with_agent_options
def acp(
    options: RunOptions,
    command: Annotated[list[str], Argument(metavar="AGENT...", help="Command line of the agent.")],
    stop: Annotated[bool, Option("--stop", help=STOP)] = False,
) -> None:
    """Relay between an editor and an agent (ACP).

    The agent speaks the Agent Client Protocol, and every line passes through. A note about a loop goes to the
    agent with the next prompt. With --stop the turn is cancelled, and the editor shows why. The last lines on
    standard error report how each session went.
    """
    refuse_command(command, "ebbtide acp -- opencode acp", "POSIX pipes and signals")
    from ebbtide.cli.wrapper.agent_process import AgentProcess  # needs terminals

    relay = AcpRelay(_tell)
    watch = _AcpWatch(relay, AcpWatchJob(options=options, stops=stop))
    agent = AgentProcess(command, watch.output, watch.hear, relay.agent_pipes)
    relay.start()
    try:
        code = agent.run()
    finally:
        watch.finish()
    for line in watch.report:
        _tell(line)
    raise SystemExit(code)


acp.allow_interspersed_args = False  # what follows the agent's name is the agent's


class _AcpWatch:
    """The process that judges, and what it has reported."""

    def __init__(self, relay: AcpRelay, job: AcpWatchJob) -> None:
        self.report: list[str] = []
        self._relay = relay
        self._process: WatcherProcess | None = None
        self.output: int | None = None
        try:
            self._process = WatcherProcess("ebbtide.cli.wrapper.acp_watcher", subprocess.PIPE, self._take)
        except OSError as error:
            _tell(f"the agent is not watched, and nothing ends it: {error.strerror or error}")
            return
        self.output = self._process.output
        if self._process.input is not None:
            relay.watch(job, self._process.input)

    def hear(self, data: bytes) -> None:
        """Takes what the process writes; empty where it has ended."""
        if self._process is not None:
            self._process.hear(data)
        if not data:
            self._relay.lose_watcher()

    def finish(self) -> None:
        """Passes the last bytes on, lets the process report, and waits for it."""
        is_whole = self._relay.finish()
        if self._process is None:
            return
        if not is_whole:
            self._process.kill()
        self._process.finish()
        self.report = self.report if is_whole and self.report else [UNWATCHED]

    def _take(self, message: WatcherMessage) -> None:
        if message.kind is MessageKind.REPORT:
            self.report.append(message.text)
        elif message.kind is MessageKind.FAULT:
            _tell(message.text)
        else:
            self._relay.take(message)


def _tell(text: str) -> None:
    """Writes a line to standard error, which the editor may have closed."""
    with suppress(OSError, ValueError):
        warn(text)
