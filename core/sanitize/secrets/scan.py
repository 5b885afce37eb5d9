"""Prefilter: find in one pass which formats and contexts of secrets a text can contain; only these are searched.

RE2 does that pass for all formats at once, in time linear in the text. If it is not installed, or the text is so short
that loading it takes longer, each literal is searched instead. Both return at least what is there, so the secrets that
are found are the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING

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


class ScannedText:
    """A text with what it can contain: rather too much than too little.

    ``lowered`` is the text in lower case with the same length; ``contexts`` are names of ``_CONTEXTS``. Without an
    engine, each literal is searched.
    """

    def __init__(self, text: str, engine: Re2Engine | None) -> None:
        self.text = text
        self.lowered = text.lower() if text.isascii() else text.replace("İ", "I").lower()  # İ would become longer
        self.engine = engine
        if engine:
            self.contexts = engine.find_contexts(self.lowered)
        else:
            has = self.lowered.__contains__
            self.contexts = {name for name, (literals, _) in _CONTEXTS.items() if any(map(has, literals))}

    def candidate_formats(self) -> list[SecretFormat]:
        """Return the formats that may match in the text, in their order."""
        if self.engine:
            return self.engine.find_formats(self.text)
        return [secret_format for secret_format in SECRET_FORMATS if secret_format.literal in self.text]

    def find_matches(self, pattern: re.Pattern[str], context: str, subject: str) -> Iterator[re.Match[str]]:
        """Yield the matches of ``pattern`` in ``subject`` (``text`` or ``lowered``) that begin at ``context``.

        Raises:
            TooManyMatchesError: There are more than ``MAX_CONTEXT_MATCHES``.
        """
        if self.engine:
            matches = self.engine.find_matches(pattern, context, self.lowered, subject)
        else:
            matches = pattern.finditer(subject)
        yield from islice(matches, MAX_CONTEXT_MATCHES)
        if next(matches, None) is not None:
            raise TooManyMatchesError


class Re2Engine:
    """Search for everything in one pass of RE2. Each code point is one byte: all formats are ASCII."""

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

    def find_formats(self, text: str) -> list[SecretFormat]:
        """Return the formats that may match in ``text``, in their order."""
        groups = self._format_set.Match(text.encode("ascii", "replace")) or ()
        return [SECRET_FORMATS[i] for i in sorted(i for group in groups for i in self._format_groups[group])]

    def find_contexts(self, lowered: str) -> set[str]:
        """Return the names of the contexts that the text in lower case may contain."""
        matches = self._context_set.Match(lowered.encode("ascii", "replace")) or ()
        contexts = {self._context_names[index] for index in matches}
        if not lowered.isascii() and any(map(lowered.__contains__, _NON_ASCII_NAMES)):
            contexts.add("assignment")
        return contexts

    def find_matches(self, pattern: re.Pattern[str], context: str, lowered: str, text: str) -> Iterator[re.Match[str]]:
        """Yield the matches of ``pattern`` in ``text`` that begin at ``context`` in ``lowered``, or just behind it."""
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
