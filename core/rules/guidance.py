"""Rules that people have written for other programs: texts for the model, each for some files of the repository.

Law: they are matched as where they come from: ``paths`` (Claude Code), ``globs`` and ``alwaysApply`` (Cursor),
``applyTo`` (Copilot). One that its own program shows only when it is asked for is not shown here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..contract.event import ClientName
from ..turn.redact import redact
from ..turn.strip import strip
from . import globs
from .front_matter import FrontMatter
from .front_matter import read as read_front_matter
from .globs import Globs

EVERY = Globs(("**",))


@dataclass(frozen=True, slots=True)
class Kind:
    """Where one program keeps its rules. ``folder`` is below any folder of the repository with ``is_nested``.

    ``key`` holds the globs; without one a rule is for every file with ``means_all``. ``native`` clients show these
    rules themselves.
    """

    folder: str
    ending: str
    key: str
    means_all: bool = False
    is_nested: bool = True
    native: frozenset[ClientName] = frozenset()


KINDS: Mapping[str, Kind] = {
    "claude": Kind(".claude/rules", ".md", "paths", means_all=True, native=frozenset({ClientName.CLAUDE_CODE})),
    "cursor": Kind(".cursor/rules", ".mdc", "globs"),
    "copilot": Kind(".github/instructions", ".instructions.md", "applyTo", is_nested=False),
}
COPILOT_FILE = ".github/copilot-instructions.md"
"""Copilot's instructions for every file."""


@dataclass(frozen=True, slots=True)
class Guidance:
    """One such rule. ``path`` is how it is shown, ``real`` where it lies, ``base`` the folder its globs begin at.

    ``base`` and the paths that are asked about are relative to the repository; ``base`` is empty for all of it.
    """

    path: str
    real: str
    globs: Globs
    text: str
    digest: str
    base: str = ""
    native: frozenset[ClientName] = frozenset()
    is_users: bool = False
    """It is the user's own, for every project."""

    @property
    def depth(self) -> int:
        """How far down it stands: the nearest one is the deepest."""
        return self.base.count("/") + 1 if self.base else 0

    def is_about(self, path: str) -> bool:
        """Whether it is for the file at ``path``."""
        if not self.base:
            return self.globs.match(path)
        return path.startswith(self.base + "/") and self.globs.match(path[len(self.base) + 1 :])


def read(text: str, kind: Kind | None, path: str, real: str, digest: str, base: str = "") -> Guidance | None:
    """The rule in ``text``; None for one that is for no file, or says nothing. Without ``kind``: for every file."""
    front = read_front_matter(text)
    meant = EVERY if kind is None else _globs(front, kind)
    body = redact(strip(front.body)).text.strip()
    if meant is None or not body:
        return None
    return Guidance(path, real, meant, body, digest, base, kind.native if kind else frozenset())


def _globs(front: FrontMatter, kind: Kind) -> Globs | None:
    if front.values.get("alwaysApply") in ("true", "True", "yes"):
        return EVERY
    value = front.values.get(kind.key, front.values.get("globs", ""))
    told = [one for one in value if isinstance(one, str)] if isinstance(value, list) else [value]
    sources = tuple(glob for one in told if isinstance(one, str) for glob in globs.split(one))
    if not sources:
        return EVERY if kind.means_all else None
    return None if globs.problem_of(sources) else Globs(sources)
