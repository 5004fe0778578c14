"""Billing of calls that failed: the one place that says which may have been billed."""

from __future__ import annotations

import socket

from ebbtide.guard.observers import status_of

_MOST_CAUSES = 8
_MAY_HAVE_RUN = frozenset({408, 499})  # time-out of the request, closed by the client
_NEVER_SENT = (ConnectionRefusedError, socket.gaierror)


def is_unbilled(error: BaseException) -> bool:
    """Returns True if an error says that nothing was billed.

    It does where it carries a status 400 to 499 other than 408 and 499, or where it is, or was caused by, a
    refused connection or a host name that is not known. Anything else may have been billed: time-outs,
    statuses from 500 on, cancellations, broken connections, and errors in reading the answer. So may an error
    behind which there is a time-out, since the attempt before may have been answered.

    >>> is_unbilled(ConnectionRefusedError()), is_unbilled(TimeoutError()), is_unbilled(KeyError("choices"))
    (True, False, False)
    """
    cause: BaseException | None = error
    unbilled = False
    for _ in range(_MOST_CAUSES):
        if cause is None:
            break
        if isinstance(cause, TimeoutError) or "timeout" in type(cause).__name__.lower():
            return False
        status = status_of(cause)
        if status is not None and cause is error:
            unbilled = 400 <= status < 500 and status not in _MAY_HAVE_RUN
        elif isinstance(cause, _NEVER_SENT):
            unbilled = True
        cause = cause.__cause__ or cause.__context__
    return unbilled
