"""The working tree that workflows live on: what it holds, and the feature that is worked on."""

from __future__ import annotations

from ...core.ports import Clock
from .specs import SpecFiles


class LocalWorkspace(SpecFiles):
    """Implements ``core.ports.Workspace`` on this machine's files."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(clock)

    def tree(self, root: str) -> str:
        from .tree import tree_digest

        return tree_digest(root)
