"""A tool name with a dot belongs to a server of the user."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

import pytest

from upbeat.adapters.mcp_client.provider import CompositeProvider
from upbeat.core.contract.finding import ToolOutput
from upbeat.core.engine.ports import Cancellation


class NamedProvider:
    """Answers every call with its own name."""

    def __init__(self, name: str, tool: str) -> None:
        self._name, self._tool = name, tool

    def tools(self) -> Mapping[str, str]:
        return {self._tool: self._name}

    def call(self, tool: str, args: Mapping[str, Any], root: str, cancelled: Cancellation) -> ToolOutput:
        return ToolOutput(self._name, (), {})


@pytest.mark.parametrize(("tool", "provider"), [("ci_search", "embedded"), ("docs.search", "servers")])
def test_a_call_goes_to_its_provider(tool: str, provider: str) -> None:
    """The name alone chooses the provider, and both are offered."""
    composite = CompositeProvider(NamedProvider("embedded", "ci_search"), NamedProvider("servers", "docs.search"))

    assert ["ci_search", "docs.search"] == list(composite.tools())
    assert provider == composite.call(tool, {}, "/", threading.Event()).summary
