"""Find secrets behind labels in prose of other languages than English, on the same line: only what cannot be a word."""

from __future__ import annotations

import re
from collections.abc import Iterator

from upbeat.core.package_data import load_rows
from upbeat.core.sanitize.secrets.formats import SECRET_FORMATS, SecretSpan
from upbeat.core.sanitize.secrets.scan import MAX_CONTEXT_MATCHES, ScannedText, TooManyMatchesError, is_latin
from upbeat.core.sanitize.secrets.values import is_passphrase, is_strongly_secret

_RANK = len(SECRET_FORMATS) + 4
_LABELS = sorted(
    {label for _, labels in load_rows(__package__, "labels.tsv") for label in labels.split("|")}, key=len, reverse=True
)
_WIDE_LABELS = [label for label in _LABELS if not is_latin(label)]
_MAX_DISTANCE = 80
"""Characters between a label and its secret."""
_LATIN_LABEL = re.compile(r"(?<!\w)(?:" + "|".join(map(re.escape, filter(is_latin, _LABELS))) + r")(?!\w)")
_CANDIDATE = re.compile(r"[!-~]")
_NEXT_SENTENCE = re.compile(r"[。！？]|[^\s:：|]\s*\t")
_WHOLE = re.compile(r"[!-~]{1,256}")
_QUOTED_PHRASE = re.compile(r"[^\"'`“「『\n]{0,40}[\"'`“「『]([^\"'`”」』\n]{6,256})[\"'`”」』]")
_OUTER = "\"'`()[]{}<>,;:"


def find_by_label(scan: ScannedText) -> Iterator[SecretSpan]:
    """Yield the first value behind each label that can be nothing but a secret. What is behind two is judged once.

    Raises:
        TooManyMatchesError: There are too many candidates.
    """
    ends = [match.end() for match in scan.find_matches(_LATIN_LABEL, "label", scan.lowered)]
    letters = set(scan.lowered) if "wide letters" in scan.contexts and not scan.lowered.isascii() else set()
    for label in [label for label in _WIDE_LABELS if label[0] in letters and label[-1] in letters]:
        position = scan.lowered.find(label)
        while position >= 0 and len(ends) <= MAX_CONTEXT_MATCHES:
            ends.append(position + len(label))
            position = scan.lowered.find(label, ends[-1])
    if len(ends) > MAX_CONTEXT_MATCHES:
        raise TooManyMatchesError
    done = 0
    for end in sorted(ends):
        limit = min(end + _MAX_DISTANCE, len(scan.text))
        line_end = scan.text.find("\n", end, limit)
        limit = line_end if line_end >= 0 else limit
        if (phrase := _QUOTED_PHRASE.match(scan.text, end)) and is_passphrase(phrase[1]):
            yield SecretSpan(*phrase.span(1), _RANK, "password")
        elif found := _find_value(scan.text, max(end, done), limit):
            yield SecretSpan(*found, _RANK, "password")
        done = max(done, limit)


def _find_value(text: str, position: int, limit: int) -> tuple[int, int] | None:
    """Return the bounds of the first secret that begins before ``limit``."""
    while (candidate := _CANDIDATE.search(text, position, limit)) and (whole := _WHOLE.match(text, candidate.start())):
        if _NEXT_SENTENCE.search(text, position, candidate.start()):
            return None
        start, position = candidate.start(), whole.end()
        value = whole[0].lstrip(_OUTER)
        start += len(whole[0]) - len(value)
        value = value.rstrip(_OUTER + ".")
        if is_strongly_secret(value, is_user_chosen=True, is_literal=True) and not value.isalpha():
            return start, start + len(value)
        if whole[0][-1] in ".!?":
            return None
    return None
