"""`ebbtide run -- CMD`: starts any command-line agent, watches the session that it writes, and may end it."""

from __future__ import annotations

import os
import pickle
import tempfile
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import click

from ebbtide.cli.declaration import STOP, Argument, Command, Option
from ebbtide.cli.result import Exit
from ebbtide.cli.runs.options import with_agent_options
from ebbtide.cli.terminal import plain, warn
from ebbtide.cli.wrapper.agent_command import refuse_command
from ebbtide.cli.wrapper.session_finder import SessionBaseline
from ebbtide.cli.wrapper.session_watcher import WatchJob
from ebbtide.cli.wrapper.watcher_process import UNWATCHED, MessageKind, WatcherMessage, WatcherProcess
from ebbtide.errors import ConfigError
from ebbtide.supervision.ladder import Action
from ebbtide.supervision.run_options import RunOptions

if TYPE_CHECKING:
    from ebbtide.cli.wrapper.agent_process import AgentProcess


@click.command(
    cls=Command,
    exits={
        Exit.DONE: "CMD ended with 0; any other code of CMD is passed on (a signal: 128 + its number)",
        Exit.ENDED: "--stop ended the run, or you ended it after --pause",
    },
)
@with_agent_options
def run(
    options: RunOptions,
    command: Annotated[list[str], Argument(metavar="CMD...", help="Command line of the agent.")],
    stop: Annotated[bool, Option("--stop", help=STOP)] = False,
    pause: Annotated[
        bool, Option("--pause", help="Pause a run that is stuck, and ask for a key to continue or end it.")
    ] = False,
) -> None:
    """Run a coding agent and watch its session.

    Keys, colours, signals, pipes and the exit code pass through. The title of the terminal shows the verdict
    and the cost so far. The last line reports how the run ended, what it cost, and where its session is.
    """
    refuse_command(command, "ebbtide run -- claude", "pseudo-terminals")
    if pause and stop:
        raise ConfigError("--pause and --stop cannot be combined")
    if pause and not (os.isatty(0) and os.isatty(1)):
        raise ConfigError(
            "--pause needs a terminal for standard input and output, where a key continues or ends the run. "
            "Use --stop here"
        )
    from ebbtide.cli.wrapper.agent_process import AgentProcess  # needs terminals

    watcher = _watcher(command, options)
    if watcher is None:
        raise SystemExit(AgentProcess(command).run())
    agent = AgentProcess(command, watcher.output, watcher.hear)
    watcher.agent, watcher.may_end, watcher.may_pause = agent, stop, pause
    try:
        code = agent.run()
    finally:
        watcher.finish()
    if watcher.ended is not None:
        if agent.was_ended:
            code, outcome = Exit.ENDED, "the run was ended"
        elif agent.was_paused:
            outcome = "the run was paused, and continued"
        else:
            outcome = "--pause would have paused it" if pause else "--stop would have ended it"
        warn(f"{outcome}: {watcher.ended}")
    for line in watcher.report or [UNWATCHED]:
        warn(line)
    raise SystemExit(code)


run.allow_interspersed_args = False  # what follows the agent's name is the agent's


def _watcher(command: Sequence[str], options: RunOptions) -> _Watcher | None:
    """Starts what watches; None where that cannot be, which is no reason for the agent not to run."""
    try:
        return _Watcher(SessionBaseline.of(command, os.environ), options)
    except OSError as error:
        warn(f"the agent is not watched, and nothing ends it: {error.strerror or error}")
        return None


class _Watcher:
    """The process that watches, and what it has reported.

    Args:
        start: The machine before the agent.
        options: By what the run is judged.

    Raises:
        OSError: The process cannot be started.
    """

    def __init__(self, start: SessionBaseline, options: RunOptions) -> None:
        self.agent: AgentProcess | None = None
        self.may_end = self.may_pause = False
        self.ended: str | None = None  #: why the run is to end; None where it may go on
        self.report: list[str] = []
        # In a file: a pipe holds 64 KB, and the agent would wait until the process reads.
        with tempfile.TemporaryFile() as job:
            alive, self._alive = os.pipe()
            try:
                pickle.dump(WatchJob(start=start, options=options, alive=alive), job)
                job.seek(0)
                self._process = WatcherProcess(
                    "ebbtide.cli.wrapper.session_watcher", job, self._take, (alive,)
                )
            except OSError:
                os.close(self._alive)
                raise
            finally:
                os.close(alive)
        self.output, self.hear = self._process.output, self._process.hear

    def finish(self) -> None:
        """Lets the process report, and waits for it."""
        os.close(self._alive)
        self._process.finish()

    def _take(self, message: WatcherMessage) -> None:
        agent = self.agent
        if agent is None:
            return
        match message.kind:
            case MessageKind.STANDING:
                agent.show(f"ebbtide: {plain(message.text)}")
            case MessageKind.VERDICT if message.action is Action.STOP:
                if self.ended is None or self.may_pause:
                    self.ended = message.text
                if self.may_end:
                    agent.end()
                elif self.may_pause:
                    agent.pause(f"ebbtide: paused (Enter or c continues, q ends): {plain(message.text)}")
            case MessageKind.VERDICT:
                agent.show(f"ebbtide: a person is needed: {plain(message.text)}")
            case MessageKind.REPORT | MessageKind.FAULT:
                self.report.append(message.text)
