"""Plain retrievers to compare with: BM25 over split identifiers, and ripgrep.

Both rank source files first, then tests and documentation, and read no history. Neither knows upbeat's stop words or
weights; BM25 shares only the splitting of identifiers.
"""

from __future__ import annotations

import math
import re
import shutil
import subprocess
from collections import Counter
from functools import lru_cache
from pathlib import Path

from upbeat.adapters.code.files.file_types import FileRole, classify_file
from upbeat.adapters.code.query.terms import split_identifier, stem
from upbeat.adapters.system.git.commands import list_files

K1 = 1.2
B = 0.75
MAX_BYTES = 1_000_000
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def _terms(text: str) -> list[str]:
    return [stem(part) for word in _WORD.findall(text) for part in split_identifier(word) if len(part) > 1]


@lru_cache(maxsize=2)
def _documents(tree: Path) -> dict[str, Counter[str]]:
    """Return the terms of every file of ``tree`` that is not data, its path included."""
    documents = {}
    for path in list_files(str(tree)).files:
        file = tree / path
        if classify_file(path).role is FileRole.DATA or not file.is_file() or file.stat().st_size > MAX_BYTES:
            continue
        documents[path] = Counter(_terms(f"{path}\n{file.read_text(encoding='utf-8', errors='replace')}"))
    return documents


def rank_by_bm25(query: str, tree: Path) -> list[str]:
    """Return the files of ``tree`` that share a term with ``query``, best first."""
    documents = _documents(tree)
    average = sum(map(Counter.total, documents.values())) / (len(documents) or 1) or 1.0
    scores: Counter[str] = Counter()
    for term in set(_terms(query)):
        having = [path for path, counts in documents.items() if term in counts]
        idf = math.log(1 + (len(documents) - len(having) + 0.5) / (len(having) + 0.5))
        for path in having:
            count, norm = documents[path][term], 1 - B + B * documents[path].total() / average
            scores[path] += idf * count * (K1 + 1) / (count + K1 * norm)
    return _sources_first(scores)


def rank_by_ripgrep(query: str, tree: Path) -> list[str]:
    """Return the files of ``tree`` by how many distinct words of ``query`` they contain.

    Raises:
        FileNotFoundError: ``rg`` is not installed.
    """
    if shutil.which("rg") is None:
        raise FileNotFoundError("rg (ripgrep) is not on PATH")
    scores: Counter[str] = Counter()
    for word in {word.lower() for word in _WORD.findall(query) if len(word) > 2}:
        command = ["rg", "--files-with-matches", "--ignore-case", "--fixed-strings", "--word-regexp", "--", word, "."]
        output = subprocess.run(command, cwd=tree, capture_output=True, text=True).stdout
        scores.update(line.removeprefix("./") for line in output.splitlines())
    return _sources_first(scores)


def _sources_first(scores: Counter[str]) -> list[str]:
    return sorted(scores, key=lambda path: (classify_file(path).role is not FileRole.SOURCE, -scores[path], path))
