"""What a query asks for: weighted terms, names, paths, and words that may be joined into names.

Law: pure functions of the query's text. The first line weighs more than the prose, the prose more than
quoted code and traces; words that every report has weigh least.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterable
from dataclasses import dataclass, field

from .glossary import english_for
from .kinds import Role
from .words import NAME, NOISE_WORDS, STOP_WORDS, cjk_pairs, cjk_runs, joined_key, split_name, stem, terms_of

MAX_TERMS = 120
MAX_NAMES = 40
MAX_PATHS = 30
MAX_PHRASES = 60
MAX_LITERALS = 30

TITLE_CHARS = 400
"""What of a long first line counts as the title; the rest of it is prose."""

TITLE_WEIGHT = 1.6
PROSE_WEIGHT = 1.0
CODE_WEIGHT = 0.35
NOISE_WEIGHT = 0.3
TRANSLATED_WEIGHT = 0.6
DOTTED_LIKENESS = 0.5
REPEATED_WEIGHT = 0.35
"""What each further occurrence of a term adds, of its first one's weight; at most three count."""

_REMARK = re.compile(r"<!--.*?(?:-->|\Z)", re.S)
"""What a template says to who writes a report: it is not shown, and not meant."""

_FENCE = re.compile(r"^\s*(?:```|~~~)")
_TRACE = re.compile(
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
_CALLED = re.compile(r"\b([A-Za-z_][A-Za-z0-9_]*)\(")
_TEST_WORDS = re.compile(
    r"\b(?:unit|integration|regression|missing|more|failing|flaky|broken|new)[ -]tests?\b"
    r"|\btest (?:coverage|cases?|files?|suite)\b"
    r"|\b(?:write|add|extend|improve|update|cover|fix|run)\b.{0,30}\b(?:tests|specs)\b"
    r"|单元测试|單元測試|测试用例|測試案例|写.{0,8}测试|寫.{0,8}測試",
    re.I,
)
_DOCS_WORDS = re.compile(r"\b(?:docs|documentation|readme|changelog|tutorial|typos?)\b|文档|文檔|文件說明|说明", re.I)


@dataclass(frozen=True, slots=True)
class Question:
    """A query, taken apart.

    ``terms``, ``title`` and ``quoted`` map terms to weights: of all, of the first line, of code and traces.
    ``names`` maps identifiers, exactly as written, to how likely they are meant as such (0..1).
    ``joined`` maps neighbours written together to a weight. ``paths`` are as written; ``dotted`` holds the
    parts of dotted names. ``phrases`` maps runs of three words to their terms, ``literals`` what stands in quotes and
    is more than one word, as it is written. ``meant_paths`` are the paths of
    the first line and those that the caller names. ``words`` maps each term to a word of the query;
    ``length`` is its length in characters.
    """

    terms: dict[str, float]
    title: dict[str, float]
    quoted: dict[str, float]
    names: dict[str, float]
    joined: dict[str, float]
    phrases: dict[str, tuple[str, ...]]
    literals: dict[str, tuple[str, ...]] = field(default_factory=dict)
    paths: tuple[str, ...] = ()
    meant_paths: frozenset[str] = frozenset()
    dotted: tuple[tuple[str, ...], ...] = ()
    words: dict[str, str] = field(default_factory=dict)
    wants_tests: bool = False
    wants_docs: bool = False
    length: int = 0

    def asks_for(self, role: Role) -> bool:
        """Whether files of ``role`` may be what is asked for: sources always are."""
        wanted = {Role.SOURCE: True, Role.CONFIG: True, Role.TEST: self.wants_tests, Role.DOCS: self.wants_docs}
        return wanted.get(role, False)


def read_question(query: str, files: Iterable[str] = (), symbols: Iterable[str] = ()) -> Question:
    """Take ``query`` apart; ``files`` and ``symbols`` are what the caller knows to be named in it."""
    title, prose, quoted = _layers(query)
    words: dict[str, str] = {}
    in_title = _weigh(title, words)
    in_prose = _weigh(prose, words)
    in_code = _weigh(quoted, words)
    symbols = tuple(symbols)
    names = _names(title + "\n" + prose, quoted, symbols)
    terms = _sum((in_title, TITLE_WEIGHT), (in_prose, PROSE_WEIGHT), (in_code, CODE_WEIGHT))
    for name in symbols:
        for term in terms_of(name):
            terms[term] = max(terms.get(term, 0.0), TITLE_WEIGHT)
            words.setdefault(term, name)
    meant = dict.fromkeys(path.removeprefix("./") for path in (*files, *_PATH.findall(title)))
    paths = meant | dict.fromkeys(path.removeprefix("./") for path in _PATH.findall(query))
    dotted = dict.fromkeys(tuple(re.split(r"\.|::|->|#", found)) for found in (*_DOTTED.findall(query), *symbols))
    heaviest = _heaviest(terms, MAX_TERMS)
    return Question(
        terms=heaviest,
        title=in_title or in_prose,
        quoted=in_code,
        names=_heaviest(names, MAX_NAMES),
        joined=_joined(title + "\n" + prose),
        phrases=_phrases(title, prose + "\n" + quoted),
        literals=_literals("\n".join((title, prose, quoted)), heaviest),
        paths=tuple(paths)[:MAX_PATHS],
        meant_paths=frozenset(meant),
        dotted=tuple(parts for parts in dotted if len(parts) > 1)[:MAX_PATHS],
        words=words,
        wants_tests=bool(_TEST_WORDS.search(title)),
        wants_docs=bool(_DOCS_WORDS.search(title)),
        length=len(query),
    )


def _layers(query: str) -> tuple[str, str, str]:
    """The first line, the prose, and the code and traces of ``query``."""
    first, _, rest = _REMARK.sub("", query).strip().partition("\n")
    end = len(first)
    if end > TITLE_CHARS:
        space = first.rfind(" ", 0, TITLE_CHARS)
        end = space if space > 0 else TITLE_CHARS
    prose: list[str] = [first[end:]]
    quoted: list[str] = []
    in_fence = False
    for line in rest.splitlines():
        if _FENCE.match(line):
            in_fence = not in_fence
        else:
            (quoted if in_fence or _TRACE.match(line) else prose).append(line)
    return first[:end], "\n".join(prose), "\n".join(quoted)


def _weigh(text: str, words: dict[str, str]) -> dict[str, float]:
    """The terms of ``text`` with their weights; fills ``words``."""
    first: dict[str, float] = {}
    seen: Counter[str] = Counter()
    for name in NAME.findall(text):
        parts = split_name(name)
        for part in parts:
            if len(part) < 2 or part in STOP_WORDS or part.isdigit():
                continue
            term = stem(part)
            words.setdefault(term, part)
            is_noise = part in NOISE_WORDS and len(parts) == 1
            first[term] = max(first.get(term, 0.0), NOISE_WEIGHT if is_noise else 1.0)
            seen[term] += 1
    weights = {term: weight * (1 + REPEATED_WEIGHT * min(seen[term] - 1, 2)) for term, weight in first.items()}
    for run in cjk_runs(text):
        for pair in cjk_pairs(run):
            weights.setdefault(pair, 1.0)
            words.setdefault(pair, pair)
        for word in english_for(run):
            term = stem(word)
            noise = NOISE_WEIGHT if word in NOISE_WORDS else 1.0
            weights[term] = max(weights.get(term, 0.0), TRANSLATED_WEIGHT * noise)
            words.setdefault(term, word)
    return weights


def _sum(*layers: tuple[dict[str, float], float]) -> dict[str, float]:
    total: dict[str, float] = {}
    for weights, factor in layers:
        for term, weight in weights.items():
            total[term] = total.get(term, 0.0) + weight * factor
    return total


def _names(prose: str, quoted: str, symbols: Iterable[str]) -> dict[str, float]:
    """Names with how likely they are meant as identifiers; those of code count less."""
    names: dict[str, float] = {}
    stressed = {name for inside in _QUOTED.findall(prose) for name in NAME.findall(inside)}
    stressed.update(_CALLED.findall(prose))
    for text, factor in ((prose, 1.0), (quoted, 0.6)):
        for name in NAME.findall(text):
            likeness = 0.9 if name in stressed and name.lower() not in STOP_WORDS else _likeness(name)
            if likeness and len(name) > 2:
                names[name] = max(names.get(name, 0.0), likeness * factor)
    for dotted in _DOTTED.findall(prose):
        for name in NAME.findall(dotted):
            if len(name) > 2:
                names[name] = max(names.get(name, 0.0), DOTTED_LIKENESS)
    for symbol in symbols:
        for name in NAME.findall(symbol):
            names[name] = 1.0
    return names


def _likeness(name: str) -> float:
    """How much a word looks like an identifier of code."""
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


def _joined(prose: str) -> dict[str, float]:
    """Two to four neighbouring words written as one, with a weight that grows with their number."""
    joined: dict[str, float] = {}
    for line in prose.splitlines():
        words = [word.lower() for word in NAME.findall(line)]
        for size, weight in ((2, 0.6), (3, 1.0), (4, 1.0)):
            for at in range(len(words) - size + 1):
                group = words[at : at + size]
                if group[0] in STOP_WORDS or group[-1] in STOP_WORDS:
                    continue
                key = joined_key("".join(group))
                if 6 <= len(key) <= 60:
                    joined[key] = max(joined.get(key, 0.0), weight)
    return joined


def _phrases(title: str, rest: str) -> dict[str, tuple[str, ...]]:
    """Three words that stand side by side, at least two of them telling, as messages and comments would."""
    phrases: dict[str, tuple[str, ...]] = {}
    for line in (title, *rest.splitlines()):
        for match in _THREE_WORDS.finditer(line):
            phrase = match.group(1).lower()
            terms = terms_of(phrase)
            if len(terms) > 1 and len(phrases) < MAX_PHRASES:
                phrases.setdefault(phrase, terms)
    return phrases


def _literals(text: str, wanted: Container[str]) -> dict[str, tuple[str, ...]]:
    """What stands in quotes and is not a single word, with its terms among ``wanted``: messages, calls, options."""
    literals: dict[str, tuple[str, ...]] = {}
    for match in _LITERAL.finditer(text):
        literal = match.group(match.lastindex or 0)
        found = (term for name in NAME.findall(literal) for term in terms_of(name) if term in wanted)
        terms = () if NAME.fullmatch(literal) else tuple(dict.fromkeys(found))
        if terms and len(literals) < MAX_LITERALS:
            literals.setdefault(literal, terms)
    return literals


def _heaviest(weights: dict[str, float], most: int) -> dict[str, float]:
    """The ``most`` heaviest entries, heaviest first; equal ones in order of appearance."""
    return dict(sorted(weights.items(), key=lambda item: -item[1])[:most])
