"""Make a small set of cases with a mirror, so that the localization benchmarks run without arguments."""

from __future__ import annotations

import json
from pathlib import Path

from repositories import FILES, git, make_repository

REPOSITORY = "sample/shop"
QUESTIONS = (
    ("send_with_retry gives up one attempt too early", "shop/retry.py", "send_with_retry", (4, 9)),
    ("the total price of a cart ignores the discount", "shop/cart.py", "Cart.total_price", (2, 3)),
    ("fix RETRY_LIMIT: messages are sent three times, not five", "shop/retry.py", "send_with_retry", (1, 1)),
)
"""Query, gold file, gold function, and the first and last changed line."""


def make_sample(folder: Path) -> tuple[Path, Path]:
    """Make the sample below ``folder``; return the path of its cases and the folder of its mirrors."""
    mirrors, cases = folder / "mirrors", folder / "cases.jsonl"
    repository = mirrors / REPOSITORY.replace("/", "+") / "repo"
    repository.mkdir(parents=True)
    commit = git(make_repository(repository, FILES), "rev-parse", "HEAD")
    lines = []
    for number, (query, file, function, (first, last)) in enumerate(QUESTIONS):
        case = {
            "id": f"sample-{number}",
            "repo": REPOSITORY,
            "parent_sha": commit,
            "query": query,
            "gold_files": [file],
            "gold_functions": {file: [function]},
            "gold_lines": {file: list(range(first, last + 1))},
        }
        lines.append(json.dumps(case) + "\n")
    cases.write_text("".join(lines), encoding="utf-8")
    return cases, mirrors
