"""Parses a query into weighted terms, names, paths, and adjacent words that can form one name.

Invariant: pure functions of the text. The first line weighs more than the prose, the prose more than quoted code and
traces; words that most reports contain weigh least.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterable
from dataclasses import dataclass

from upbeat.adapters.code.files.file_types import FileRole
from upbeat.adapters.code.query.glossary import content_runs, translate_to_english
from upbeat.adapters.code.query.neighbors import Neighbor, find_neighbors
from upbeat.adapters.code.query.terms import (
    CJK_RUN_PATTERN,
    IDENTIFIER_PATTERN,
    NOISE_WORDS,
    STOP_WORDS,
    cjk_bigrams,
    joined_key,
    split_identifier,
    stem,
    terms_in,
)
from upbeat.core.prompt.phrases import to_simplified

MAX_TERMS = 120
MAX_NAMES = 40
MAX_PATHS = 30
MAX_PHRASES = 60
MAX_LITERALS = 30

BASIC_ROLES = frozenset({FileRole.SOURCE, FileRole.CONFIG})
MAX_TITLE_CHARS = 400
"""Characters of a long first line that count as the title; the rest is prose."""

TITLE_WEIGHT = 1.6
PROSE_WEIGHT = 1.0
CODE_WEIGHT = 0.35
NOISE_WEIGHT = 0.3
TRANSLATED_WEIGHT = 0.6
DOTTED_LIKENESS = 0.5
REPEATED_WEIGHT = 0.35
"""Weight of each further occurrence of a term, compared with its first; at most three count."""

_HTML_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.S)
"""Instructions of an issue template, which are not part of the report."""

_FENCE = re.compile(r"^\s*(?:```|~~~)")
_CODE_LINE = re.compile(
    r'^\s*(?:File ".*", line \d+|at \S+ ?\(|Traceback |\^+[ \t]*$)|^\s*(?:>>>|\.\.\. |\$ )|^(?: {4,}|\t)\S'
)
_PATH = re.compile(
    r"(?<![\w.+/@-])[\w.+-]{0,100}(?:/[\w.+@-]{1,100}){1,20}"
    r"|(?<![\w.+/@-])[\w+-]{1,100}(?:\.[\w+-]{1,100}){0,5}\.[A-Za-z]{1,5}\b",
    re.ASCII,
)
_DOTTED = re.compile(r"(?<![\w$])[A-Za-z_$][\w$]{0,100}(?:(?:\.|::|->|#)[A-Za-z_$][\w$]{0,100}){1,12}", re.ASCII)
_THREE_WORDS = re.compile(r"(?=(?<![A-Za-z])([A-Za-z]{1,30} [A-Za-z]{1,30} [A-Za-z]{1,30})(?![A-Za-z]))")
_LITERAL = re.compile(r"\"([^\"\n]{4,60})\"|'([^'\n]{4,60})'|`([^`\n]{4,60})`")
_QUOTED = re.compile(r"`([^`\n]{2,80})`")
_CALL = re.compile(r"\b([A-Za-z_][A-Za-z0-9_]*)\(")
_QUESTION = re.compile(
    r"[?？]\s*$|\b(?:where|how|what|which|who|why|when)\b|哪|怎么|怎麼|怎样|怎樣|如何|什么|什麼|为何|為何|谁|誰|吗|嗎",
    re.I,
)
_TEST_WORDS = re.compile(
    r"(?<!\bin )(?<!\bin a )(?<!\bin an )(?<!\bin my )"
    r"\b(?:unit|integration|regression|missing|more|failing|flaky|broken|new)[ -]tests?\b"
    r"|\btest (?:coverage|cases?|files?|suite)\b"
    r"|\b(?:write|add|extend|improve|update|cover|fix)\b.{0,30}\b(?:tests|specs)\b"
    r"|单元测试|單元測試|测试用例|測試案例|写.{0,8}测试|寫.{0,8}測試",
    re.I,
)
_RUN_ORDER = re.compile(
    r"^\W*(?:(?:please|now|then|just|can you|could you)\W+)*(?:re-?)?run\b|^\W*(?:请|請|再)*(?:运行|跑|執行|执行)", re.I
)
"""An order to run something, which needs no code of tests."""
_DOCS_WORDS = re.compile(r"\b(?:docs|documentation|readme|changelog|tutorial|typos?)\b|文档|文檔|文件說明|说明", re.I)
_ROLE_WORDS = {FileRole.TEST: _TEST_WORDS, FileRole.DOCS: _DOCS_WORDS}


_REGEX_CLASS = re.compile(r"(?<![\w:])\\[bBsSdDwW][+*?]{0,2}|\\[bBsSdDwW][+*?]{0,2}(?!\w)|(?<!\.)\.[*+]\??")
_REGEX_ESCAPE = re.compile(r"\\([.()\[\]{}|*+?^$])")


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """A parsed query.

    Attributes:
        terms: Weights of all terms; ``title_terms`` are those of the first line.
        neighbors: Terms that code may have instead of the query's own, with their weights (see ``neighbors``).
        names: Identifiers as written, with how likely they are meant as such (0..1).
        joined_names: Adjacent words written as one, with a weight.
        phrases: Runs of three words, with their terms.
        literals: Quoted texts of more than one word, with their terms.
        mentioned_paths: Paths as written; ``intended_paths`` are those in the first line and from the caller.
        dotted_names: The parts of dotted names.
        word_by_term: A word of the query for each term.
        wanted_roles: The roles of files that the query can ask for: sources and configuration, and tests or
            documentation if it mentions them.
        length: Length in characters.
        is_question: Whether the first line asks something.
    """

    terms: dict[str, float]
    title_terms: dict[str, float]
    neighbors: dict[str, Neighbor]
    names: dict[str, float]
    joined_names: dict[str, float]
    phrases: dict[str, tuple[str, ...]]
    literals: dict[str, tuple[str, ...]]
    mentioned_paths: tuple[str, ...]
    intended_paths: frozenset[str]
    dotted_names: tuple[tuple[str, ...], ...]
    word_by_term: dict[str, str]
    wanted_roles: frozenset[FileRole]
    length: int
    is_question: bool


def without_regex(query: str) -> str:
    """Return ``query`` without what is left of a regular expression: ``def \\w+_auth\\(`` gives ``def  _auth(``."""
    return _REGEX_ESCAPE.sub(r"\1", _REGEX_CLASS.sub(" ", query))


def parse_search_query(query: str, files: Iterable[str] = (), symbols: Iterable[str] = ()) -> SearchQuery:
    """Parse ``query``; ``files`` and ``symbols`` are those that the caller knows to be meant."""
    title, prose, quoted = _split_layers(query)
    words: dict[str, str] = {}
    in_title = _weigh_terms(title, words)
    in_prose = _weigh_terms(prose, words)
    in_code = _weigh_terms(quoted, words)
    symbols = tuple(symbols)
    names = _weigh_names(title + "\n" + prose, quoted, symbols)
    terms: dict[str, float] = {}
    for weights, factor in ((in_title, TITLE_WEIGHT), (in_prose, PROSE_WEIGHT), (in_code, CODE_WEIGHT)):
        for term, weight in weights.items():
            terms[term] = terms.get(term, 0.0) + weight * factor
    for name in symbols:
        for term in terms_in(name):
            terms[term] = max(terms.get(term, 0.0), TITLE_WEIGHT)
            words.setdefault(term, name)
    intended = dict.fromkeys(path.removeprefix("./") for path in (*files, *_PATH.findall(title)))
    paths = intended | dict.fromkeys(path.removeprefix("./") for path in _PATH.findall(query))
    dotted = dict.fromkeys(tuple(re.split(r"\.|::|->|#", name)) for name in (*_DOTTED.findall(query), *symbols))
    heaviest = _heaviest(terms, MAX_TERMS)
    wanted = {role for role, pattern in _ROLE_WORDS.items() if pattern.search(title)}
    return SearchQuery(
        terms=heaviest,
        title_terms=in_title or in_prose,
        neighbors=find_neighbors(_words_in(title + "\n" + prose), heaviest),
        names=_heaviest(names, MAX_NAMES),
        joined_names=_weigh_joined_names(title + "\n" + prose),
        phrases=_extract_phrases(title, prose + "\n" + quoted),
        literals=_extract_literals("\n".join((title, prose, quoted)), heaviest),
        mentioned_paths=tuple(paths)[:MAX_PATHS],
        intended_paths=frozenset(intended),
        dotted_names=tuple(parts for parts in dotted if len(parts) > 1)[:MAX_PATHS],
        word_by_term=words,
        wanted_roles=BASIC_ROLES | (wanted - {FileRole.TEST} if _RUN_ORDER.search(title) else wanted),
        length=len(query),
        is_question=bool(_QUESTION.search(title)),
    )


def _split_layers(query: str) -> tuple[str, str, str]:
    """Return the first line, the prose, and the code and traces of ``query``."""
    first, _, rest = _HTML_COMMENT.sub("", query).strip().partition("\n")
    end = len(first)
    if end > MAX_TITLE_CHARS:
        space = first.rfind(" ", 0, MAX_TITLE_CHARS)
        end = space if space > 0 else MAX_TITLE_CHARS
    prose: list[str] = [first[end:]]
    quoted: list[str] = []
    in_fence = False
    for line in rest.splitlines():
        if _FENCE.match(line):
            in_fence = not in_fence
        else:
            (quoted if in_fence or _CODE_LINE.match(line) else prose).append(line)
    return first[:end], "\n".join(prose), "\n".join(quoted)


def _words_in(text: str) -> list[str]:
    """Return all words of ``text`` in order, in lowercase."""
    return [part for name in IDENTIFIER_PATTERN.findall(text) for part in split_identifier(name)]


def _weigh_terms(text: str, words: dict[str, str]) -> dict[str, float]:
    """Return the terms of ``text`` with their weights; add their words to ``words``."""
    first: dict[str, float] = {}
    seen: Counter[str] = Counter()
    for name in IDENTIFIER_PATTERN.findall(text):
        parts = split_identifier(name)
        for part in parts:
            if len(part) < 2 or part in STOP_WORDS or part.isdigit():
                continue
            term = stem(part)
            words.setdefault(term, part)
            is_noise = part in NOISE_WORDS and len(parts) == 1
            first[term] = max(first.get(term, 0.0), NOISE_WEIGHT if is_noise else 1.0)
            seen[term] += 1
    weights = {term: weight * (1 + REPEATED_WEIGHT * min(seen[term] - 1, 2)) for term, weight in first.items()}
    for run in CJK_RUN_PATTERN.findall(text):
        content = " ".join(content_runs(run))
        for pair in (*cjk_bigrams(content), *cjk_bigrams(to_simplified(content))):
            weights.setdefault(pair, 1.0)
            words.setdefault(pair, pair)
        for word, weight in translate_to_english(run).items():
            term = stem(word)
            noise = NOISE_WEIGHT if word in NOISE_WORDS else 1.0
            weights[term] = max(weights.get(term, 0.0), TRANSLATED_WEIGHT * weight * noise)
            words.setdefault(term, word)
    return weights


def _weigh_names(prose: str, quoted: str, symbols: Iterable[str]) -> dict[str, float]:
    """Return names with how likely they are meant as identifiers; those in code count less."""
    names: dict[str, float] = {}
    marked = {name for inside in _QUOTED.findall(prose) for name in IDENTIFIER_PATTERN.findall(inside)}
    marked.update(_CALL.findall(prose))
    for text, factor in ((prose, 1.0), (quoted, 0.6)):
        for name in IDENTIFIER_PATTERN.findall(text):
            likeness = 0.9 if name in marked and name.lower() not in STOP_WORDS else _identifier_likeness(name)
            if likeness and len(name) > 2:
                names[name] = max(names.get(name, 0.0), likeness * factor)
    for dotted in _DOTTED.findall(prose):
        for name in IDENTIFIER_PATTERN.findall(dotted):
            if len(name) > 2:
                names[name] = max(names.get(name, 0.0), DOTTED_LIKENESS)
    for symbol in symbols:
        for name in IDENTIFIER_PATTERN.findall(symbol):
            names[name] = 1.0
    return names


def _identifier_likeness(name: str) -> float:
    """Return how much a word looks like an identifier (0..1)."""
    bare = name.strip("_")
    if "_" in bare or (bare != name and name.startswith("_")):
        return 1.0
    if re.search(r"[a-z0-9][A-Z]", name):
        return 1.0
    if name.lower() in STOP_WORDS or name.lower() in NOISE_WORDS:
        return 0.0
    if name.isupper() and len(name) > 2:
        return 0.5
    return 0.4 if name[0].isupper() else 0.2


def _weigh_joined_names(prose: str) -> dict[str, float]:
    """Return two to four adjacent words written as one, with a weight that grows with their number."""
    joined: dict[str, float] = {}
    for line in prose.splitlines():
        words = [word.lower() for word in IDENTIFIER_PATTERN.findall(line)]
        for size, weight in ((2, 0.6), (3, 1.0), (4, 1.0)):
            for start in range(len(words) - size + 1):
                group = words[start : start + size]
                if group[0] in STOP_WORDS or group[-1] in STOP_WORDS:
                    continue
                key = joined_key("".join(group))
                if 6 <= len(key) <= 60:
                    joined[key] = max(joined.get(key, 0.0), weight)
    return joined


def _extract_phrases(title: str, rest: str) -> dict[str, tuple[str, ...]]:
    """Return runs of three words, at least two of them specific, as messages and comments contain them."""
    phrases: dict[str, tuple[str, ...]] = {}
    for line in (title, *rest.splitlines()):
        for match in _THREE_WORDS.finditer(line):
            phrase = match.group(1).lower()
            terms = terms_in(phrase)
            if len(terms) > 1 and len(phrases) < MAX_PHRASES:
                phrases.setdefault(phrase, terms)
    return phrases


def _extract_literals(text: str, known_terms: Container[str]) -> dict[str, tuple[str, ...]]:
    """Return quoted texts of more than one word (messages, calls, options), with their terms."""
    literals: dict[str, tuple[str, ...]] = {}
    for match in _LITERAL.finditer(text):
        literal = match.group(match.lastindex or 0)
        names = () if IDENTIFIER_PATTERN.fullmatch(literal) else IDENTIFIER_PATTERN.findall(literal)
        terms = tuple(dict.fromkeys(term for name in names for term in terms_in(name) if term in known_terms))
        if terms and len(literals) < MAX_LITERALS:
            literals.setdefault(literal, terms)
    return literals


def _heaviest(weights: dict[str, float], limit: int) -> dict[str, float]:
    """Return the ``limit`` heaviest entries, heaviest first; equal ones in order of appearance."""
    return dict(sorted(weights.items(), key=lambda item: -item[1])[:limit])
