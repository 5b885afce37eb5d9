"""Format the files that differ from the last commit, one per line. Their names are untrusted data."""

from __future__ import annotations

from collections.abc import Sequence

from upbeat.core.messages.catalogue import load_messages
from upbeat.core.policy.queries import ChangedFile
from upbeat.core.sanitize.text import sanitize_inline

MAX_LISTED_FILES = 12
MAX_QUERIED_FILES = 50
"""Maximum files of ``ChangedFilesQuery``."""
MAX_PATH_CHARS = 160


def format_count(files: Sequence[ChangedFile]) -> str:
    """Return their number, with ``+`` if there may be more."""
    return f"{len(files)}+" if len(files) >= MAX_QUERIED_FILES else str(len(files))


def format_changed_files(files: Sequence[ChangedFile], language: str) -> str:
    """Return the first ``MAX_LISTED_FILES`` with added and removed lines, and the number of the rest."""
    lines: list[str] = []
    for file in files[:MAX_LISTED_FILES]:
        path = sanitize_inline(file.path, MAX_PATH_CHARS)
        has_counts = file.added is not None and file.removed is not None
        lines.append(f"{path} +{file.added} -{file.removed}" if has_counts else path)
    if len(files) > MAX_LISTED_FILES:
        more = load_messages("policies", language).group("changed-files")["more"]
        lines.append(more.format(count=len(files) - MAX_LISTED_FILES))
    return "\n".join(lines)
