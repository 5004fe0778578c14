"""An agent in a terminal of its own, or on the pipes of its caller: every byte and signal passes through."""

from __future__ import annotations

import fcntl
import os
import selectors
import signal
import termios
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Final

from ebbtide.cli.wrapper.job_leader import PYTHON_IGNORES, start_led
from ebbtide.cli.wrapper.pause_notice import PauseNotice
from ebbtide.cli.wrapper.process_family import ProcessFamily
from ebbtide.cli.wrapper.raw_terminal import RawTerminal, TerminalModes, stop_until_continued
from ebbtide.errors import ConfigError

_READ: Final = 1 << 16  # bytes at once
_GRACE_S: Final = 5.0  # from one signal to the next harder one
_QUIET_S: Final = 0.1  # without output: nothing of the agent's is in the middle of a sequence then
_ENDING: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
_HARD: Final = (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP)  # what is paused hears of them
_FORWARDED: Final = (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)
_STDIN, _STDOUT, _STDERR = 0, 1, 2
_KEEP_TITLE: Final = b"\x1b[22;2t"
_OLD_TITLE: Final = b"\x1b]2;\x07\x1b[23;2t"  # an empty one where the terminal keeps none


class AgentProcess:
    """Runs one command and passes everything through.

    Where standard input and output are a terminal the command has one of its own, of the same size. Else it
    has the pipes of its caller as they are, and where no terminal gives it input it has a session of its own.

    Args:
        command: The command line.
        listen: A descriptor beside them, such as that of a process that watches; None for none.
        hear: Takes what comes from it; empty at its end.
        pipes: Descriptors that the command has as standard input and output in place of all that; they are
            closed here as soon as it has them.
    """

    def __init__(
        self,
        command: Sequence[str],
        listen: int | None = None,
        hear: Callable[[bytes], None] | None = None,
        pipes: tuple[int, int] | None = None,
    ) -> None:
        self._command = list(command)
        self._listen = listen
        self._hear = hear
        self._pid = 0  # whose end is that of the command
        self._family = ProcessFamily(0, has_group=False)
        # A terminal gives its input to one group alone, and that of the caller may hold others of a pipeline.
        self._has_group = pipes is not None or os.isatty(_STDOUT) or not os.isatty(_STDIN)
        self._pipes = pipes or ()
        self._master: int | None = None
        self._reports: int | None = None  # of the process that leads the command in its terminal
        self._terminal: RawTerminal | None = None
        self._modes = TerminalModes()
        self._keys = b""
        self._title: str | None = None
        self._notice = PauseNotice(has_rows=_is_smart_terminal())
        self._was_paused = False
        self._output_at = 0.0
        self._status: int | None = None
        self._next_signal = 0
        self._signal_at: float | None = None
        self._due: list[int] = []  # signals that came, and go to the command

    @property
    def has_terminal(self) -> bool:
        """True if the command has a terminal of its own."""
        return self._terminal is not None

    @property
    def was_paused(self) -> bool:
        """True if the command was paused, also where it went on later."""
        return self._was_paused

    @property
    def was_ended(self) -> bool:
        """True if the command was asked to end before it was over."""
        return self._signal_at is not None

    def end(self) -> None:
        """Ends the command, unless it is over: first as Ctrl-C does, later as nobody can refuse."""
        if self._signal_at is None and self._status is None:
            _write(self._notice.close())
            self._signal_at = time.monotonic()

    def pause(self, notice: str) -> None:
        """Stops the command where it is until a key says how it goes on; does nothing without a terminal.

        Args:
            notice: A line for the last row of the terminal meanwhile.
        """
        if not self.has_terminal or self._signal_at is not None or self._status is not None:
            return
        if not self._notice.is_open:
            self._family.send(signal.SIGSTOP)
        self._notice.open(notice)
        self._was_paused = True

    def show(self, title: str) -> None:
        """Shows a title of the terminal's window as soon as the command writes nothing."""
        if self._has_titles:
            self._title = title

    def run(self) -> int:
        """Runs the command to its end.

        Returns:
            Its exit code, as a shell has it: 128 and the number of a signal that ended it.
        """
        wake, woken = os.pipe()
        os.set_blocking(wake, False)
        os.set_blocking(woken, False)
        before = signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
        try:
            with _handlers(self._handling()), selectors.DefaultSelector() as looks:
                self._start()
                looks.register(wake, selectors.EVENT_READ)
                return self._relay(looks, wake)
        finally:
            signal.set_wakeup_fd(before)
            for descriptor in (wake, woken, self._master, self._reports):
                if descriptor is not None:
                    os.close(descriptor)
            if self._terminal is not None:
                self._terminal.give_back()

    @property
    def _has_titles(self) -> bool:
        return self.has_terminal and _is_smart_terminal()

    def _start(self) -> None:
        try:
            if not self._pipes and os.isatty(_STDIN) and os.isatty(_STDOUT):
                self._start_in_terminal()
                return
            self._pid = os.posix_spawnp(
                self._command[0],
                self._command,
                os.environ,
                file_actions=[(os.POSIX_SPAWN_DUP2, pipe, place) for place, pipe in enumerate(self._pipes)],
                setsid=self._has_group,
                setsigdef=PYTHON_IGNORES,
            )
            for pipe in self._pipes:
                os.close(pipe)
        except OSError as error:
            raise ConfigError(f"{self._command[0]}: cannot be started: {error.strerror or error}") from error
        self._family = ProcessFamily(self._pid, has_group=self._has_group)

    def _start_in_terminal(self) -> None:
        master, slave = os.openpty()
        try:
            _copy_attributes(slave)
            _copy_size(slave)
            agent = start_led(self._command, slave, has_errors=_is_terminal_of_input(_STDERR))
        except BaseException:
            os.close(master)
            raise
        finally:
            os.close(slave)
        self._pid, self._reports, self._master = agent.leader, agent.reports, master
        self._family = ProcessFamily(agent.group, has_group=True)
        os.set_blocking(master, False)
        self._terminal = RawTerminal()
        self._terminal.take()
        if self._has_titles:
            _write(_KEEP_TITLE)

    def _handling(self) -> dict[signal.Signals, Callable[[int, FrameType | None], object]]:
        handlers: dict[signal.Signals, Callable[[int, FrameType | None], object]]
        handlers = dict.fromkeys(_FORWARDED, self._forward)
        handlers |= dict.fromkeys((signal.SIGINT, signal.SIGQUIT), self._interrupt)
        if self._has_group:  # else a Ctrl-Z stops it with this process
            handlers[signal.SIGTSTP] = self._forward
        return {**handlers, signal.SIGCHLD: _ignored}

    def _relay(self, looks: selectors.BaseSelector, wake: int) -> int:
        if self._listen is not None:
            looks.register(self._listen, selectors.EVENT_READ)
        if self._master is not None:
            looks.register(_STDIN, selectors.EVENT_READ)
            looks.register(self._master, selectors.EVENT_READ)
            if self._reports is not None:
                looks.register(self._reports, selectors.EVENT_READ)
            signal.signal(signal.SIGWINCH, lambda *_: self._resize())
        while True:
            for key, events in looks.select(self._wait_s()):
                if key.fd == wake:
                    _drain(wake)
                elif key.fd == self._listen:
                    self._take(looks, key.fd)
                elif key.fd == _STDIN:
                    self._take_keys(looks)
                elif key.fd == self._master:
                    if events & selectors.EVENT_READ:
                        self._take_output(looks)
                    if events & selectors.EVENT_WRITE:
                        self._send_keys(looks)
                elif key.fd == self._reports:
                    self._take_report(looks, key.fd)
            while self._due:
                self._pass_on(self._due.pop(0))
            self._look_after()
            self._show()
            self._signal()
            if self._status is not None:
                return self._finish(looks, os.waitstatus_to_exitcode(self._status))

    def _wait_s(self) -> float | None:
        """Seconds until there is something to do that nothing announces."""
        times = []
        if self._signal_at is not None:
            times.append(self._signal_at - time.monotonic())
        if self._title is not None or self._notice.is_due:
            times.append(self._output_at + _QUIET_S - time.monotonic())
        return max(0.0, min(times)) if times else None

    def _take(self, looks: selectors.BaseSelector, descriptor: int) -> None:
        data = os.read(descriptor, _READ)
        if not data:
            looks.unregister(descriptor)
        if self._hear is not None:
            self._hear(data)

    def _take_keys(self, looks: selectors.BaseSelector) -> None:
        try:
            data = os.read(_STDIN, _READ)
        except OSError:
            data = b""
        if not data:
            looks.unregister(_STDIN)
            if self._notice.is_open:  # nobody is there who could answer
                self.end()
            return
        if self._notice.is_open:
            match self._notice.answer(data):
                case True:
                    self._go_on()
                case False:
                    self.end()
            return
        self._keys += data
        self._send_keys(looks)

    def _send_keys(self, looks: selectors.BaseSelector) -> None:
        master = self._master
        if master is None:
            return
        with suppress(BlockingIOError, OSError):
            self._keys = self._keys[os.write(master, self._keys) :] if self._keys else b""
        with suppress(KeyError):
            looks.modify(master, selectors.EVENT_READ | (selectors.EVENT_WRITE if self._keys else 0))

    def _take_output(self, looks: selectors.BaseSelector) -> bool:
        """Passes output on; returns False where there is none any more."""
        master = self._master
        if master is None:
            return False
        try:
            data = os.read(master, _READ)
        except BlockingIOError:
            return False
        except OSError:  # nobody has the other end open
            data = b""
        if not data:
            with suppress(KeyError):
                looks.unregister(master)
            return False
        self._modes.see(data)
        _write(data)
        self._output_at = time.monotonic()
        return True

    def _take_last_output(self, looks: selectors.BaseSelector) -> None:
        while self._take_output(looks):
            pass

    def _take_report(self, looks: selectors.BaseSelector, reports: int) -> None:
        """Goes to sleep with the command, as on Ctrl-Z."""
        if not os.read(reports, _READ):
            looks.unregister(reports)
        elif self._terminal is not None and self._signal_at is None and not self._notice.is_open:
            self._take_last_output(looks)
            self._terminal.sleep()
            self._resize()
            self._family.send(signal.SIGCONT)

    def _look_after(self) -> None:
        """Notes that the command is over."""
        if self._status is None:
            pid, status = os.waitpid(self._pid, os.WNOHANG)
            self._status = status if pid else None

    def _finish(self, looks: selectors.BaseSelector, code: int) -> int:
        if self._signal_at is not None:
            self._family.end_rest()
        self._take_last_output(looks)
        _write(self._notice.close())
        if self.has_terminal and (code < 0 or self._signal_at is not None):
            _write(self._modes.undoing())
        if self._has_titles:
            _write(_OLD_TITLE)
        return code if code >= 0 else 128 - code

    def _pass_on(self, number: int) -> None:
        if number == signal.SIGTSTP and not self.has_terminal:
            # On SIGTSTP the system stops nobody in a session whose leader is the command.
            self._family.send(signal.SIGSTOP)
            stop_until_continued(os.getpid())
            self._family.send(signal.SIGCONT)
        elif self._has_group:
            self._family.send(number)
        else:
            self._family.send_to_agent(number)
        if self._notice.is_open and number in _HARD:
            self._go_on()

    def _go_on(self) -> None:
        _write(self._notice.close())
        self._family.send(signal.SIGCONT)
        self._family.send(signal.SIGWINCH)  # it may draw anew what the notice has covered

    def _show(self) -> None:
        if time.monotonic() - self._output_at < _QUIET_S:
            return
        if self._title is not None:
            _write(f"\x1b]2;{self._title}\x07".encode())
            self._title = None
        if self._notice.is_due:
            _write(self._notice.draw())

    def _signal(self) -> None:
        if self._signal_at is None or time.monotonic() < self._signal_at or self._status is not None:
            return
        self._family.send(_ENDING[min(self._next_signal, len(_ENDING) - 1)])
        self._family.send(signal.SIGCONT)
        self._next_signal += 1
        self._signal_at = time.monotonic() + _GRACE_S

    def _interrupt(self, number: int, _frame: FrameType | None) -> None:
        """Passes on what a key sends, unless the terminal has sent it to the command, too."""
        if self._has_group or not _is_in_front():
            self._due.append(number)

    def _forward(self, number: int, _frame: FrameType | None) -> None:
        self._due.append(number)

    def _resize(self) -> None:
        if self._master is not None:
            _copy_size(self._master)
            self._notice.redraw()


