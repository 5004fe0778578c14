"""Hands one hook event to the service, and prints its answer: run as ``python -I -S hook_client.py AGENT``.

It imports nothing of Ebbtide and little else, so that a hook costs some milliseconds. It answers ``{}`` after
300 ms whatever happens, always ends with 0, and starts the service in the background where there is none: the
agent goes on in any case.
"""

import os
import sys
import time

DEADLINE_S = 0.3
_RESTART_S = 5.0  # between two attempts to start the service
_LARGEST = 16 << 20  # bytes of an event
_PIECE = 1 << 16
_LARGEST_KEPT = 1 << 20  # bytes of an event that waits for the service
_MOST_KEPT = 500  # such events
_ANSWERED = b"HTTP/1.1 200"
_TICKET = b"\r\nX-Ebbtide-Ticket: "
_CONFIRM_S = 0.05  # after the answer is out
# Claude Code takes what such a hook prints for instructions to the model that compacts, braces too.
_COMPACTING = b'"PreCompact"'
_HEADS = {"statusline": b"ebbtide: not watching"}


def state_folder() -> str:
    """Returns the path of the folder that holds the state of the service."""
    own = os.environ.get("EBBTIDE_STATE")
    if own:
        return os.path.abspath(own)  # noqa: PTH100 - pathlib takes longer to import than the whole client
    base = os.environ.get("XDG_STATE_HOME", "")
    if not os.path.isabs(base):  # noqa: PTH117 - likewise
        base = os.path.join(os.path.expanduser("~"), ".local", "state")  # noqa: PTH111, PTH118 - likewise
    return os.path.join(base, "ebbtide")  # noqa: PTH118 - likewise


def exchange(method: str, path: str, body: bytes, deadline: float) -> bytes | None:
    """Returns the body of the answer to a request; None where there is none in time, or it is a refusal.

    Args:
        deadline: On the clock of `time.monotonic`.
    """
    return ask(method, path, body, deadline)[0]


def ask(method: str, path: str, body: bytes, deadline: float) -> tuple[bytes | None, str]:
    """Returns what `exchange` does, and the ticket of the note in it; "" where it has none."""
    try:
        connection, token = _connection(deadline)
    except (OSError, ValueError, KeyError, TypeError):
        return None, ""
    try:
        head = (
            f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Ebbtide-Token: {token}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        )
        connection.settimeout(max(deadline - time.monotonic(), 0.001))
        connection.sendall(head.encode() + body)
        pieces = []
        while True:
            connection.settimeout(max(deadline - time.monotonic(), 0.001))
            piece = connection.recv(_PIECE)
            if not piece:
                break
            pieces.append(piece)
    except OSError:
        return None, ""
    finally:
        connection.close()
    start, _, content = b"".join(pieces).partition(b"\r\n\r\n")
    if not start.startswith(_ANSWERED):
        return None, ""
    ticket = start.partition(_TICKET)[2].partition(b"\r\n")[0]
    return content, ticket.decode("ascii", "replace")


def start_service() -> None:
    """Start the service in the background, unless that was tried a moment ago or its folder is read-only."""
    folder = state_folder()
    mark = os.path.join(folder, "starting")  # noqa: PTH118 - likewise
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)  # noqa: PTH103 - likewise
        if os.path.exists(mark) and time.time() - os.stat(mark).st_mtime < _RESTART_S:  # noqa: PTH110, PTH116
            return
        with open(mark, "wb"):  # noqa: PTH123 - likewise
            pass
        import subprocess

        package = __file__
        for _ in range(4):
            package = os.path.dirname(os.path.abspath(package))  # noqa: PTH100, PTH120 - likewise
        paths = [package, *filter(None, [os.environ.get("PYTHONPATH")])]
        options = {"start_new_session": True} if os.name == "posix" else {"creationflags": 0x00000208}
        with open(os.path.join(folder, "log"), "ab") as log:  # noqa: PTH118, PTH123 - likewise
            subprocess.Popen(
                # -P: nothing is imported from the folder that the agent works in.
                [sys.executable, "-P", "-m", "ebbtide", "hooks", "serve"],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=folder,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
                **options,
            )
    except OSError:
        pass


