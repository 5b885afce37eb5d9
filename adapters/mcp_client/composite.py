"""Combine the embedded tools and the user's servers. Invariant: a tool name with a dot belongs to a server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from upbeat.core.contract.finding import ToolOutput
from upbeat.core.engine.ports import Cancellation, ToolProvider
from upbeat.core.tool_servers import split_tool_name


class CompositeProvider:
    """Implements ``core.engine.ports.ToolProvider`` with ``embedded`` and ``servers``."""

    def __init__(self, embedded: ToolProvider, servers: ToolProvider) -> None:
        self._embedded = embedded
        self._servers = servers

    def tools(self) -> Mapping[str, str]:
        """Return the tools of both providers, the embedded ones first."""
        return {**self._embedded.tools(), **self._servers.tools()}

    def call(self, tool: str, args: Mapping[str, Any], root: str, cancelled: Cancellation) -> ToolOutput:
        """Call ``tool`` of its provider. Raises ToolFailure."""
        provider = self._servers if split_tool_name(tool)[0] else self._embedded
        return provider.call(tool, args, root, cancelled)
