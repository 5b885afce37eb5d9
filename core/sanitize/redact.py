"""Redact secrets: every finder reads the original text; their spans are merged and then replaced, all at once.

So a secret that one finder recognizes in part and another as a whole is redacted as a whole, and no finder depends on
the order of the others. ``formats`` has published formats, ``values`` judges values that are assigned to telling names,
``scan`` says where to search, ``views`` decodes what is encoded or broken over lines. Secrets without a format and
without a telling name are not found.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import islice

from upbeat.core.sanitize.secrets.context import find_secrets_in_context, find_secrets_over_lines, has_labelled_value
from upbeat.core.sanitize.secrets.formats import SECRET_FORMATS, SecretFormat
from upbeat.core.sanitize.secrets.key_blocks import find_private_keys
from upbeat.core.sanitize.secrets.scan import SecretScanner, TooManyMatchesError, choose_scanner
from upbeat.core.sanitize.secrets.span import SecretSpan, merge_spans
from upbeat.core.sanitize.secrets.views import decode_base64_runs, decode_escapes, join_wrapped_lines

_MAX_ROUNDS = 3
"""A replacement can reveal a secret that was hidden before; no known text reveals more than one more."""
MAX_SECRETS = 1000
"""Secrets in one text; a text with more is redacted as a whole."""
_FORMAT_RANKS = {secret_format: rank for rank, secret_format in enumerate(SECRET_FORMATS, start=1)}


@dataclass(frozen=True, slots=True)
class RedactedText:
    """A text without secrets; ``redactions`` are kinds with their counts, sorted by kind."""

    text: str
    redactions: tuple[tuple[str, int], ...] = ()


def redact(text: str, *, preserve_lines: bool = False, scanner: SecretScanner | None = None) -> RedactedText:
    """Replace each secret of ``text`` by ``<redacted:kind>``; idempotent.

    With ``preserve_lines`` the line ends in a secret stay, so that line numbers stay valid. The default ``scanner`` is
    the fastest for the text.
    """
    counts: Counter[str] = Counter()
    for _ in range(_MAX_ROUNDS):
        spans = _find_secrets(text, scanner or choose_scanner(text))
        if not spans:
            break
        pieces, done = [], 0
        for span in spans:
            line_ends = "\n" * text.count("\n", span.start, span.end) if preserve_lines else ""
            pieces += [text[done : span.start], f"<redacted:{span.kind}>{line_ends}"]
            done = span.end
        text = "".join([*pieces, text[done:]])
        counts.update(span.kind for span in spans)
    return RedactedText(text, tuple(sorted(counts.items())))


def may_contain_secrets(text: str) -> bool:
    """Return whether ``text`` may contain a secret. If not, ``redact`` leaves each of its lines unchanged."""
    scanner = choose_scanner(text)
    lowered = _lower_same_length(text)
    contexts = scanner.candidate_contexts(lowered)
    return bool(_find_secrets(text, scanner)) or has_labelled_value(lowered, scanner, contexts)


def _find_secrets(text: str, scanner: SecretScanner) -> list[SecretSpan]:
    """Return the secrets of ``text`` in order; the whole text if there are too many of them, or too many candidates."""
    try:
        spans = list(islice(_iter_secrets(text, scanner), MAX_SECRETS + 1))
    except TooManyMatchesError:
        return [SecretSpan(0, len(text), 0, "secrets")]
    return merge_spans(spans) if len(spans) <= MAX_SECRETS else [SecretSpan(0, len(text), 0, "secrets")]


def _iter_secrets(text: str, scanner: SecretScanner) -> Iterator[SecretSpan]:
    lowered = _lower_same_length(text)
    contexts = scanner.candidate_contexts(lowered)
    yield from _find_in_plain_text(text, lowered, scanner, contexts)
    if "escape" in contexts and (view := decode_escapes(text, lowered, scanner)):
        decoded = _lower_same_length(view.text)
        for span in _find_in_plain_text(view.text, decoded, scanner, scanner.candidate_contexts(decoded)):
            yield view.original_span(span)
    if "encoded" in contexts:
        for start, end, plain in decode_base64_runs(text, lowered, scanner):
            decoded = _lower_same_length(plain)
            if hidden := next(_find_in_plain_text(plain, decoded, scanner, scanner.candidate_contexts(decoded)), None):
                yield hidden._replace(start=start, end=end)
    if "\n" in text and (joined := join_wrapped_lines(text)):
        view_text = joined.view.text
        lowered = _lower_same_length(view_text)
        contexts = scanner.candidate_contexts(lowered)
        yield from joined.find_split_formats(_FORMAT_RANKS, scanner.candidate_formats(view_text))
        yield from joined.select_split_spans(find_secrets_over_lines(view_text, lowered, scanner, contexts))


def _find_in_plain_text(
    text: str, lowered: str, scanner: SecretScanner, contexts: Collection[str]
) -> Iterator[SecretSpan]:
    """Yield the secrets of a text that is not encoded."""
    if "key block" in contexts:
        yield from find_private_keys(text)
    for secret_format in scanner.candidate_formats(text):
        yield from _find_format(secret_format, text)
    yield from find_secrets_in_context(text, lowered, scanner, contexts)


def _find_format(secret_format: SecretFormat, text: str) -> Iterator[SecretSpan]:
    rank = _FORMAT_RANKS[secret_format]
    for match in secret_format.pattern.finditer(text):
        start, end = secret_format.secret_bounds(match)
        suffix_start = match.start() + len(secret_format.literal)
        if secret_format.prefix_length or not _MASKED_OUT.fullmatch(text, suffix_start, end):
            yield SecretSpan(start, end, rank, secret_format.kind)
            if secret_format.kind == "aws-access-key" and (pair := _AWS_SECRET_BEHIND_ID.match(text, end)):
                yield SecretSpan(*pair.span(1), rank, "aws-secret-key")


_MASKED_OUT = re.compile("[xX*._-]{8,}")
_AWS_SECRET_BEHIND_ID = re.compile(r"[\s,;:|\"']{1,8}([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])")


def _lower_same_length(text: str) -> str:
    """Return ``text`` in lower case with the same length: İ would become longer."""
    return text.lower() if text.isascii() else text.replace("İ", "I").lower()