def main(arguments: list[str]) -> None:
    """Hand over what standard input has, and print the answer."""
    deadline = time.monotonic() + DEADLINE_S
    agent, flags = (arguments or ["?"])[0], arguments[1:]
    if agent == "start":
        start_service()
        return
    body = _input(deadline)
    answer, ticket = None, ""
    if body is not None:
        path = "/statusline" if agent == "statusline" else f"/hooks/{agent}"
        query = "&".join(flag.strip("-") + "=1" for flag in flags)
        log = os.environ.get("EBBTIDE_LOG", "") if "--decisions" in flags else ""
        if log:  # the service may have been started where another one is named
            query += "&log=" + "".join(f"%{byte:02x}" for byte in os.fsencode(log))
        answer, ticket = ask("POST", f"{path}?{query}" if query else path, body, deadline)
    said = _HEADS.get(agent, b"{}") if answer is None else answer
    if said == b"{}" and body and _COMPACTING in body:
        said = b""
    try:
        os.write(1, said + b"\n")
    except OSError:
        ticket = ""
    if ticket:
        # The service gives a note again until it hears that the agent has it.
        exchange("POST", f"/delivered/{ticket}", b"", time.monotonic() + _CONFIRM_S)
    if answer is None and not _is_running():
        if body and agent != "statusline":
            _keep(agent, body)
        start_service()


def _connection(deadline: float):  # type: ignore[no-untyped-def] # noqa: ANN202 - socket is imported here
    """A connection to the service, and the token for it: the Unix socket, which needs none, or the port."""
    import socket

    folder = state_folder()
    if hasattr(socket, "AF_UNIX"):
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(max(deadline - time.monotonic(), 0.001))
        try:
            connection.connect(os.path.join(folder, "socket"))  # noqa: PTH118 - likewise
        except OSError:
            connection.close()
        else:
            return connection, ""
    import json

    with open(os.path.join(folder, "service.json"), encoding="utf-8") as file:  # noqa: PTH118, PTH123
        address = json.load(file)
    timeout = max(deadline - time.monotonic(), 0.001)
    return socket.create_connection(("127.0.0.1", address["port"]), timeout), str(address["token"])


def _keep(agent: str, body: bytes) -> None:
    """Leave an event for the service that is about to start; without a folder to write to it is lost."""
    folder = os.path.join(state_folder(), "spool")  # noqa: PTH118 - likewise
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)  # noqa: PTH103 - likewise
        if len(body) > _LARGEST_KEPT or len(os.listdir(folder)) >= _MOST_KEPT:  # noqa: PTH208 - likewise
            return
        name = os.path.join(folder, f"{time.time_ns():020}-{agent}")  # noqa: PTH118 - likewise
        handle = os.open(f"{name}.part", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        os.write(handle, body)
        os.close(handle)
        os.rename(f"{name}.part", name)  # noqa: PTH104 - likewise
    except OSError:
        pass


def _is_running() -> bool:
    """True if a service takes connections, though it did not answer in time."""
    try:
        _connection(time.monotonic() + 0.05)[0].close()
    except (OSError, ValueError, KeyError, TypeError):
        return False
    return True


def _input(deadline: float) -> bytes | None:
    """Returns standard input up to its end; None where it does not end in time, or is too large."""
    pieces: list[bytes] = []
    size = 0
    while True:
        if os.name == "posix":
            import select

            if not select.select([0], [], [], max(deadline - time.monotonic(), 0))[0]:
                return None
        piece = os.read(0, _PIECE)
        if not piece:
            return b"".join(pieces)
        size += len(piece)
        if size > _LARGEST:
            return None
        pieces.append(piece)


def run() -> None:
    """Hand over one event, as the command ``ebbtide-hook`` does; an agent notices no failure."""
    try:  # noqa: SIM105 - contextlib takes time to import
        main(sys.argv[1:])
    except Exception:  # noqa: BLE001, S110 - an agent never notices
        pass
    # Nothing is left to flush, and taking the interpreter down would take some more milliseconds.
    os._exit(0)


if __name__ == "__main__":
    run()
