"""What policies want to know of this machine's files, and what they have done outside the conversation.

Law: nothing outside the repository is read, and nothing in it can make this raise; what cannot be had is None.
"""

from __future__ import annotations

import os

from ...core.contract.event import Source
from ...core.policies.errand import Errand
from ...core.policies.look import Existing, Look, RulesAbout
from .environment import Environment
from .guidance import GuidanceFiles


class LocalGround:
    """Implements ``core.ports.Ground``."""

    def __init__(self, environment: Environment) -> None:
        self._guidance = GuidanceFiles(environment)

    def look(self, look: Look, source: Source, root: str) -> object | None:  # noqa: ARG002 -- the port's
        """The answer to ``look``."""
        match look:
            case Existing():
                return frozenset(path for path in look.paths if os.path.lexists(path))
            case RulesAbout():
                return self._guidance.about(root, look.paths)
            case _:
                return None

    def run(self, errand: Errand) -> None:
        """Nothing yet."""
