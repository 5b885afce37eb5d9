"""The files in which a person keeps prompts, found by the name that stands behind a slash.

Law: a file of the repository counts only with its user's trust, and lies in the repository itself. Nothing raises.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ...core.policies.look import Document
from ...core.turn.redact import redact
from ...core.turn.strip import strip
from .documents import read_text
from .environment import Environment
from .toml_file import is_own_file
from .trust import is_trusted

MAX_CHARS = 20_000
COMMANDS = ".claude/commands"
MAX_COMMANDS = 100
"""Files of one project that are trusted in one go."""


def prompt_file(name: str, root: str, environment: Environment) -> Document | None:
    """What the file for ``/name`` says, without secrets and controls: the project's first, then the user's own."""
    relative = f"{name.replace(':', '/')}.md"
    own = f"{COMMANDS}/{relative}"
    if is_own_file(root, own) and (text := _read(Path(root, own), root, environment)) is not None:
        return Document(own, text)
    places = ((environment.codex_home / "prompts", relative), (environment.claude_home / "commands", relative))
    for folder, file in places:
        if (text := _read(folder / file)) is not None:
            return Document(str(folder / file), text)
    return None


def project_prompts(root: str) -> Iterator[Path]:
    """The files of the repository at ``root`` (real) that hold prompts, sorted."""
    folder = Path(root, COMMANDS)
    found = sorted(folder.rglob("*.md"))[:MAX_COMMANDS] if folder.is_dir() else []
    return (path for path in found if is_own_file(root, str(path.relative_to(root))))


def _read(path: Path, root: str | None = None, trusted_by: Environment | None = None) -> str | None:
    """The text; None where there is none, or it is not trusted although it has to be."""
    found = read_text(path, root, 4 * MAX_CHARS)
    if found.problem or (trusted_by and not is_trusted(path, found.digest, trusted_by)):
        return None
    return redact(strip(found.text)).text[:MAX_CHARS]
