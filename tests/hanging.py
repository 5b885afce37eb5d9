"""``python hanging.py FILE COMMAND…`` is ``upbeat COMMAND…`` with tools that are busy until FILE exists.

They ignore their cancellation.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from upbeat.adapters.cli.main import main
from upbeat.adapters.code import provider
from upbeat.core.contract.finding import ToolOutput


class HangingProvider:
    """Implements ``core.engine.ports.ToolProvider``."""

    def tools(self) -> Mapping[str, str]:
        return {}

    def call(self, tool: str, args: Mapping[str, Any], root: str, cancelled: object) -> ToolOutput:
        while not Path(sys.argv[1]).exists():
            time.sleep(0.01)
        return ToolOutput(f"{tool} is done")


if __name__ == "__main__":
    provider.EmbeddedProvider = lambda **_parts: HangingProvider()  # type: ignore[assignment,misc]
    sys.exit(main(sys.argv[2:]))
