"""Check that code, documentation and messages use the terms of docs/glossary.md.

    .venv/bin/python .ci/check_terms.py [FILE...]

Without arguments every tracked text file is checked. Exit code 1: a file contains a word that the glossary's last
column rules out; each place is printed with the term to use instead.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
GLOSSARY = ROOT / "docs" / "glossary.md"
TEXT_SUFFIXES = {".md", ".py", ".sh", ".toml", ".txt", ".yml", ".json", ""}
EXEMPT = (
    "docs/glossary.md",
    "docs/decisions/",  # records of the past keep the words of their day
    "CHANGELOG.md",
    "LICENSE",
    "tests/recorded/",
    "core/journal/legacy_names.toml",  # names in journals of earlier versions
    "tests/core/journal/test_legacy.py",
    "tests/core/prompt/",  # prompts in users' own words
    "tests/planted/",
    "benchmarks/localization/",
    ".ci/check_terms.py",
)
DATA_SUFFIXES = (".tsv", ".svg", ".jsonl", ".lock")


def banned_words(glossary: str) -> dict[str, str]:
    """Return each ruled-out word of the glossary's tables with the term to use instead."""
    rows = [line.strip("|").split("|") for line in glossary.splitlines() if line.startswith("|")]
    return {
        word.strip(): cells[0].strip()
        for cells in rows
        if len(cells) == 3 and not set(cells[0]) <= set("- ") and cells[0].strip() != "term"
        for word in cells[2].split(",")
        if word.strip()
    }


def tracked_files() -> list[str]:
    """Return the paths of all tracked files, relative to the root."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [path for path in listed.stdout.split("\0") if path]


def is_checked(path: str) -> bool:
    """Whether the file is text that the project wrote."""
    file = ROOT / path
    return (
        not path.startswith(EXEMPT)
        and not path.endswith(DATA_SUFFIXES)
        and file.suffix in TEXT_SUFFIXES
        and file.is_file()
        and not file.is_symlink()
    )


def violations(paths: Sequence[str], banned: dict[str, str]) -> Iterator[str]:
    """Yield one line for each banned word: file, line number, word, term to use."""
    pattern = re.compile(
        r"(?<![\w-])(?:" + "|".join(re.escape(word) for word in sorted(banned, key=len, reverse=True)) + r")(?![\w-])",
        re.IGNORECASE,
    )
    terms = {word.lower(): term for word, term in banned.items()}
    for path in paths:
        for number, line in enumerate((ROOT / path).read_text(encoding="utf-8", errors="replace").splitlines(), 1):
            for match in pattern.finditer(line):
                yield f"{path}:{number}: {match[0]!r}: write {terms[match[0].lower()]!r}"


def main(arguments: Sequence[str]) -> int:
    """Check the named files, or all; return the exit code."""
    banned = banned_words(GLOSSARY.read_text(encoding="utf-8"))
    found = list(violations(arguments or [path for path in tracked_files() if is_checked(path)], banned))
    print(*found[:200], sep="\n")
    if found:
        print(f"check_terms: {len(found)} places use words that docs/glossary.md rules out", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
