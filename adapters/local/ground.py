"""What policies want to know of this machine's files, and what they have done outside the conversation.

Law: nothing outside the repository is read but what its user keeps for the clients, and nothing in it can make this
raise; what cannot be had is None.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ...core.contract.event import Source
from ...core.policies.errand import Errand
from ...core.policies.look import (
    ChangedFiles,
    ContextUse,
    Existing,
    Features,
    FilesAbove,
    FilesIn,
    Look,
    Plans,
    PromptFile,
    RulesAbout,
)
from ...core.workflow.specs import Status

if TYPE_CHECKING:
    from ...core.ports import Transcripts
    from .environment import Environment
    from .guidance import GuidanceFiles
    from .specs import SpecFiles


class LocalGround:
    """Implements ``core.ports.Ground``. ``transcripts`` tell how full a window is, ``guidance`` which rules a file has.

    ``specs`` tell the features of a repository; ``environment`` where its user keeps prompts.
    """

    def __init__(
        self,
        transcripts: Transcripts | None = None,
        guidance: GuidanceFiles | None = None,
        specs: SpecFiles | None = None,
        environment: Environment | None = None,
    ) -> None:
        self._transcripts = transcripts
        self._guidance = guidance
        self._specs = specs
        self._environment = environment

    def look(self, look: Look, source: Source, root: str) -> object | None:
        """The answer to ``look``."""
        try:
            return self._answer(look, source, root)
        except (OSError, ValueError):  # names that the system does not take
            return None

    def run(self, errand: Errand, root: str) -> None:
        """Do ``errand``."""
        from .errands import run

        run(errand, root)

    def _answer(self, look: Look, source: Source, root: str) -> object | None:
        match look:
            case Existing():
                return frozenset(path for path in look.paths if os.path.lexists(path))
            case RulesAbout():
                return self._guidance.about(root, look.paths) if self._guidance else None
            case ContextUse():
                return self._transcripts.context(source) if self._transcripts else None
            case Features() if self._specs:
                return Plans(self._specs.in_progress(root), self._specs.named(root, Status.BACKLOG))
            case PromptFile() if self._environment:
                from .prompt_files import prompt_file

                return prompt_file(look.name, root, self._environment)
            case FilesAbove():
                from .ground_documents import above

                return above(root, look.path, look.names, with_root=look.with_root)
            case FilesIn():
                from .ground_documents import inside

                return inside(root, look.folder, look.ending)
            case ChangedFiles():
                from .ground_changes import changed_files

                return changed_files(root)
            case _:
                return None
