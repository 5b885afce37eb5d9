"""Prefilter: find in one pass which formats and contexts of secrets a text can contain; only these are searched.

RE2 does that pass for all formats at once, in time linear in the text. If it is not installed, or the text is so short
that loading it takes longer, each literal is searched instead. Both return at least what is there, so the secrets that
are found are the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING

from upbeat.core import lazy_re as re
from upbeat.core.package_data import load_rows, load_toml
from upbeat.core.sanitize.secrets.formats import SECRET_FORMATS, SecretFormat

if TYPE_CHECKING:
    import re2

_RE2_MIN_LENGTH = 4000
"""Characters from which on RE2 is loaded: that costs as much as searching each literal in fifty times as many."""

_FRAGMENT_NAME = re.compile(r"\{([A-Z]+)\}")


def _names(file: str, column: int) -> list[str]:
    return sorted({name for row in load_rows(__package__, file) for name in row[column].replace("^", "").split("|")})


def is_latin(label: str) -> bool:
    """Return whether a search for the ASCII letters of ``label`` finds it without too many others."""
    return label.isascii() or sum(char.isascii() for char in label) >= 4


def _searchable(label: str) -> str:
    """Return an expression for ``label`` in a text whose characters other than ASCII are question marks."""
    return re.escape(label.encode("ascii", "replace").decode())


def _load_contexts() -> dict[str, tuple[tuple[str, ...], str]]:
    rows = dict(load_toml(__package__, "contexts.toml"))
    fragments = rows.pop("fragments")
    fragments["PROGRAMS"] = "|".join(map(re.escape, _names("tool_options.tsv", 0)))
    fragments["CALLS"] = "|".join(map(re.escape, _names("calls.tsv", 0)))
    fragments["LABELS"] = "|".join(_searchable(label) for label in _names("labels.tsv", 1) if is_latin(label))
    return {
        name: (tuple(row["literals"]), _FRAGMENT_NAME.sub(lambda match: fragments[match[1]], row["pattern"]))
        for name, row in rows.items()
    }


_CONTEXTS = _load_contexts()
"""The literals and the RE2 expression of each context."""
_WORD = re.compile(r"\w+")
_FIRST_WORDS = {
    context: frozenset(word[0] for name in _names(file, column) if (word := _WORD.search(name)))
    for context, file, column in (
        ("command", "tool_options.tsv", 0),
        ("call", "calls.tsv", 0),
        ("label", "labels.tsv", 1),
    )
}
"""The first words of the names in tables: too many to search each as a literal."""
_CHINESE_NAMES = ("密码", "密碼", "密钥", "密鑰", "口令", "令牌", "私钥", "私鑰")
"""Names of assignments in Chinese."""
_CASE_SENSITIVE = "encoded"
"""The context that is searched in the text and not in lower case, apart from the others."""
_MANY, _DENSE = 64, 16
"""The number of matches, and their distance in characters, from which on continuing without RE2 is faster."""

CONTEXTS_OVER_LINES = frozenset({"url", "auth scheme"})
"""Contexts that show a secret even if lines were joined."""
MAX_CONTEXT_MATCHES = 20_000
"""Matches of one context that are judged in one text."""


class TooManyMatchesError(Exception):
    """A text has more candidates for secrets than can be judged in time."""


class ScannedText:
    """A text with what it can contain: rather too much than too little.

    ``lowered`` is the text in lower case with the same length; ``contexts`` are names of ``_CONTEXTS``. Without an
    engine, each literal is searched.
    """

    def __init__(self, text: str, engine: Re2Engine | None, *, over_lines: bool = False) -> None:
        self.text = text
        self.lowered = text.lower() if text.isascii() else text.replace("İ", "I").lower()  # İ would become longer
        self.engine = engine
        if engine:
            self.contexts = engine.find_contexts(self.lowered, text, over_lines=over_lines)
        else:
            has = self.lowered.__contains__
            self.contexts = {name for name, (literals, _) in _CONTEXTS.items() if any(map(has, literals))}
            words = set(_WORD.findall(self.lowered))
            self.contexts |= {name for name, first_words in _FIRST_WORDS.items() if not words.isdisjoint(first_words)}
            if not self.lowered.isascii():
                self.contexts |= {"label", "wide letters"}

    def candidate_formats(self) -> list[SecretFormat]:
        """Return the formats that may match in the text, in their order."""
        if self.engine:
            return self.engine.find_formats(self.text)
        text = self.text
        if len(text) > _SHORT:
            return [secret_format for secret_format in SECRET_FORMATS if secret_format.literal in text]
        starts = {text[i : i + 2] for i in range(len(text) - 1)} | set(text)
        by_start = _formats_by_start()
        ranks = sorted(rank for start in by_start.keys() & starts for rank in by_start[start])
        return [SECRET_FORMATS[rank] for rank in ranks if SECRET_FORMATS[rank].literal in text]

    def find_matches(self, pattern: re.Pattern[str], context: str, subject: str) -> Iterator[re.Match[str]]:
        """Yield the matches of ``pattern`` in ``subject`` (``text`` or ``lowered``) that begin at ``context``.

        If the pattern has a group ``bare``, what it matches is searched, too: it may contain the name of another value.

        Raises:
            TooManyMatchesError: There are more than ``MAX_CONTEXT_MATCHES``.
        """
        if self.engine:
            matches = self.engine.find_matches(pattern, context, self.lowered, subject)
        else:
            matches = _iter_matches(pattern, subject)
        yield from islice(matches, MAX_CONTEXT_MATCHES)
        if next(matches, None) is not None:
            raise TooManyMatchesError


_SHORT = 300
"""Up to how many characters of a text formats are looked up by the first two of their literals."""


@cache
def _formats_by_start() -> dict[str, list[int]]:
    by_start: dict[str, list[int]] = {}
    for rank, secret_format in enumerate(SECRET_FORMATS):
        by_start.setdefault(secret_format.literal[:2], []).append(rank)
    return by_start


_MAX_NESTED = 200
"""The length of values from which on they are not searched for others."""


def _iter_chinese(pattern: re.Pattern[str], lowered: str, text: str) -> Iterator[re.Match[str]]:
    """Yield the matches that begin at a name of an assignment in Chinese.

    Raises:
        TooManyMatchesError: There are too many names.
    """
    count = 0
    for name in _CHINESE_NAMES:
        position = lowered.find(name)
        while position >= 0:
            count += 1
            if count > MAX_CONTEXT_MATCHES:
                raise TooManyMatchesError
            if match := pattern.match(text, position):
                yield match
            position = lowered.find(name, max(_resume_at(match) if match else 0, position + 1))


def _resume_at(match: re.Match[str]) -> int:
    """Return where the search goes on: in the value, if it is short."""
    group = match.lastgroup if "bare" in match.re.groupindex else None
    if group is None or match.end(group) - match.start(group) > _MAX_NESTED:
        return match.end()
    return match.start(group)


def _iter_matches(pattern: re.Pattern[str], text: str, position: int = 0) -> Iterator[re.Match[str]]:
    if "bare" not in pattern.groupindex:
        yield from pattern.finditer(text, position)
        return
    while match := pattern.search(text, position):
        yield match
        position = max(_resume_at(match), match.start() + 1)


class Re2Engine:
    """Search for everything in one pass of RE2. Each code point is one byte: all formats are ASCII."""

    def __init__(self) -> None:
        import re2

        self._last = "", b""
        by_prefilter: dict[str, list[int]] = {}
        for index, secret_format in enumerate(SECRET_FORMATS):
            by_prefilter.setdefault(secret_format.prefilter_pattern, []).append(index)
        self._format_groups = list(by_prefilter.values())
        self._format_set = _compile_re2_set(by_prefilter)
        rest = [name for name in _CONTEXTS if name != _CASE_SENSITIVE]
        self._context_set = rest, _compile_re2_set(_CONTEXTS[name][1] for name in rest)
        over_lines = sorted(CONTEXTS_OVER_LINES)
        self._set_over_lines = over_lines, _compile_re2_set(_CONTEXTS[name][1] for name in over_lines)
        self._context_patterns = {
            name: re2.compile(expression.encode("ascii"), _options()) for name, (_, expression) in _CONTEXTS.items()
        }

    def _encode(self, lowered: str) -> bytes:
        """Return one byte for each character; the last text is kept, since each context is searched in it."""
        if self._last[0] is not lowered:
            self._last = lowered, lowered.encode("ascii", "replace")
        return self._last[1]

    def find_formats(self, text: str) -> list[SecretFormat]:
        """Return the formats that may match in ``text``, in their order."""
        groups = self._format_set.Match(text.encode("ascii", "replace")) or ()
        return [SECRET_FORMATS[i] for i in sorted(i for group in groups for i in self._format_groups[group])]

    def find_contexts(self, lowered: str, text: str, *, over_lines: bool = False) -> set[str]:
        """Return the names of the contexts that the text may contain; of those over lines if asked."""
        data = self._encode(lowered)
        names, pattern_set = self._set_over_lines if over_lines else self._context_set
        contexts = {names[i] for i in pattern_set.Match(data) or ()}
        if not over_lines and self._context_patterns[_CASE_SENSITIVE].search(text.encode("ascii", "replace")):
            contexts.add(_CASE_SENSITIVE)
        if "wide letters" in contexts and not lowered.isascii():
            contexts.add("label")
            if any(map(lowered.__contains__, _CHINESE_NAMES)):
                contexts.add("assignment")
        return contexts

    def find_matches(self, pattern: re.Pattern[str], context: str, lowered: str, text: str) -> Iterator[re.Match[str]]:
        """Yield the matches of ``pattern`` in ``text`` that begin at ``context`` in ``lowered``, or just behind it."""
        if context == "assignment" and not lowered.isascii():
            yield from _iter_chinese(pattern, lowered, text)
        data, position, count = self._encode(text if context == _CASE_SENSITIVE else lowered), 0, 0
        while candidate := self._context_patterns[context].search(data, position):
            start = candidate.start()
            count += 1
            if count > _MANY and start < count * _DENSE:
                yield from _iter_matches(pattern, text, start)
                return
            match = pattern.match(text, start) or pattern.match(text, start + 1)
            if match:
                yield match
            position = max(_resume_at(match) if match else 0, start + 1)


def _options() -> re2.Options:
    import re2

    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.log_errors = False
    options.never_capture = True
    return options


def _compile_re2_set(expressions: Iterable[str]) -> re2.Set:
    import re2

    pattern_set = re2.Set.SearchSet(_options())
    for expression in expressions:
        pattern_set.Add(expression.encode("ascii"))
    pattern_set.Compile()
    return pattern_set


@cache
def load_re2_engine() -> Re2Engine | None:
    """Return the RE2 engine, or None if RE2 is not installed."""
    try:
        return Re2Engine()
    except ImportError:
        return None


def choose_engine(text: str) -> Re2Engine | None:
    """Return the RE2 engine, or None if ``text`` is searched faster without it."""
    is_short = len(text) < _RE2_MIN_LENGTH and not load_re2_engine.cache_info().currsize
    return None if is_short else load_re2_engine()
