"""Find saved prompts by the name that a user types after a slash.

Invariant: a file of the repository counts only if its user trusts it and it lies in the repository itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from upbeat.adapters.system.config.trust import is_trusted
from upbeat.adapters.system.environment import Environment
from upbeat.adapters.system.files.bounded_read import read_text
from upbeat.adapters.system.files.toml_file import is_own_file
from upbeat.core.policy.queries import TextDocument
from upbeat.core.sanitize.control_chars import strip_controls
from upbeat.core.sanitize.redact import redact

MAX_CHARS = 20_000
COMMANDS_FOLDER = ".claude/commands"
MAX_COMMANDS = 100
"""Files per project that `upbeat trust` covers."""


def find_prompt_file(
    name: str, root: str, environment: Environment, user_folders: Iterable[Path] = ()
) -> TextDocument | None:
    """Return the prompt file for ``/name``, redacted: the project's first, then that of the first user folder."""
    relative = f"{name.replace(':', '/')}.md"
    own = f"{COMMANDS_FOLDER}/{relative}"
    if is_own_file(root, own) and (text := _read_prompt(Path(root, own), root, environment)) is not None:
        return TextDocument(own, text)
    for folder in user_folders:
        if (text := _read_prompt(folder / relative)) is not None:
            return TextDocument(str(folder / relative), text)
    return None


def project_prompts(root: str) -> Iterator[Path]:
    """Yield the prompt files of the repository at ``root`` (real), sorted."""
    folder = Path(root, COMMANDS_FOLDER)
    paths = sorted(folder.rglob("*.md"))[:MAX_COMMANDS] if folder.is_dir() else []
    return (path for path in paths if is_own_file(root, str(path.relative_to(root))))


def _read_prompt(path: Path, root: str | None = None, trusted_by: Environment | None = None) -> str | None:
    """Return the text; None if there is none, or it is not trusted by ``trusted_by``."""
    content = read_text(path, root, 4 * MAX_CHARS)
    if content.problem or (trusted_by and not is_trusted(path, content.digest, trusted_by)):
        return None
    return redact(strip_controls(content.text)).text[:MAX_CHARS]
