"""The exceptions of upbeat, by whose fault they are.

::

    UpbeatError
    ├── UserError           the user can fix it: the message says how
    │   ├── RequestError    the request on stdin, or an argument, is invalid
    │   └── JournalError    the journal cannot be read or pruned
    ├── ToolFailure         a tool returned no result; carries the contract's error code
    └── ClientError         a client violated its contract
"""

from __future__ import annotations

from upbeat.core.contract.codes import ErrorCode


class UpbeatError(Exception):
    """Base of all; never raised itself."""


class UserError(UpbeatError):
    """An error that the user can fix. ``str()`` is the complete message, with the fix."""


class RequestError(UserError):
    """The request is invalid."""


class JournalError(UserError):
    """The journal cannot be read or pruned."""


class ToolFailure(UpbeatError):
    """A tool returned no result."""

    def __init__(self, code: ErrorCode, message: str) -> None:
        self.code = code
        super().__init__(message)


class ClientError(UpbeatError):
    """A payload violates its client's contract."""
