"""Redact secrets: every finder reads the original text; their spans are merged and then replaced, all at once.

So a secret that one finder recognizes in part and another as a whole is redacted as a whole, and no finder depends on
the order of the others. ``formats`` has published formats, ``context`` judges values by the names before them, ``scan``
says where to search, ``views`` decodes what is encoded or broken over lines. Secrets without a format and without a
telling name are not found.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import islice

from upbeat.core import lazy_re as re
from upbeat.core.lazy_dataclass import dataclass
from upbeat.core.sanitize.secrets.context import find_secrets_in_context, has_labelled_value
from upbeat.core.sanitize.secrets.formats import SECRET_FORMATS, SecretSpan, find_private_keys
from upbeat.core.sanitize.secrets.scan import CONTEXTS_OVER_LINES, ScannedText, TooManyMatchesError, choose_engine
from upbeat.core.sanitize.secrets.views import decode_base64_runs, decode_escapes, join_wrapped_lines

_MAX_ROUNDS = 3
"""A replacement can reveal a secret that was hidden before; no known text reveals more than one more."""
MAX_SECRETS = 1000
"""Secrets in one text; a text with more is redacted as a whole."""
_FORMAT_RANKS = {secret_format: rank for rank, secret_format in enumerate(SECRET_FORMATS, start=1)}
_MASKED_OUT = re.compile("[xX*._-]{8,}")
_AWS_SECRET_BEHIND_ID = re.compile(r"[\s,;:|\"']{1,8}([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])")


@dataclass(frozen=True, slots=True)
class RedactedText:
    """A text without secrets; ``redactions`` are kinds with their counts, sorted by kind."""

    text: str
    redactions: tuple[tuple[str, int], ...] = ()


def redact(text: str, *, preserve_lines: bool = False) -> RedactedText:
    """Replace each secret of ``text`` by ``<redacted:kind>``; idempotent.

    With ``preserve_lines`` the line ends in a secret stay, so that line numbers stay valid.
    """
    counts: Counter[str] = Counter()
    for _ in range(_MAX_ROUNDS):
        spans = find_secrets(ScannedText(text, choose_engine(text)))
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
    scan = ScannedText(text, choose_engine(text))
    return bool(find_secrets(scan)) or has_labelled_value(scan)


def find_secrets(scan: ScannedText) -> list[SecretSpan]:
    """Return the secrets of a text in order; the whole text if it has too many of them, or too many candidates.

    Overlapping secrets are one, named by the finder with the lowest rank.
    """
    try:
        spans = sorted(islice(_iter_secrets(scan), MAX_SECRETS + 1))
    except TooManyMatchesError:
        return [SecretSpan(0, len(scan.text), 0, "secrets")]
    if len(spans) > MAX_SECRETS:
        return [SecretSpan(0, len(scan.text), 0, "secrets")]
    merged: list[SecretSpan] = []
    for span in spans:
        if merged and span.start < merged[-1].end:
            last = merged[-1]
            first = last if (last.rank, last) <= (span.rank, span) else span
            merged[-1] = SecretSpan(last.start, max(last.end, span.end), first.rank, first.kind)
        else:
            merged.append(span)
    return merged


def _iter_secrets(scan: ScannedText) -> Iterator[SecretSpan]:
    yield from _find_in_plain_text(scan)
    if "escape" in scan.contexts and (view := decode_escapes(scan)):
        for span in _find_in_plain_text(ScannedText(view.text, scan.engine)):
            yield view.original_span(span)
    if "encoded" in scan.contexts:
        for start, end, plain in decode_base64_runs(scan):
            if hidden := next(_find_in_plain_text(ScannedText(plain, scan.engine)), None):
                yield hidden._replace(start=start, end=end)
    if "\n" in scan.text and (joined := join_wrapped_lines(scan.text)):
        view_scan = ScannedText(joined.text, scan.engine, over_lines=True)
        if formats := view_scan.candidate_formats():
            yield from joined.find_split_formats(_FORMAT_RANKS, formats)
        if contexts := view_scan.contexts & CONTEXTS_OVER_LINES:
            yield from joined.select_split_spans(find_secrets_in_context(view_scan, contexts))


def _find_in_plain_text(scan: ScannedText) -> Iterator[SecretSpan]:
    """Yield the secrets of a text that is not encoded."""
    text = scan.text
    if "key block" in scan.contexts:
        yield from find_private_keys(text)
    for secret_format in scan.candidate_formats():
        rank = _FORMAT_RANKS[secret_format]
        for match in secret_format.pattern.finditer(text):
            start, end = secret_format.secret_bounds(match)
            suffix_start = match.start() + len(secret_format.literal)
            if not secret_format.prefix_length and _MASKED_OUT.fullmatch(text, suffix_start, end):
                continue
            yield SecretSpan(start, end, rank, secret_format.kind)
            if secret_format.kind == "aws-access-key" and (pair := _AWS_SECRET_BEHIND_ID.match(text, end)):
                yield SecretSpan(*pair.span(1), rank, "aws-secret-key")
    yield from find_secrets_in_context(scan, scan.contexts)
