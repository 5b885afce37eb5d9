"""The careful look at one candidate: how its text, names and path answer the question.

Law: a file is read as a whole, as its definitions and as a path, and each view gives its own numbers; what the
definitions and lines say is only asked of files that the rest speaks for. What a word means to the question is worked
out once for all files (``Reader``).
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from .index_doc import Kept, KeptLines, KeptOutline
from .outline import Outline
from .question import Question
from .scan import NAME_LIKENESS, PATH_FACTOR, idf_of, kind_of_cached, needles_of, path_terms
from .words import NAME, cjk_pairs, cjk_runs, joined_key, terms_of

K1 = 1.2
B = 0.5
WHOLE_B = 0.6
"""How much a long file is put back; more where all of its words count as one heap."""

FUNCTION_LINES = 30
"""The length of a definition that is neither favoured nor put back."""

OWNED_BONUS = 8.0
OWNED_FACTOR = 1.5
"""For a definition that the query names with its owner, as in ``Session.send``."""

DEFINED_FACTOR = 2.0
"""What a term in a definition's own name counts more than one in its body."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """What one word of a file says about the question. ``name`` is how likely it is meant exactly.

    ``key`` is the word as ``joined_key`` has it, ``exact`` says under which names it counts, and how much.
    """

    word: str
    terms: tuple[str, ...]
    name: float = 0.0
    joined: float = 0.0
    key: str = ""
    exact: Mapping[str, float] = field(default_factory=dict)


@dataclass(slots=True)
class Part:
    """The hits inside one definition (position in the outline; -1 for the lines outside of all)."""

    position: int
    terms: dict[str, int] = field(default_factory=dict)
    exact: dict[str, float] = field(default_factory=dict)
    hits: list[tuple[int, tuple[str, ...]]] = field(default_factory=list)
    norm: float = 0.0
    """How its length counts, the terms of its own name, and what it is worth, once they were asked for."""
    own: tuple[str, ...] = ()
    score: float | None = None


@dataclass(slots=True)
class Profile:
    """All hits of one file."""

    path: str
    outline: Outline | KeptOutline
    length: int
    terms: dict[str, int]
    names: Counter[str]
    joined: dict[str, float]
    defined_names: dict[str, float]
    defined_joined: dict[str, float]
    parts: dict[int, Part]
    phrases: list[tuple[str, ...]]
    owned: set[int]
    """Positions of definitions that the query names with their owner."""

    compounds: dict[str, tuple[str, ...]]
    """Words of the file that hold several terms of the question, with these."""

    lines: dict[str, set[int]]
    """The lines on which each term stands."""

    literals: list[str]
    """What the question has in quotes and the file has too."""

    defined: dict[str, tuple[str, ...]]
    """Names that are defined in the file, with the terms of the question in them."""


def _empty(path: str, outline: Outline | KeptOutline, length: int) -> Profile:
    return Profile(path, outline, length, {}, Counter(), {}, {}, {}, {}, [], set(), {}, defaultdict(set), [], {})


def _may_hold(profile: Profile, terms: tuple[str, ...]) -> bool:
    """Whether one line has all of ``terms``, as one with the phrase or literal has."""
    lines = profile.lines
    for term in terms:
        if term not in lines:
            return False
    first, *others = sorted([lines[term] for term in terms], key=len)
    shared = first.intersection(*others)
    return bool(shared)


class Reader:
    """Profiles files for one question."""

    def __init__(self, question: Question) -> None:
        self.question = question
        self._meanings: dict[str, Meaning | None] = {}
        self._known: dict[int, Meaning | None] = {}
        """The same for words of the index, by their numbers."""
        self._owned = {pair for dotted in question.dotted for pair in pairwise(dotted)}

    def profile(self, path: str, text: str) -> Profile:
        """Every hit of the question in ``text``, by file and by definition."""
        outline = Outline(text, kind_of_cached(path).language)
        profile = _empty(path, outline, len(text))
        for match in NAME.finditer(text):
            word = match.group()
            meaning = self._meaning_of(word)
            if meaning:
                line = outline.line_at(match.start())
                self._add(profile, meaning, outline.around(line)).hits.append((line, meaning.terms))
                for term in meaning.terms:
                    profile.lines[term].add(line)
        if not text.isascii():
            self._add_cjk(profile, outline)
        self._add_definitions(profile)
        self._add_quotes(profile, lambda: text)
        return profile

    def sketch(self, path: str, kept: Kept, words: Mapping[int, str]) -> Profile:
        """The same, as far as it is about the file as a whole, from what the index keeps of it.

        Of the file's words only ``words`` can have a meaning.
        """
        profile = _empty(path, kept.outline(), kept.length)
        known, ids, count_of, in_file = self._known, kept.ids, kept.count_of, profile.terms
        for at in kept.among(words):
            number = ids[at]
            meaning = known[number] if number in known else self._learn(number, words[number])
            if meaning is None:
                continue
            total = count_of(at)
            terms = meaning.terms
            for term in terms:
                in_file[term] = in_file.get(term, 0) + total
            if len(terms) > 1:
                profile.compounds[meaning.word] = terms
            if meaning.exact:
                if meaning.name:
                    profile.names[meaning.word] += total
                if meaning.joined:
                    profile.joined[meaning.key] = meaning.joined
        self._add_definitions(profile)
        return profile

    def _learn(self, number: int, word: str) -> Meaning | None:
        found = self._known[number] = self._meaning_of(word)
        return found

    def complete(
        self, profile: Profile, kept: Kept, lines: KeptLines, words: Mapping[int, str], text: Callable[[], str | None]
    ) -> None:
        """Give ``profile``, a ``sketch`` of ``kept``, its definitions and lines, and what is quoted; but no hits.

        ``text`` reads the file, and is called only when it may hold a phrase of the question.
        """
        known, ids, parts, on_line = self._known, kept.ids, profile.parts, profile.lines
        for at in kept.among(words):
            meaning = known[ids[at]]
            if meaning is None:
                continue
            terms, exact = meaning.terms, meaning.exact
            if terms:
                its = lines.of(at)
                for term in terms:
                    on_line[term].update(its)
            for position, count in zip(*kept.homes_of(at), strict=True):
                part = parts.get(position)
                if part is None:
                    part = parts[position] = Part(position)
                in_part = part.terms
                for term in terms:
                    in_part[term] = in_part.get(term, 0) + count
                if exact:
                    part.exact.update(exact)
        self._add_quotes(profile, text)

    def _add_quotes(self, profile: Profile, text: Callable[[], str | None]) -> None:
        """The phrases and literals of the question that the file has; ``text`` is read only if it may have one."""
        phrases = {phrase: terms for phrase, terms in self.question.phrases.items() if _may_hold(profile, terms)}
        literals = [literal for literal, terms in self.question.literals.items() if _may_hold(profile, terms)]
        written = (text() or "") if phrases or literals else ""
        lowered = written.lower() if phrases else ""
        profile.phrases += [terms for phrase, terms in phrases.items() if phrase in lowered]
        profile.literals += [literal for literal in literals if literal in written]

    def _meaning_of(self, word: str) -> Meaning | None:
        try:
            return self._meanings[word]
        except KeyError:
            meaning = self._meanings[word] = self._meaning(word)
            return meaning

    def _meaning(self, word: str) -> Meaning | None:
        question = self.question
        if not word.isascii():  # a pair of CJK characters
            return Meaning(word, (word,)) if word in question.terms else None
        terms = tuple([term for term in terms_of(word) if term in question.terms])
        name = question.names.get(word, 0.0)
        key = joined_key(word) if question.joined else ""
        joined = question.joined.get(key, 0.0)
        if not (terms or name or joined):
            return None
        exact = {word: name} if name else {}
        return Meaning(word, terms, name, joined, key, exact | {key: joined} if joined else exact)

    def add_hits(self, profile: Profile, kept: Kept, lines: KeptLines, words: Mapping[int, str]) -> None:
        """Give ``profile``, which comes from ``kept``, the lines of its hits."""
        around, parts = profile.outline.around, profile.parts
        hits: dict[int, list[tuple[int, tuple[str, ...]]]] = {}
        for at in kept.among(words):
            meaning = self._known.get(kept.ids[at])
            if meaning is None:
                continue
            terms = meaning.terms
            positions = kept.homes_of(at)[0]
            if len(positions) == 1:
                parts[positions[0]].hits.extend([(line, terms) for line in lines.of(at)])
                continue
            for line in lines.of(at):
                its = hits.get(line)
                if its is None:
                    its = hits[line] = parts[around(line)].hits
                its.append((line, terms))

    def _add(self, profile: Profile, meaning: Meaning, position: int) -> Part:
        """A word stands once in the definition at ``position``."""
        part = profile.parts.get(position)
        if part is None:
            part = profile.parts[position] = Part(position)
        in_file, in_part = profile.terms, part.terms
        for term in meaning.terms:
            in_file[term] = in_file.get(term, 0) + 1
            in_part[term] = in_part.get(term, 0) + 1
        if len(meaning.terms) > 1:
            profile.compounds[meaning.word] = meaning.terms
        if meaning.name:
            profile.names[meaning.word] += 1
        if meaning.joined:
            profile.joined[meaning.key] = meaning.joined
        part.exact.update(meaning.exact)
        return part

    def _add_cjk(self, profile: Profile, outline: Outline) -> None:
        """Hits of pairs of CJK characters, line by line."""
        wanted = {term for term in self.question.terms if not term.isascii()}
        if not wanted:
            return
        for number, line in enumerate(outline.lines, 1):
            if line.isascii():
                continue
            for pair in cjk_pairs(" ".join(cjk_runs(line))):
                if pair in wanted:
                    part = self._add(profile, Meaning(pair, (pair,)), outline.around(number))
                    part.hits.append((number, (pair,)))
                    profile.lines[pair].add(number)

    def _add_definitions(self, profile: Profile) -> None:
        for position, name in enumerate(profile.outline.names):
            meaning = self._meanings.get(name)
            if not meaning:
                continue
            profile.defined[name] = meaning.terms
            if self._owned and (profile.outline.definitions[position].owner, name) in self._owned:
                profile.owned.add(position)
            if meaning.name:
                profile.defined_names[name] = meaning.name
            if meaning.joined:
                profile.defined_joined[meaning.key] = meaning.joined


@dataclass(frozen=True, slots=True)
class Corpus:
    """What is known of all candidates together: how telling terms and names are, and the usual length.

    ``gains`` and ``title_gains`` say what one hit of a term of the question, and of its first line, is worth;
    ``whole`` and ``whole_names`` say the same of a hit in the whole of a file, of a term and of a name that were
    counted in the first pass; ``counted`` has their inverse frequencies.
    """

    idf: dict[str, float]
    name_idf: dict[str, float]
    average: float
    gains: dict[str, float]
    title_gains: dict[str, float]
    counted: dict[str, float]
    whole: dict[str, float]
    whole_names: dict[str, float]


def survey(profiles: list[Profile], question: Question, counted: dict[str, float], total: int) -> Corpus:
    """The corpus of ``profiles``; ``counted`` has the inverse frequencies of the first pass over ``total`` files."""
    size = len(profiles) or 1
    found = Counter(term for profile in profiles for term in profile.terms)
    idf = {}
    for term, frequency in found.items():
        among = math.log(1 + (size - frequency + 0.5) / (frequency + 0.5)) + 0.1
        idf[term] = max(counted[term], among) if term in counted else among + math.log(max(total / size, 1.0)) / 2
    names = Counter(name for profile in profiles for name in (*profile.names, *profile.joined))
    name_idf = {name: math.log(1 + (size - n + 0.5) / (n + 0.5)) + 0.2 for name, n in names.items()}
    average = sum(profile.length for profile in profiles) / size or 1.0
    gains, title_gains = (
        {term: weight * idf[term] for term, weight in weights.items() if term in idf}
        for weights in (question.terms, question.title)
    )
    needles = [needle for needle in needles_of(question) if needle.key in counted]
    whole, whole_names = (
        {needle.key: needle.weight * counted[needle.key] for needle in needles if needle.is_name is is_name}
        for is_name in (False, True)
    )
    return Corpus(idf, name_idf, average, gains, title_gains, counted, whole, whole_names)


def part_score(profile: Profile, part: Part, corpus: Corpus) -> float:
    """How well one definition answers: its terms, weighed by rarity and length, and exact names."""
    if part.score is None:
        part.score = _part_score(profile, part, corpus)
    return part.score


def _part_score(profile: Profile, part: Part, corpus: Corpus) -> float:
    total = term_score(profile, part, corpus.gains)
    if part.position in profile.owned:
        total = total * OWNED_FACTOR + OWNED_BONUS
    if part.exact:
        name = profile.outline.definitions[part.position].name if part.position >= 0 else ""
        own = (name, joined_key(name))
        for exact, weight in part.exact.items():
            total += (3.0 if exact in own else 1.0) * weight * corpus.name_idf.get(exact, 0.0)
    return total


def term_score(profile: Profile, part: Part, gains: dict[str, float]) -> float:
    """What the terms of one definition are worth, each by ``gains``."""
    if not part.norm:
        length = FUNCTION_LINES * 2
        if part.position >= 0:
            definition = profile.outline.definitions[part.position]
            part.own = terms_of(definition.name)
            length = definition.end_line - definition.start_line + 1
        part.norm = K1 * (1 - B + B * min(length / FUNCTION_LINES, 6.0))
    own, norm = part.own, part.norm
    total = 0.0
    for term, count in part.terms.items():
        gain = gains.get(term)
        if gain:
            total += (DEFINED_FACTOR if term in own else 1.0) * gain * count * (K1 + 1) / (count + norm)
    return total


def measure(profile: Profile, question: Question, corpus: Corpus, named: float) -> dict[str, float]:
    """The raw numbers of one file as a whole; see ``rank.WEIGHTS`` for what they are worth."""
    norm = K1 * (1 - B + B * min(profile.length / corpus.average, 6.0))
    saturated = {term: count * (K1 + 1) / (count + norm) for term, count in profile.terms.items()}
    folder, _, name = profile.path.rpartition("/")
    stem = name.partition(".")[0] or name
    stem_terms = terms_of(stem)
    in_stem = [term for term in stem_terms if term in question.terms]
    share = len(in_stem) / (len(stem_terms) or 1)
    rare = corpus.name_idf
    return {
        "body": _weigh(corpus.gains, saturated),
        "title": _weigh(corpus.title_gains, saturated),
        "whole": _whole(profile, question, corpus),
        "length": math.log1p(profile.length),
        "definition": max((_covered(n, terms, corpus.gains) for n, terms in profile.defined.items()), default=0.0),
        "compound": max((_compound(n, terms, corpus) for n, terms in profile.compounds.items()), default=0.0),
        "folder": _weigh(corpus.gains, dict.fromkeys(path_terms(folder), 1.0)),
        "stem_title": _weigh(corpus.title_gains, dict.fromkeys(in_stem, share)),
        "symbols": math.log1p(len(profile.owned)),
        "names_defined": sum(w * rare.get(n, 0.0) for n, w in profile.defined_names.items() if w >= NAME_LIKENESS),
        **_used(profile, question, rare),
        "joined_used": sum(w * rare.get(n, 0.0) for n, w in profile.joined.items()),
        "joined_stem": question.joined.get(joined_key(stem), 0.0),
        "stem_named": max(question.names.get(stem, 0.0), question.names.get(stem.capitalize(), 0.0)),
        "named": named,
    }


def measure_closely(profile: Profile, corpus: Corpus, literal_idf: Mapping[str, float]) -> dict[str, float]:
    """The raw numbers of its definitions and lines, and of what is quoted; ``literal_idf`` is of the literals."""
    parts = sorted((part_score(profile, part, corpus) for part in profile.parts.values()), reverse=True)
    return {
        "three_parts": sum(parts[:3]),
        "phrases": sum(sum(corpus.idf.get(term, 0.0) for term in terms) for terms in profile.phrases),
        "literals": sum(literal_idf[literal] for literal in profile.literals),
        "line": _best_line(profile, corpus.gains),
    }


def rarity_of_literals(profiles: Collection[Profile], total: int) -> dict[str, float]:
    """How telling each literal is that some of ``profiles`` have, which are the best of ``total``."""
    literals = Counter(literal for profile in profiles for literal in profile.literals)
    return {literal: idf_of(total, count) for literal, count in literals.items()}


def _best_line(profile: Profile, gains: dict[str, float]) -> float:
    """What the terms that meet on one line are worth, on the line where that is most."""
    totals: dict[int, float] = defaultdict(float)
    for term, lines in profile.lines.items():
        gain = gains.get(term, 0.0)
        for line in lines:
            totals[line] += gain
    return max(totals.values(), default=0.0)


def _weigh(gains: dict[str, float], amounts: dict[str, float]) -> float:
    return sum(gains.get(term, 0.0) * amount for term, amount in amounts.items())


def _used(profile: Profile, question: Question, rare: dict[str, float]) -> dict[str, float]:
    """Words of the question as they stand there: those that look like names of code, and the others."""
    names = words = 0.0
    for name, count in profile.names.items():
        likeness = question.names[name]
        worth = likeness * rare.get(name, 0.0) * count * 2 / (count + 1.0)
        if likeness >= NAME_LIKENESS:
            names += worth
        else:
            words += worth
    return {"names_used": names, "words_used": words}


def _whole(profile: Profile, question: Question, corpus: Corpus) -> float:
    """The rough sum of the first pass, from what the careful look found: text, names and path together."""
    norm = K1 * (1 - WHOLE_B + WHOLE_B * min(profile.length / corpus.average, 8.0))
    names: Counter[str] = Counter()
    for name, count in profile.names.items():
        names[name.lower()] += count
    total = 0.0
    for gains, counts in ((corpus.whole, profile.terms), (corpus.whole_names, names)):
        total += sum(gains[key] * n * (K1 + 1) / (n + norm) for key, n in counts.items() if key in gains)
    in_path = sum(question.terms.get(term, 0.0) * corpus.counted.get(term, 1.0) for term in path_terms(profile.path))
    return total + PATH_FACTOR * in_path


def _covered(name: str, terms: tuple[str, ...], gains: dict[str, float]) -> float:
    """What the terms of ``name`` that the question has are worth, times their share of all its terms."""
    return sum(gains.get(term, 0.0) for term in terms) * len(terms) / (len(terms_of(name)) or 1)


def _compound(name: str, terms: tuple[str, ...], corpus: Corpus) -> float:
    """The same for a name that joins at least two terms of the question's first line, by what they are worth there."""
    if sum(term in corpus.title_gains for term in terms) < 2:
        return 0.0
    return _covered(name, terms, corpus.title_gains)
