"""Coverage: how much of a plain question one definition has, in its name, documentation, code or place.

Invariant: a word of the question counts once, by the best of itself and its neighbors, and rare words count little
more than frequent ones: the answer has something of everything that is asked, not much of one thing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from upbeat.adapters.code.query.features import FileFeatures, TermMatch
from upbeat.adapters.code.query.parse_query import SearchQuery
from upbeat.adapters.code.query.terms import PACKAGE_STEMS, path_terms, terms_in
from upbeat.adapters.code.syntax.word_roles import WordRole

ROLE_WEIGHTS = {
    WordRole.NAME: 3.0,
    WordRole.PARAMETER: 0.5,
    WordRole.CODE: 0.3,
    WordRole.COMMENT: 0.5,
    WordRole.STRING: 0.4,
    WordRole.DOC: 4.0,
}
PLACE_WEIGHT = 1.0
"""Weight of a word in the names of the file and of the enclosing definitions; in those of its folders half of it."""

IDF_EXPONENT = 0.2
WEIGHT_EXPONENT = 0.4
"""How steeply the worth of a word grows with its rarity, and with its weight in the query; in Chinese with the weight
itself, which tells the English words of one term apart."""

CLOSENESS_EXPONENT = 0.5
"""How steeply the worth of a neighbor falls with its distance from the word."""

CJK_WEIGHT = 0.3
"""Weight of a pair of characters, of which each word has several, compared with a word."""

HALF_COUNT = 0.75
"""Weighted occurrences that are worth half of any number of them."""

HALF_NAMES = 1.0
"""Occurrences in names of a file that are worth half of any number of them."""

FILE_NAME_COUNT = 2
"""Names of definitions that are worth as much as the file's own."""

TYPICAL_LINES = 30
MAX_LENGTH_RATIO = 6.0
LENGTH_B = 0.5


class Coverage:
    """Scores files and their definitions for one question."""

    def __init__(self, search_query: SearchQuery, idf: Mapping[str, float]) -> None:
        self._worth: dict[str, tuple[str, float]] = {}
        """For each term and neighbor the word of the question that it stands for, and what it is worth."""
        heaviest = max(search_query.terms.values(), default=0.0)
        exponent = WEIGHT_EXPONENT if all(map(str.isascii, search_query.terms)) else 1.0
        for term, weight in search_query.terms.items():
            factor = 1.0 if term.isascii() else CJK_WEIGHT
            self._worth[term] = term, factor * weight**exponent * idf.get(term, 0.0) ** IDF_EXPONENT
        for term, near in search_query.neighbors.items():
            parts = [search_query.terms.get(part, 0.0) for part in near.origin.split(" ")]
            weight = max(parts) or heaviest
            closeness = min(near.weight / (weight or 1.0), 1.0) ** CLOSENESS_EXPONENT
            worth = closeness * weight**exponent * idf.get(term, 0.0) ** IDF_EXPONENT
            self._worth[term] = near.origin, worth

    def add_to(self, features: FileFeatures, matches: Iterable[tuple[int, TermMatch]]) -> None:
        """Add how much of the question the definitions, names and path of a file have.

        Args:
            matches: Those of the file's document.
        """
        document = features.document
        counts: dict[int, dict[str, float]] = defaultdict(lambda: defaultdict(float))
        names: dict[str, float] = defaultdict(float)
        norms: dict[int, float] = {}
        for index, match in matches:
            terms = match.terms + match.neighbors
            if not terms:
                continue
            for position, count, role in zip(*document.enclosing_of(index), document.roles_of(index), strict=True):
                amount = count * _WEIGHTS[role]
                if role != WordRole.DOC:
                    norm = norms.get(position)
                    if norm is None:
                        norm = norms[position] = _length_norm(features, position)
                    amount /= norm
                row = counts[position]
                for term in terms:
                    row[term] += amount
                if role == WordRole.NAME:
                    for term in terms:
                        names[term] += count
        places = {term: share for term, share in _place_terms(features.path).items() if term in self._worth}
        for term, share in places.items():
            if share == 1.0:
                names[term] += FILE_NAME_COUNT
        features.coverages = {
            position: self._score_definition(features, position, row, places) for position, row in counts.items()
        }
        features.path_coverage = self._total(places, 0.0)
        features.name_coverage = self._total(names, HALF_NAMES)

    def _score_definition(
        self, features: FileFeatures, position: int, counts: dict[str, float], places: Mapping[str, float]
    ) -> float:
        """Return the score of the definition with ``counts`` in the file that is called by ``places``."""
        for term, share in places.items():
            counts[term] += PLACE_WEIGHT * share
        for term in terms_in(features.document.definitions.owners[position]) if position >= 0 else ():
            if term in self._worth and term not in places:
                counts[term] += PLACE_WEIGHT
        return self._total(counts, HALF_COUNT)

    def _total(self, counts: Mapping[str, float], half: float) -> float:
        """Return what the words of the question are worth together, each by its best term; ``half`` saturates."""
        best: dict[str, float] = {}
        for term, count in counts.items():
            origin, worth = self._worth[term]
            worth *= count / (half + count) if half else count
            if worth > best.get(origin, 0.0):
                best[origin] = worth
        return sum(best.values())


def _place_terms(path: str) -> dict[str, float]:
    """Return the terms in the name of a file and, half as heavy, of its folders."""
    folder, _, name = path.rpartition("/")
    stem = name.partition(".")[0]
    if stem in PACKAGE_STEMS:
        stem = folder.rpartition("/")[2]
    return dict.fromkeys(path_terms(folder), 0.5) | dict.fromkeys(terms_in(stem), 1.0)


_WEIGHTS = [ROLE_WEIGHTS[role] for role in WordRole]


def _length_norm(features: FileFeatures, position: int) -> float:
    """Return by how much an occurrence in the definition counts less than in a short one."""
    lines = TYPICAL_LINES * 2
    if position >= 0:
        lines = features.document.definitions.line_count(position)
    return 1 - LENGTH_B + LENGTH_B * min(lines / TYPICAL_LINES, MAX_LENGTH_RATIO)
