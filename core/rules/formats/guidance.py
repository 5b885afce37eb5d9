"""Rules written for other programs: texts for the model, each for some files of the repository.

Invariant: they match as in their own program: ``paths`` (Claude Code), ``globs`` and ``alwaysApply`` (Cursor),
``applyTo`` (Copilot). A rule that its own program shows only on request is never injected.
"""

from __future__ import annotations

from collections.abc import Mapping

from upbeat.core.lazy_dataclass import dataclass
from upbeat.core.rules import globs
from upbeat.core.rules.formats.front_matter import FrontMatter, parse_front_matter
from upbeat.core.rules.globs import Globs
from upbeat.core.sanitize.control_chars import strip_controls
from upbeat.core.sanitize.redact import redact

ALL_FILES = Globs(("**",))


@dataclass(frozen=True, slots=True)
class GuidanceFormat:
    """Where one program keeps its rules. ``folder`` may be below any folder of the repository if ``is_nested``.

    ``globs_key`` holds the globs; without it a rule is for every file if ``defaults_to_all``.
    """

    folder: str
    suffix: str
    globs_key: str
    defaults_to_all: bool = False
    is_nested: bool = True


GUIDANCE_FORMATS: Mapping[str, GuidanceFormat] = {
    "claude": GuidanceFormat(".claude/rules", ".md", "paths", defaults_to_all=True),
    "cursor": GuidanceFormat(".cursor/rules", ".mdc", "globs"),
    "opencode": GuidanceFormat(".opencode/rules", ".md", "globs", defaults_to_all=True),
    "copilot": GuidanceFormat(".github/instructions", ".instructions.md", "applyTo", is_nested=False),
}
COPILOT_FILE = ".github/copilot-instructions.md"
"""Copilot's instructions for every file."""


@dataclass(frozen=True, slots=True)
class Guidance:
    """One such rule. ``path`` is shown, ``real_path`` is resolved; its globs are relative to ``base``.

    ``base`` and the paths to match are relative to the repository; an empty ``base`` is its root.
    """

    path: str
    real_path: str
    globs: Globs
    text: str
    digest: str
    base: str = ""
    rules_folder: str = ""
    """The folder of its format, such as ``.claude/rules``."""
    is_user_level: bool = False
    """The user's own, for every project."""

    @property
    def depth(self) -> int:
        """The depth of its folder: the nearest guidance is the deepest."""
        return self.base.count("/") + 1 if self.base else 0

    def applies_to(self, path: str) -> bool:
        """Return whether it is for the file at ``path``."""
        if not self.base:
            return self.globs.match(path)
        return path.startswith(self.base + "/") and self.globs.match(path[len(self.base) + 1 :])


def parse_guidance(
    text: str, guidance_format: GuidanceFormat | None, path: str, real_path: str, digest: str, base: str = ""
) -> Guidance | None:
    """Parse ``text``; None if it is empty or matches no file. Without ``guidance_format`` it is for every file."""
    front = parse_front_matter(text)
    file_globs = ALL_FILES if guidance_format is None else _parse_globs(front, guidance_format)
    body = redact(strip_controls(front.body)).text.strip()
    if file_globs is None or not body:
        return None
    return Guidance(path, real_path, file_globs, body, digest, base, guidance_format.folder if guidance_format else "")


def _parse_globs(front: FrontMatter, guidance_format: GuidanceFormat) -> Globs | None:
    if front.values.get("alwaysApply") in ("true", "True", "yes"):
        return ALL_FILES
    value = front.values.get(guidance_format.globs_key, front.values.get("globs", ""))
    texts = value if isinstance(value, list) else [value]
    sources = tuple(glob for text in texts if isinstance(text, str) for glob in globs.split_globs(text))
    if not sources:
        return ALL_FILES if guidance_format.defaults_to_all else None
    return None if globs.find_glob_problem(sources) else Globs(sources)
