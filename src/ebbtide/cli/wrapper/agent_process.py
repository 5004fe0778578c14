"""An agent in a terminal of its own, or on the pipes of its caller: every byte and signal passes through."""

from __future__ import annotations

import fcntl
import os
import pty
import selectors
import signal
import termios
import time
import tty
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Final

_READ: Final = 1 << 16  # bytes at once
_GRACE_S: Final = 5.0  # from one signal to the next harder one
_QUIET_S: Final = 0.1  # without output: nothing of the agent's is in the middle of a sequence then
_ENDING: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
_FORWARDED: Final = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
_PYTHON_IGNORES: Final = (signal.SIGPIPE, signal.SIGXFSZ)
_STDIN, _STDOUT = 0, 1


class AgentProcess:
    """Runs one command and passes everything through.

    Where standard input and output are a terminal the command has one of its own, of the same size. Else it
    has the pipes of its caller as they are.

    Args:
        command: The command line.
        listen: A descriptor beside them, such as that of a process that watches; None for none.
        hear: Takes what comes from it; empty at its end.
    """

    def __init__(
        self, command: Sequence[str], listen: int | None = None, hear: Callable[[bytes], None] | None = None
    ) -> None:
        self._command = list(command)
        self._listen = listen
        self._hear = hear
        self._pid = 0
        self._master: int | None = None
        self._keys = b""
        self._title: str | None = None
        self._output_at = 0.0
        self._status: int | None = None
        self._next_signal = 0
        self._signal_at: float | None = None
        self._due: list[int] = []  # signals that came, and go to the command

    @property
    def has_terminal(self) -> bool:
        """True if the command has a terminal of its own."""
        return self._master is not None

    def end(self) -> None:
        """Ends the command: first as Ctrl-C does, later as nobody can refuse."""
        if self._signal_at is None:
            self._signal_at = time.monotonic()

    def show(self, title: str) -> None:
        """Shows a title of the terminal's window as soon as the command writes nothing."""
        if self.has_terminal and os.environ.get("TERM", "dumb") != "dumb":
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
            with (
                _handlers({signal.SIGCHLD: _ignored, signal.SIGINT: self._interrupt}),
                selectors.DefaultSelector() as looks,
            ):
                self._start()
                with _raw(self._master), _handlers(dict.fromkeys(_FORWARDED, self._forward)):
                    looks.register(wake, selectors.EVENT_READ)
                    return self._relay(looks, wake)
        finally:
            signal.set_wakeup_fd(before)
            os.close(wake)
            os.close(woken)
            if self._master is not None:
                os.close(self._master)

    def _start(self) -> None:
        if not (os.isatty(_STDIN) and os.isatty(_STDOUT)):
            # In the same group: a Ctrl-C reaches the command from the terminal, once, and this process
            # ignores it. Python ignores broken pipes, and what it starts would do so, too.
            self._pid = os.posix_spawnp(
                self._command[0], self._command, os.environ, setsigdef=_PYTHON_IGNORES
            )
            return
        self._pid, master = pty.fork()
        if self._pid == 0:
            for number in _PYTHON_IGNORES:
                signal.signal(number, signal.SIG_DFL)
            try:
                os.execvp(self._command[0], self._command)  # noqa: S606 - no shell
            except OSError as error:
                os.write(2, f"ebbtide: {self._command[0]}: {error.strerror}\n".encode())
                os._exit(127 if isinstance(error, FileNotFoundError) else 126)
        self._master = master
        os.set_blocking(master, False)
        _copy_size(master)

    def _relay(self, looks: selectors.BaseSelector, wake: int) -> int:
        if self._listen is not None:
            looks.register(self._listen, selectors.EVENT_READ)
        if self._master is not None:
            looks.register(_STDIN, selectors.EVENT_READ)
            looks.register(self._master, selectors.EVENT_READ)
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
            while self._due:
                self._kill(self._due.pop(0))
            self._look_after()
            self._show()
            self._signal()
            if self._status is not None:
                self._take_last_output(looks)
                code = os.waitstatus_to_exitcode(self._status)
                return code if code >= 0 else 128 - code

    def _wait_s(self) -> float | None:
        """Seconds until there is something to do that nothing announces."""
        times = []
        if self._signal_at is not None:
            times.append(self._signal_at - time.monotonic())
        if self._title is not None:
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
        _write(data)
        self._output_at = time.monotonic()
        return True

    def _take_last_output(self, looks: selectors.BaseSelector) -> None:
        while self._take_output(looks):
            pass

    def _look_after(self) -> None:
        """Notes that the command is over; goes to sleep with it, as on Ctrl-Z."""
        if self._status is not None:
            return
        pid, status = os.waitpid(self._pid, os.WNOHANG | os.WUNTRACED)
        if pid == 0:
            return
        if not os.WIFSTOPPED(status):
            self._status = status
        elif self.has_terminal and self._signal_at is None:
            with _cooked():
                os.kill(os.getpid(), signal.SIGSTOP)
            self._resize()
            self._kill(signal.SIGCONT)

    def _show(self) -> None:
        if self._title is not None and time.monotonic() - self._output_at >= _QUIET_S:
            _write(f"\x1b]2;{self._title}\x07".encode())
            self._title = None

    def _signal(self) -> None:
        if self._signal_at is None or time.monotonic() < self._signal_at or self._status is not None:
            return
        self._kill(_ENDING[min(self._next_signal, len(_ENDING) - 1)])
        self._kill(signal.SIGCONT)
        self._next_signal += 1
        self._signal_at = time.monotonic() + _GRACE_S

    def _interrupt(self, number: int, _frame: FrameType | None) -> None:
        """Passes a SIGINT on, unless a terminal has sent the same to the command."""
        if not self.has_terminal and not _is_in_front():
            self._due.append(number)

    def _forward(self, number: int, _frame: FrameType | None) -> None:
        self._due.append(number)

    def _kill(self, number: int) -> None:
        with suppress(ProcessLookupError, PermissionError):
            if self.has_terminal:
                os.killpg(self._pid, number)
            else:
                os.kill(self._pid, number)

    def _resize(self) -> None:
        if self._master is not None:
            _copy_size(self._master)


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


@contextmanager
def _raw(master: int | None) -> Iterator[None]:
    """Hands every key over as it comes; puts the terminal back at the end."""
    if master is None:
        yield
        return
    before = termios.tcgetattr(_STDIN)
    with suppress(termios.error):
        termios.tcsetattr(master, termios.TCSANOW, before)
    tty.setraw(_STDIN)
    try:
        yield
    finally:
        with suppress(termios.error):
            termios.tcsetattr(_STDIN, termios.TCSAFLUSH, before)


@contextmanager
def _cooked() -> Iterator[None]:
    """Puts the terminal back for a while."""
    raw = termios.tcgetattr(_STDIN)
    cooked = termios.tcgetattr(_STDIN)
    cooked[0] |= termios.ICRNL
    cooked[1] |= termios.OPOST
    cooked[3] |= termios.ECHO | termios.ICANON | termios.ISIG | termios.IEXTEN
    termios.tcsetattr(_STDIN, termios.TCSADRAIN, cooked)
    try:
        yield
    finally:
        termios.tcsetattr(_STDIN, termios.TCSADRAIN, raw)
