"""Mine localization cases from the fixes in the history of repositories, to fit weights to (module ``fit``).

    python -m benchmarks.localization.mine [MIRRORS CASES.jsonl] [--per-repo 14] [--seed 15] [--quick]

A fix is a commit whose subject says so, that changes one to four source files and neither adds nor removes one, in at
most ``MAX_LINES`` lines. Its message without names of the changed files, links, numbers and trailers is the query. The
oldest fifth of each history is left out, because its trees are small. Without arguments, the sample serves.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from upbeat.adapters.code.files.file_types import FileRole, classify_file

from .sample import make_sample
from .trees import git_directory

FIX = re.compile(r"\b(fix(e[sd]|ing)?|bug|regression|crash(es)?|broken|wrong|incorrect(ly)?|leak)\b", re.I)
OTHER = re.compile(
    r"typo|lint|flake8|mypy|typing|docs?\b|readme|changelog|tests?\b|\bci\b|travis|bump|version|merge|revert|spelling"
    r"|whitespace|format",
    re.I,
)
TRAILER = re.compile(r"^(signed-off-by|co-authored-by|reviewed-by|change-id|cc|git-svn-id):.*$", re.I | re.M)
REFERENCE = re.compile(r"https?://\S+|\(?(?:gh-|#)\d+\)?|\b[0-9a-f]{7,40}\b", re.I)
HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))?")
MAX_FILES, MAX_LINES, MAX_CHARS, MIN_WORDS = 4, 120, 6000, 4
NEWEST = 0.8
"""The part of a history that serves."""


def git(directory: Path, *arguments: str) -> str:
    """Return what git prints. Raises CalledProcessError."""
    command = ["git", f"--git-dir={directory}", *arguments]
    return subprocess.run(command, capture_output=True, text=True, errors="replace", check=True).stdout


def make_query(message: str, paths: list[str]) -> str:
    """Return the commit message without what a reporter would not write; empty if too little is left."""
    query = REFERENCE.sub("", TRAILER.sub("", message))
    for path in paths:
        query = query.replace(path, "").replace(path.rpartition("/")[2], "")
    query = query.strip()
    is_usable = len(re.findall(r"[A-Za-z]{3,}", query)) >= MIN_WORDS and len(query) <= MAX_CHARS
    return query if is_usable else ""


def find_fixes(directory: Path, repo: str) -> Iterator[dict[str, Any]]:
    """Yield a case for each fix in the newest part of the history, newest first."""
    log = git(directory, "log", "--no-merges", "--format=%x01%H%x02%P%x02%B%x03", "--name-status", "-M", "HEAD")
    records = log.split("\x01")[1:]
    for record in records[: int(len(records) * NEWEST)]:
        head, _, changes = record.rpartition("\x03")
        commit, parent, message = head.split("\x02", 2)
        subject = message.strip().partition("\n")[0]
        if not parent or not FIX.search(subject) or OTHER.search(subject):
            continue
        rows = [line.split("\t") for line in changes.splitlines() if line.strip()]
        sources = [row for row in rows if classify_file(row[-1]).role is FileRole.SOURCE]
        paths = [row[-1] for row in sources if row[0] == "M" and classify_file(row[-1]).language]
        query = make_query(message, paths)
        if query and 1 <= len(paths) <= MAX_FILES and all(row[0] == "M" for row in sources):
            identity = f"{repo.rpartition('/')[2]}-{commit[:10]}"
            row = {"id": identity, "repo": repo, "parent_sha": parent, "commit_sha": commit, "query": query}
            yield row | {"gold_files": paths}


def changed_lines(directory: Path, case: dict[str, Any]) -> dict[str, list[int]]:
    """Return the changed lines of each gold file, as they are numbered before the fix."""
    lines: dict[str, list[int]] = {}
    for path in case["gold_files"]:
        diff = git(directory, "diff", "-U0", case["parent_sha"], case["commit_sha"], "--", path)
        hunks = [(int(match[1]), int(match[2] or 1)) for match in map(HUNK.match, diff.splitlines()) if match]
        lines[path] = [line for start, count in hunks for line in range(start, start + max(count, 1))]
    return lines


def mine(directory: Path, repo: str, per_repo: int, seed: int) -> list[dict[str, Any]]:
    """Return up to ``per_repo`` cases of ``repo``; the same seed gives the same cases."""
    fixes = list(find_fixes(directory, repo))
    random.Random(f"{seed} {repo}").shuffle(fixes)
    kept: list[dict[str, Any]] = []
    for case in fixes:
        if len(kept) == per_repo:
            break
        lines = changed_lines(directory, case)
        if 0 < sum(map(len, lines.values())) <= MAX_LINES:
            kept.append(case | {"gold_lines": lines})
    return kept


def main() -> None:
    """Write the cases; print how many each repository has."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("mirrors", type=Path, nargs="?")
    parser.add_argument("cases", type=Path, nargs="?")
    parser.add_argument("--per-repo", type=int, default=14, help="cases of each repository")
    parser.add_argument("--seed", type=int, default=15)
    parser.add_argument("--quick", action="store_true", help="one case of each repository")
    options = parser.parse_args()
    if options.mirrors and not options.cases:
        parser.error("expected MIRRORS and CASES.jsonl, or no arguments")
    with tempfile.TemporaryDirectory() as folder:
        mirrors = options.mirrors or make_sample(Path(folder))[1]
        output = options.cases or Path(folder) / "mined.jsonl"
        with output.open("w", encoding="utf-8") as file:
            for mirror in sorted(mirrors.iterdir()):
                repo = mirror.name.replace("+", "/", 1)
                directory = git_directory(mirrors, repo)
                if directory is None:
                    continue
                found = mine(directory, repo, 1 if options.quick else options.per_repo, options.seed)
                file.writelines(f"{json.dumps(case)}\n" for case in found)
                print(f"{repo}: {len(found)} fixes")


if __name__ == "__main__":
    main()
