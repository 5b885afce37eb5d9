"""The embedded tools and those of the user's servers as one provider. Law: a name with a dot is a server's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...core.contract.finding import ToolOutput
from ...core.ports import Cancellation, ToolProvider
from ...core.servers import split_name


class Beside:
    """Implements ``core.ports.ToolProvider`` with ``embedded`` and ``servers``."""

    def __init__(self, embedded: ToolProvider, servers: ToolProvider) -> None:
        self._embedded = embedded
        self._servers = servers

    def tools(self) -> Mapping[str, str]:
        """The tools of both, the embedded ones first."""
        return {**self._embedded.tools(), **self._servers.tools()}

    def call(self, tool: str, args: Mapping[str, Any], root: str, cancelled: Cancellation) -> ToolOutput:
        """Run ``tool`` where it is offered. Raises ``ToolFailure``."""
        provider = self._servers if split_name(tool)[0] else self._embedded
        return provider.call(tool, args, root, cancelled)
