"""Read localization cases: bug fixes, issues and questions in people's own words.

A case is one JSON line. A fix or issue has ``{id, repo, parent_sha, query, gold_files}`` and optionally
``gold_functions`` (names by file) and ``gold_lines``. A question has ``{id, repo, commit, question, lang, gold_files,
gold_symbols}``; a gold symbol is ``path::name``. Both become a ``Case``.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Case:
    """One case. ``kind`` is ``fix`` or ``question``; ``english`` is a question's English, the same if it is English."""

    id: str
    repo: str
    mirror_repo: str
    commit: str
    query: str
    kind: str
    language: str
    english: str
    gold_files: tuple[str, ...]
    gold_functions: Mapping[str, Sequence[str]] = field(default_factory=dict)
    gold_lines: Mapping[str, Sequence[int]] = field(default_factory=dict)

    @property
    def tree_name(self) -> str:
        """The name of the folder with the files of the commit."""
        return f"{self.repo.replace('/', '+')}-{self.commit[:12]}"


def parse_case(row: dict[str, Any]) -> Case:
    """Return the case of one JSON line. Raises KeyError for a missing field."""
    is_question = "question" in row
    functions: dict[str, list[str]] = dict(row.get("gold_functions") or {})
    for symbol in row.get("gold_symbols") or ():
        path, _, name = symbol.partition("::")
        functions.setdefault(path, []).append(name)
    lines = row.get("gold_lines")
    query = row["question"] if is_question else row["query"]
    return Case(
        row["id"],
        row["repo"],
        row.get("mirror_repo", row["repo"]),
        row["commit"] if is_question else row["parent_sha"],
        query,
        "question" if is_question else "fix",
        row.get("lang", "en"),
        row.get("en") or query,
        tuple(row["gold_files"]),
        functions,
        lines if isinstance(lines, dict) else {},
    )


def read_cases(path: Path, limit: int = 0, every: int = 1) -> list[Case]:
    """Return every ``every``-th of the first ``limit`` cases in ``path`` (0: all)."""
    lines = path.read_text(encoding="utf-8").splitlines()[: limit or None : every]
    return [parse_case(json.loads(line)) for line in lines]


def cases_with_trees(path: Path, trees: Path, limit: int = 0, every: int = 1) -> Iterator[tuple[Case, Path]]:
    """Yield the cases whose trees are there, with them."""
    for case in read_cases(path, limit, every):
        if (trees / case.tree_name).is_dir():
            yield case, trees / case.tree_name


def case_parser(description: str) -> argparse.ArgumentParser:
    """Return a parser with the options that every benchmark of cases has; ``read_case_options`` completes them."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("cases", type=Path, nargs="?")
    parser.add_argument("trees", type=Path, nargs="?")
    parser.add_argument("--limit", type=int, default=0, help="only the first N cases")
    parser.add_argument("--every", type=int, default=1, help="only every Nth case")
    parser.add_argument("--quick", action="store_true", help="only the first three cases")
    return parser


def read_case_options(parser: argparse.ArgumentParser) -> argparse.Namespace:
    """Return the options of the command line; ``--quick`` limits the cases to three."""
    options = parser.parse_args()
    options.limit = options.limit or (3 if options.quick else 0)
    return options
