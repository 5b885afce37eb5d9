"""Prefilter: find in one pass which formats and contexts of secrets a text can contain; only these are searched.

RE2 does that pass for all formats at once, in time linear in the text. If it is not installed, or the text is so short
that loading it takes longer, each literal is searched instead. Both return at least what is there, so the secrets that
are found are the same.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Protocol

from upbeat.core.package_data import load_toml
from upbeat.core.sanitize.secrets.formats import SECRET_FORMATS, SecretFormat

if TYPE_CHECKING:
    import re2

_RE2_MIN_LENGTH = 4000
"""Characters from which on RE2 is loaded: that costs as much as searching each literal in fifty times as many."""

_FRAGMENT_NAME = re.compile(r"\{([A-Z]+)\}")


def _load_contexts() -> dict[str, tuple[tuple[str, ...], str]]:
    rows = dict(load_toml(__package__, "contexts.toml"))
    fragments = rows.pop("fragments")
    return {
        name: (tuple(row["literals"]), _FRAGMENT_NAME.sub(lambda match: fragments[match[1]], row["pattern"]))
        for name, row in rows.items()
    }


_CONTEXTS = _load_contexts()
"""The literals and the RE2 expression of each context."""
_NON_ASCII_NAMES = ("密", "口令", "令牌", "私")
"""Assignment names in Chinese."""
_MANY, _DENSE = 64, 40
"""The number of matches, and their distance in characters, from which on continuing without RE2 is faster."""

MAX_CONTEXT_MATCHES = 25_000
"""Matches of one context that are judged in one text."""


class TooManyMatchesError(Exception):
    """A text has more candidates for secrets than can be judged in time."""


class SecretScanner(Protocol):
    """Says what a text can contain: rather too much than too little."""

    def candidate_formats(self, text: str) -> Sequence[SecretFormat]:
        """Return the formats that may match in ``text``, in their order."""

    def candidate_contexts(self, lowered: str) -> Collection[str]:
        """Return the names of ``_CONTEXTS`` that the text in lower case may contain."""

    def find_matches(self, pattern: re.Pattern[str], context: str, lowered: str, text: str) -> Iterator[re.Match[str]]:
        """Yield the matches of ``pattern`` in ``text`` that begin where ``context`` matches, or one character later.

        Raises:
            TooManyMatchesError: There are more than ``MAX_CONTEXT_MATCHES``.
        """


class LiteralScanner:
    """Search each literal by itself: for short texts, and without RE2."""

    def candidate_formats(self, text: str) -> Sequence[SecretFormat]:
        return [secret_format for secret_format in SECRET_FORMATS if secret_format.literal in text]

    def candidate_contexts(self, lowered: str) -> Collection[str]:
        return [name for name, (literals, _) in _CONTEXTS.items() if any(map(lowered.__contains__, literals))]

    def find_matches(self, pattern: re.Pattern[str], context: str, lowered: str, text: str) -> Iterator[re.Match[str]]:
        del context, lowered  # only RE2 prefilters matches
        return _limit_matches(pattern.finditer(text))


class Re2Scanner:
    """Search everything in one pass of RE2. Each code point is one byte: all formats are ASCII."""

    def __init__(self) -> None:
        import re2

        by_prefilter: dict[str, list[int]] = {}
        for index, secret_format in enumerate(SECRET_FORMATS):
            by_prefilter.setdefault(secret_format.prefilter_pattern, []).append(index)
        self._format_groups = list(by_prefilter.values())
        self._format_set = _compile_re2_set(by_prefilter)
        self._context_names = list(_CONTEXTS)
        self._context_set = _compile_re2_set(expression for _, expression in _CONTEXTS.values())
        self._context_patterns = {
            name: re2.compile(expression.encode("ascii"), _options()) for name, (_, expression) in _CONTEXTS.items()
        }

    def candidate_formats(self, text: str) -> Sequence[SecretFormat]:
        groups = self._format_set.Match(text.encode("ascii", "replace")) or ()
        return [SECRET_FORMATS[i] for i in sorted(i for group in groups for i in self._format_groups[group])]

    def candidate_contexts(self, lowered: str) -> Collection[str]:
        matches = self._context_set.Match(lowered.encode("ascii", "replace")) or ()
        contexts = {self._context_names[index] for index in matches}
        if not lowered.isascii() and any(map(lowered.__contains__, _NON_ASCII_NAMES)):
            contexts.add("assignment")
        return contexts

    def find_matches(self, pattern: re.Pattern[str], context: str, lowered: str, text: str) -> Iterator[re.Match[str]]:
        return _limit_matches(self._find_matches(pattern, context, lowered, text))

    def _find_matches(self, pattern: re.Pattern[str], context: str, lowered: str, text: str) -> Iterator[re.Match[str]]:
        if context == "assignment" and not lowered.isascii() and any(map(lowered.__contains__, _NON_ASCII_NAMES)):
            yield from pattern.finditer(text)
            return
        data, position, count = lowered.encode("ascii", "replace"), 0, 0
        while candidate := self._context_patterns[context].search(data, position):
            start = candidate.start()
            count += 1
            if count > _MANY and start < count * _DENSE:
                yield from pattern.finditer(text, start)
                return
            match = pattern.match(text, start) or pattern.match(text, start + 1)
            if match:
                yield match
            position = max(match.end() if match else 0, start + 1)


def _limit_matches(matches: Iterator[re.Match[str]]) -> Iterator[re.Match[str]]:
    yield from islice(matches, MAX_CONTEXT_MATCHES)
    if next(matches, None) is not None:
        raise TooManyMatchesError


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


LITERAL_SCANNER = LiteralScanner()


@cache
def load_re2_scanner() -> SecretScanner | None:
    """Return the RE2 scanner, or None if RE2 is not installed."""
    try:
        return Re2Scanner()
    except ImportError:
        return None


def choose_scanner(text: str) -> SecretScanner:
    """Return the fastest scanner for ``text``."""
    if len(text) < _RE2_MIN_LENGTH and not load_re2_scanner.cache_info().currsize:
        return LITERAL_SCANNER
    return load_re2_scanner() or LITERAL_SCANNER
