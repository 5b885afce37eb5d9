"""What the server declares about its tools."""

from __future__ import annotations

from upbeat.adapters.mcp_server.tools import TOOL_DEFINITIONS, WORKFLOW_TOOL


def test_only_the_workflow_tool_changes_something() -> None:
    """It can start a workflow, so it is neither read-only nor idempotent; every other tool is both."""
    annotations = {tool["name"]: tool["annotations"] for tool in TOOL_DEFINITIONS}
    workflow = annotations.pop(WORKFLOW_TOOL)

    assert (False, False, False) == tuple(
        workflow[hint] for hint in ("readOnlyHint", "idempotentHint", "destructiveHint")
    )
    assert all(hints["readOnlyHint"] and hints["idempotentHint"] for hints in annotations.values())
    assert not any(hints["openWorldHint"] for hints in (workflow, *annotations.values()))
