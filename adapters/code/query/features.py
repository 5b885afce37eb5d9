"""Feature extraction: where and how often one candidate file has the terms and names of a query.

Invariant: features come from a document alone, so that a file yields the same features from the index and from its
text. Definitions and lines are added only for files that rank well as a whole.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import compress, pairwise

from upbeat.adapters.code.files.file_types import classify_file
from upbeat.adapters.code.index import document as documents
from upbeat.adapters.code.query.parse_query import SearchQuery
from upbeat.adapters.code.query.terms import joined_key, terms_in

FIRST_LOCAL_ID = 1 << 31
"""Word ids from here on belong to documents that are built on the spot; those of an index are smaller."""


@dataclass(frozen=True, slots=True)
class TermMatch:
    """What one word of a file matches in the query.

    Attributes:
        terms: The query's terms that the word contains; ``neighbors`` are neighbors of terms.
        name_likeness: How likely the query means exactly this word as an identifier (0..1).
        joined_weight: Weight of the word as neighboring words of the query written as one; ``key`` is its joined key.
        exact_weights: The names under which the word is an exact match, with their weights.
        is_plain: Whether the word only contains one term, as most do.
    """

    word: str
    terms: tuple[str, ...]
    name_likeness: float = 0.0
    joined_weight: float = 0.0
    key: str = ""
    neighbors: tuple[str, ...] = ()
    exact_weights: Mapping[str, float] = field(default_factory=dict)
    is_plain: bool = False


@dataclass(slots=True)
class DefinitionHits:
    """The hits inside one definition.

    Attributes:
        position: Index of the definition in the outline; -1 for the lines outside all definitions.
        line_terms: The terms of each hit with its line (from 1); filled last, for files that are shown.
        score: Computed by ``rank`` on first use.
    """

    position: int
    terms: dict[str, int] = field(default_factory=dict)
    neighbors: dict[str, int] = field(default_factory=dict)
    exact_names: dict[str, float] = field(default_factory=dict)
    line_terms: list[tuple[int, tuple[str, ...]]] = field(default_factory=list)
    score: float | None = None


@dataclass(slots=True)
class FileFeatures:
    """All hits of one file.

    Attributes:
        text_lines: The lines of the file; filled last, for files that are shown, like ``DefinitionHits.line_terms``.
        word_lines: The lines of the document's words; for files whose definitions count.
        qualified_positions: Definitions that the query names with their owner, as in ``Session.send``.
        compounds: Words of the file that contain several terms of the query, with these terms.
        terms_by_defined_name: Names that the file defines, with the terms of the query in them.
        lines_of_terms: The lines (from 1) on which each term occurs.
        phrases: Phrases of the query that the file contains, as terms.
        literals: Quoted texts of the query that the file contains.
        coverages: For a plain question, how much of it each definition covers (``coverage``), the path, and all names.
    """

    path: str
    document: documents.StoredDocument
    text_lines: list[str] = field(default_factory=list)
    word_lines: documents.WordLines | None = None
    term_counts: dict[str, int] = field(default_factory=dict)
    neighbor_counts: dict[str, int] = field(default_factory=dict)
    name_counts: Counter[str] = field(default_factory=Counter)
    joined_names: dict[str, float] = field(default_factory=dict)
    defined_names: dict[str, float] = field(default_factory=dict)
    qualified_positions: set[int] = field(default_factory=set)
    compounds: dict[str, tuple[str, ...]] = field(default_factory=dict)
    terms_by_defined_name: dict[str, tuple[str, ...]] = field(default_factory=dict)
    definition_hits: dict[int, DefinitionHits] = field(default_factory=dict)
    lines_of_terms: dict[str, set[int]] = field(default_factory=lambda: defaultdict(set))
    phrases: list[tuple[str, ...]] = field(default_factory=list)
    literals: list[str] = field(default_factory=list)
    coverages: dict[int, float] = field(default_factory=dict)
    path_coverage: float = 0.0
    name_coverage: float = 0.0


def _has_common_line(features: FileFeatures, terms: tuple[str, ...]) -> bool:
    """Return whether one line has all of ``terms``, as a line with the phrase or literal does."""
    lines = features.lines_of_terms
    for term in terms:
        if term not in lines:
            return False
    first, *others = sorted([lines[term] for term in terms], key=len)
    return bool(first.intersection(*others))


class FeatureExtractor:
    """Extracts features for one query. What a word means to the query is computed once for all files."""

    def __init__(self, search_query: SearchQuery) -> None:
        self.search_query = search_query
        self._matches: dict[str, TermMatch | None] = {}
        self._matches_by_id: dict[int, TermMatch | None] = {}
        self._matching_words: dict[documents.StoredDocument, list[tuple[int, TermMatch]]] = {}
        self.words_by_id: dict[int, str] = {}
        """Words that may match the query, by their ids in documents, which are searched for no others."""
        self._local_ids: dict[str, int] = {}
        self._qualified_names = {pair for dotted in search_query.dotted_names for pair in pairwise(dotted)}

    def build_document(self, path: str, text: str) -> tuple[documents.IndexedDocument, documents.StoredDocument]:
        """Build the document of ``text`` with only the words that match the query."""
        document = documents.build_document(
            text, classify_file(path).language, lambda word: self._match(word) is not None
        )
        for word in document.words:
            if word not in self._local_ids:
                word_id = self._local_ids[word] = FIRST_LOCAL_ID + len(self._local_ids)
                self.words_by_id[word_id] = word
        return document, documents.StoredDocument(
            documents.encode_indexed_document(document, [self._local_ids[word] for word in document.words])
        )

    def extract(self, path: str, text: str) -> FileFeatures:
        """Return all features of ``text``, with definitions and lines."""
        document, stored = self.build_document(path, text)
        features = self.extract_summary(path, stored)
        self.add_details(features, documents.WordLines(documents.encode_lines(document)), lambda: text)
        self.add_line_terms(features, text)
        return features

    def extract_summary(self, path: str, document: documents.StoredDocument) -> FileFeatures:
        """Return the features of the file as a whole."""
        features = FileFeatures(path, document)
        term_counts = features.term_counts
        for index, match in self.matching_words(document):
            count = document.count_of(index)
            for term in match.terms:
                term_counts[term] = term_counts.get(term, 0) + count
            if match.is_plain:
                continue
            for term in match.neighbors:
                features.neighbor_counts[term] = features.neighbor_counts.get(term, 0) + count
            if len(match.terms) > 1:
                features.compounds[match.word] = match.terms
            if match.name_likeness:
                features.name_counts[match.word] += count
            if match.joined_weight:
                features.joined_names[match.key] = match.joined_weight
        self._add_definitions(features)
        return features

    def add_details(
        self, features: FileFeatures, word_lines: documents.WordLines, read_text: Callable[[], str | None]
    ) -> None:
        """Add the hits of each definition, the lines of each term, and quoted phrases and literals.

        ``read_text`` is called only when the file may hold a phrase or literal of the query.
        """
        features.word_lines = word_lines
        hits_by_position = features.definition_hits
        for index, match in self.matching_words(features.document):
            terms, is_plain = match.terms, match.is_plain
            if terms:
                lines = word_lines.lines_of(index)
                for term in terms:
                    features.lines_of_terms[term].update(lines)
            for position, count in zip(*features.document.enclosing_of(index), strict=True):
                hits = hits_by_position.get(position)
                if hits is None:
                    hits = hits_by_position[position] = DefinitionHits(position)
                found = hits.terms
                for term in terms:
                    found[term] = found.get(term, 0) + count
                if not is_plain:
                    for term in match.neighbors:
                        hits.neighbors[term] = hits.neighbors.get(term, 0) + count
                    hits.exact_names.update(match.exact_weights)
        query = self.search_query
        phrases = [item for item in query.phrases.items() if _has_common_line(features, item[1])]
        literals = [literal for literal, terms in query.literals.items() if _has_common_line(features, terms)]
        content = (read_text() or "") if phrases or literals else ""
        lowercase = content.lower() if phrases else ""
        features.phrases += [terms for phrase, terms in phrases if phrase in lowercase]
        features.literals += [literal for literal in literals if literal in content]

    def add_line_terms(self, features: FileFeatures, text: str) -> None:
        """Add the lines of ``text``, and to the hits of each definition the terms of each line."""
        assert features.word_lines
        features.text_lines = text.split("\n")
        document, hits_by_position = features.document, features.definition_hits
        nesting = document.definitions.nesting
        for index, match in self.matching_words(document):
            positions, lines, terms = document.enclosing_of(index)[0], features.word_lines.lines_of(index), match.terms
            if len(positions) == 1:
                hits_by_position[positions[0]].line_terms += [(line, terms) for line in lines]
                continue
            for line in lines:
                position = nesting.enclosing_position(line)
                if position not in positions:  # above the definition that it documents; several may begin in one line
                    below = nesting.position_below(line)
                    position = next((other for other in positions if other >= below), positions[-1])
                hits_by_position[position].line_terms.append((line, terms))

    def matching_words(self, document: documents.StoredDocument) -> list[tuple[int, TermMatch]]:
        """Return the positions of those words of the document that match the query, with what they match."""
        matching = self._matching_words.get(document)
        if matching is not None:
            return matching
        known, ids, words = self._matches_by_id, document.word_ids, self.words_by_id
        matching = []
        for index in compress(range(len(ids)), map(words.__contains__, ids)):
            word_id = ids[index]
            if word_id not in known:
                known[word_id] = self._match(words[word_id])
            match = known[word_id]
            if match:
                matching.append((index, match))
        self._matching_words[document] = matching
        return matching

    def _match(self, word: str) -> TermMatch | None:
        """Return what ``word`` matches in the query; None for nothing."""
        if word in self._matches:
            return self._matches[word]
        query = self.search_query
        if word.isascii():
            parts = terms_in(word)
            terms = tuple([term for term in parts if term in query.terms])
            neighbors = tuple([term for term in parts if term in query.neighbors])
        else:  # a pair of CJK characters
            terms, neighbors = (word,) if word in query.terms else (), ()
        name = query.names.get(word, 0.0)
        key = joined_key(word) if query.joined_names else ""
        joined = query.joined_names.get(key, 0.0)
        exact = ({word: name} if name else {}) | ({key: joined} if joined else {})
        is_plain = len(terms) == 1 and not neighbors and not exact
        is_match = terms or neighbors or exact
        match = TermMatch(word, terms, name, joined, key, neighbors, exact, is_plain) if is_match else None
        self._matches[word] = match
        return match

    def _add_definitions(self, features: FileFeatures) -> None:
        for position, name in enumerate(features.document.definitions.names):
            match = self._matches.get(name)
            if not match:
                continue
            features.terms_by_defined_name[name] = match.terms
            owner = features.document.definitions[position].parent if self._qualified_names else ""
            if (owner, name) in self._qualified_names:
                features.qualified_positions.add(position)
            if match.name_likeness:
                features.defined_names[name] = match.name_likeness
