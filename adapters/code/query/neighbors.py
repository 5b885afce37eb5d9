"""Neighbors of words: what code and its comments call the things that a question says in other words.

Invariant: a pure function of the query's words and one table of the package, ``word_neighbors.tsv``, which
``benchmarks/word_neighbors`` builds. A line has a word or a phrase of two or three words, as terms, and its neighbors,
best first, each with how close it is (0..99). The lines are sorted and searched without being parsed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from upbeat.adapters.code.query.terms import stem
from upbeat.core.package_data import load_text

NEIGHBOR_WEIGHT = 0.6
"""Weight of a neighbor at distance zero, compared with the word itself."""

MAX_NEIGHBORS = 5
"""Neighbors of one word that count; ten were no better on any set of questions, and cost a tenth of a search."""

MAX_EXPANDED_TERMS = 12
"""Terms of a query beyond which it has words enough of its own."""

SPELLINGS = (
    *(("our", "or"), ("isat", "izat"), ("is", "iz"), ("ys", "yz"), ("ell", "el"), ("ogu", "og"), ("enc", "ens")),
    ("grey", "gray"),
)
"""British and American endings of terms: colour, organisation, initialise, analyse, cancelled, catalogue, licence."""

MIN_SPELLED = 4
"""Letters of a term that may have another spelling."""

PHRASE_OFFSETS = ((0, 1, 2), (0, 1), (0, 2), (0, 3))
"""Places of a phrase's words: two of them may have others between them, as in to throw old keys away."""


@dataclass(frozen=True, slots=True)
class Neighbor:
    """A neighbor of the query's word or phrase ``origin``, with its weight beside the terms of the query.

    ``is_spelling``: it is the same word in British or American spelling.
    """

    origin: str
    weight: float
    is_spelling: bool = False


def find_neighbors(words: Sequence[str], term_weights: Mapping[str, float]) -> dict[str, Neighbor]:
    """Return the neighbors of a query's terms and phrases that are not its terms themselves.

    A phrase replaces the neighbors of its words: to log out has little to do with a log. Words that translate Chinese
    have none: a translation gives several words already.

    Args:
        words: The words of the query in order, in lowercase, with stop words.
        term_weights: Its terms, heaviest first.
    """
    neighbors: dict[str, Neighbor] = {}
    term_weights = {term: weight for term, weight in term_weights.items() if term.isascii()}
    if len(term_weights) > MAX_EXPANDED_TERMS:
        return neighbors
    for term, weight in term_weights.items():
        for variant in iter_spellings(term):
            if variant not in term_weights:
                neighbors[variant] = Neighbor(term, weight, is_spelling=True)
    for origin, weight, listed in _entries([stem(word) for word in words], term_weights):
        for item in listed.split(" ", MAX_NEIGHBORS)[:MAX_NEIGHBORS]:
            term, _, closeness = item.partition(":")
            total = NEIGHBOR_WEIGHT * weight * int(closeness) / 100
            if term not in term_weights and (term not in neighbors or neighbors[term].weight < total):
                neighbors[term] = Neighbor(origin, total)
    return neighbors


def iter_spellings(term: str) -> Iterator[str]:
    """Yield ``term`` in British or American spelling, if it may have another one: whether it has, the files tell."""
    for british, american in SPELLINGS:
        for ending, other in ((british, american), (american, british)):
            if term.endswith(ending) and len(term) >= MIN_SPELLED:
                yield term.removesuffix(ending) + other
                return


def _entries(terms: Sequence[str], term_weights: Mapping[str, float]) -> Iterator[tuple[str, float, str]]:
    """Yield the words and phrases that the table has, with their weights in the query and their neighbors."""
    text = load_text("upbeat.adapters.code.query", "word_neighbors.tsv")
    heaviest = max(term_weights.values(), default=0.0)
    covered: set[int] = set()
    for offsets in PHRASE_OFFSETS:
        for start in range(len(terms) - offsets[-1]):
            places = [start + offset for offset in offsets]
            origin = " ".join([terms[place] for place in places])
            listed = "" if covered.intersection(places) else find_line(text, origin)
            if listed:
                covered.update(places)
                yield origin, max(term_weights.get(terms[place], 0.0) for place in places) or heaviest, listed
    replaced = {terms[place] for place in covered}
    for term in dict.fromkeys(terms):
        listed = find_line(text, term) if term in term_weights and term not in replaced else ""
        if listed:
            yield term, term_weights[term], listed


def find_line(text: str, key: str) -> str:
    """Return what follows ``key`` and a tab in ``text``, whose lines are sorted and complete; else the empty string."""
    low, high = 0, len(text)
    while low < high:
        middle = (low + high) // 2
        start = text.rfind("\n", low, middle) + 1 or low
        end = text.index("\n", middle)
        found, _, rest = text[start:end].partition("\t")
        if found == key:
            return rest
        low, high = (end + 1, high) if found < key else (low, start)
    return ""
