"""The exceptions of upbeat."""

from __future__ import annotations

import pytest

from upbeat.core.contract.codes import ErrorCode
from upbeat.core.errors import ClientError, JournalError, RequestError, ToolFailure, UpbeatError, UserError


@pytest.mark.parametrize("error", [RequestError, JournalError])
def test_user_errors_are_complete_messages(error: type[UserError]) -> None:
    """The text of an error that the user can fix is the message itself."""
    assert issubclass(error, UserError)
    assert "do this" == str(error("do this"))


def test_a_tool_failure_has_a_code() -> None:
    """A tool failure has the contract's error code; every error is an UpbeatError."""
    failure = ToolFailure(ErrorCode.TIMEOUT, "too late")

    assert (ErrorCode.TIMEOUT, "too late") == (failure.code, str(failure))
    assert all(issubclass(error, UpbeatError) for error in (ToolFailure, ClientError, UserError))
