"""A request needs a prompt; everything else has a default, and what is unknown is ignored."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from upbeat.core.contract.event import ClientName
from upbeat.core.contract.report import PrepareRequest, RequestClient


def test_a_prompt_is_enough() -> None:
    """A request of a prompt alone comes from the command line and names no repository."""
    assert PrepareRequest(
        prompt="x", client=RequestClient(name=ClientName.CLI, event="cli", session_id=None), repo_root=None
    ) == PrepareRequest.model_validate({"prompt": "x"})


def test_unknown_fields_are_ignored() -> None:
    """A client may send its own payload along."""
    sent = {"prompt": "x", "hook_event_name": "y", "client": {"name": "codex-cli", "version": 3}, "repo_root": "/r"}

    assert PrepareRequest(
        prompt="x", client=RequestClient(name=ClientName.CODEX_CLI), repo_root="/r"
    ) == PrepareRequest.model_validate(sent)


@pytest.mark.parametrize(
    "sent",
    [
        {},
        {"prompt": None},
        {"prompt": 5},
        {"prompt": ["x"]},
        {"prompt": "x", "client": "codex-cli"},
        {"prompt": "x", "client": {"name": "vim"}},
        {"prompt": "x", "repo_root": 5},
    ],
    ids=str,
)
def test_wrong_types_are_refused(sent: dict[str, object]) -> None:
    """A request that does not say what is meant is not guessed at."""
    with pytest.raises(ValidationError):
        PrepareRequest.model_validate(sent)