def _ignored(_number: int, _frame: FrameType | None) -> None:
    """Wakes the loop, and nothing else."""


def _is_in_front() -> bool:
    """True if a Ctrl-C of a terminal goes to the group of this process."""
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)


def _write(data: bytes) -> None:
    while data:
        try:
            data = data[os.write(_STDOUT, data) :]
        except BlockingIOError:
            time.sleep(0.01)
        except OSError:  # the terminal is gone
            return


def _drain(descriptor: int) -> None:
    with suppress(BlockingIOError):
        while os.read(descriptor, _READ):
            pass


def _is_smart_terminal() -> bool:
    """True if the terminal understands more than lines."""
    return os.environ.get("TERM", "dumb") != "dumb"


def _is_terminal_of_input(descriptor: int) -> bool:
    return os.isatty(descriptor) and os.path.sameopenfile(descriptor, _STDIN)


def _copy_attributes(terminal: int) -> None:
    with suppress(termios.error):
        termios.tcsetattr(terminal, termios.TCSANOW, termios.tcgetattr(_STDIN))


def _copy_size(master: int) -> None:
    with suppress(OSError):
        size = fcntl.ioctl(_STDIN, termios.TIOCGWINSZ, b"\0" * 8)
        fcntl.ioctl(master, termios.TIOCSWINSZ, size)


@contextmanager
def _handlers(
    wanted: Mapping[signal.Signals, Callable[[int, FrameType | None], object]],
) -> Iterator[None]:
    # Signals that the caller ignores stay ignored, here and in the command.
    mine = {
        number: handler for number, handler in wanted.items() if signal.getsignal(number) != signal.SIG_IGN
    }
    before = {number: signal.signal(number, handler) for number, handler in mine.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
