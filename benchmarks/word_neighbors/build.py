"""Build ``adapters/code/query/word_neighbors.tsv``: what code calls the things that people say in other words.

    python -m benchmarks.word_neighbors.build [--quick]

``usage.tsv`` beside this module has the usage of the field, one line for one notion. Words become terms, so that a
repository's own inflections match.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from upbeat.adapters.code.query import neighbors, terms

HERE = Path(__file__).parent
TABLE = Path(neighbors.__file__).with_name("word_neighbors.tsv")
HEADER = "# Words and phrases as terms, each with its neighbors and how close they are (benchmarks/word_neighbors)\t\n"
MAX_NEIGHBORS = 8
FIRST_CLOSENESS, STEP = 95, 5
"""Closeness of the first word of a line, and how much less each further one has."""

GROUP_CLOSENESS, GROUP_STEP = 85, 3
"""The same for words that stand for each other."""

Table = dict[str, dict[str, int]]


def key_of(phrase: str) -> str:
    """Return the terms of ``phrase``, as a query is looked up."""
    return " ".join(terms.stem(word) for word in re.findall("[a-z0-9]+", phrase.lower()))


def read_usage(lines: Iterable[str]) -> Iterator[tuple[str, str, int]]:
    """Yield each word or phrase of ``usage.tsv`` with a neighbor and its closeness."""
    for line in lines:
        if line.startswith("="):
            group = list(dict.fromkeys(map(terms.stem, line[1:].split())))
            for word in group:
                others = [other for other in group if other != word]
                yield from ((word, other, GROUP_CLOSENESS - GROUP_STEP * place) for place, other in enumerate(others))
        elif line.strip() and not line.startswith("#"):
            said, _, meant = line.partition("\t")
            for phrase in said.split(","):
                for place, word in enumerate(meant.split()):
                    yield key_of(phrase), terms.stem(word), FIRST_CLOSENESS - STEP * place


def combine(entries: Iterable[tuple[str, str, int]]) -> Table:
    """Return the neighbors of each word, each with its largest closeness."""
    table: Table = defaultdict(dict)
    for key, neighbor, closeness in entries:
        if neighbor != key and closeness > table[key].get(neighbor, 0):
            table[key][neighbor] = closeness
    return table


def render(table: Table) -> str:
    """Return the table as sorted lines, the closest neighbors first."""
    lines = [HEADER]
    for key in sorted(key for key in table if table[key]):
        best = sorted(table[key].items(), key=lambda item: (-item[1], item[0]))[:MAX_NEIGHBORS]
        lines.append(key + "\t" + " ".join(f"{neighbor}:{closeness}" for neighbor, closeness in best) + "\n")
    return "".join(lines)


def main() -> None:
    """Write the table into the package; ``--quick`` only says whether it is up to date."""
    usage = (HERE / "usage.tsv").read_text(encoding="utf-8").splitlines()
    text = render(combine(read_usage(usage)))
    state = "up to date" if TABLE.read_text(encoding="utf-8") == text else "not up to date"
    print(f"{len(text.splitlines()) - 1} words and phrases; the table was {state}")
    if "--quick" not in sys.argv[1:]:
        TABLE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
