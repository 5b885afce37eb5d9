"""The exceptions of upbeat, split by whose fault it is.

::

    UpbeatError
    ├── UserError            the person can mend it: the message says how
    │   ├── ConfigError      one or more settings are wrong (carries all of them)
    │   ├── RequestError     the request on stdin, or an argument, cannot be read
    │   └── JournalUnreadable  the journal cannot be read, or not pruned
    ├── ToolFailure          a tool gave no result; carries the contract's error code
    └── ClientError          a client said something that its contract does not allow
"""

from __future__ import annotations

from .contract.codes import ErrorCode


class UpbeatError(Exception):
    """Base of all; never raised itself."""


class UserError(UpbeatError):
    """Something that the person can mend. ``str()`` is the whole message, with the way out."""


class ConfigError(UserError):
    """All that is wrong with the configuration, found at once."""

    def __init__(self, problems: tuple[str, ...]) -> None:
        self.problems = problems
        super().__init__("\n".join(problems))


class RequestError(UserError):
    """The request cannot be read."""


class JournalUnreadable(UserError):
    """The journal cannot be read, or not pruned."""


class ToolFailure(UpbeatError):
    """A tool gave no result."""

    def __init__(self, code: ErrorCode, message: str) -> None:
        self.code = code
        super().__init__(message)


class ClientError(UpbeatError):
    """A payload that its client's contract does not allow."""
