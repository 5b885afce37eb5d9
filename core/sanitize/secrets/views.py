"""Views of a text that reveal secrets which are escaped, encoded or broken over lines.

There is no view of a view: what is encoded twice stays. The length of decoded base64 is bounded.
"""

from __future__ import annotations

from binascii import Error as Base64Error
from binascii import a2b_base64
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from upbeat.core import lazy_re as re
from upbeat.core.lazy_dataclass import dataclass
from upbeat.core.sanitize.secrets.formats import SecretFormat, SecretSpan
from upbeat.core.sanitize.secrets.scan import ScannedText
from upbeat.core.sanitize.secrets.values import is_made_of_words

# Escapes

_ESCAPE = re.compile(
    r"%(?:25)?([2-7][0-9A-Fa-f])|\\{1,2}u00([2-7][0-9A-Fa-f])|\\{1,2}x([2-7][0-9A-Fa-f])|&#[xX]0{0,2}([2-7][0-9A-Fa-f]);"
    r"|&#0{0,2}([0-9]{2,3});|&(quot|apos|amp|lt|gt);|=(3[Dd])(?=[\"'A-Za-z0-9+/_=-])|=(\r?\n)(?=[A-Za-z0-9+/_=-])|\\{1,2}(/)"
)
_MAX_ESCAPES = 20_000
"""Escapes of one text that are decoded."""
_ENTITIES = {"quot": '"', "apos": "'", "amp": "&", "lt": "<", "gt": ">"}


@dataclass(frozen=True, slots=True)
class DecodedView:
    """A decoded text: its pieces begin at ``view_offsets``, and at ``original_offsets`` in the original text."""

    text: str
    view_offsets: Sequence[int]
    original_offsets: Sequence[int]

    def original_offset(self, offset: int) -> int:
        """Return the offset in the original of the character at ``offset``."""
        piece = bisect_right(self.view_offsets, offset) - 1
        return self.original_offsets[piece] + offset - self.view_offsets[piece]

    def original_span(self, span: SecretSpan) -> SecretSpan:
        """Return ``span`` in the original, including the whole escape of its last character."""
        piece = bisect_right(self.view_offsets, span.end - 1)
        last = self.original_offset(span.end - 1) + 1
        is_last_of_piece = piece < len(self.view_offsets) and self.view_offsets[piece] == span.end
        return span._replace(
            start=self.original_offset(span.start), end=self.original_offsets[piece] if is_last_of_piece else last
        )


def decode_escapes(scan: ScannedText) -> DecodedView | None:
    """Decode percent escapes, backslash escapes and entities of visible ASCII characters; None if there are none."""
    text = scan.text
    view_offsets, original_offsets, done, length = [0], [0], 0, 0
    pieces: list[str] = []
    for match in islice(scan.find_matches(_ESCAPE, "escape", text), _MAX_ESCAPES):
        char = _decode_escape(match)
        if char is None:
            continue
        pieces += (text[done : match.start()], char)
        length += match.start() - done
        done = match.end()
        view_offsets += (length, length + len(char))
        original_offsets += (match.start(), done)
        length += len(char)
    return DecodedView("".join([*pieces, text[done:]]), view_offsets, original_offsets) if pieces else None


def _decode_escape(match: re.Match[str]) -> str | None:
    """Return the character of an escape; None if it is not visible ASCII."""
    group = match.lastindex or 0
    value = match[group]
    if group >= 8:
        return value.strip()
    if group == 6:
        return _ENTITIES[value]
    code = int(value, 10 if group == 5 else 16)
    return chr(code) if 0x20 < code < 0x7F else None


# Base64

_BASE64_RUN = re.compile(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{24,}+={0,2}")
_MAX_DECODED_LENGTH = 300_000
"""Base64 characters of one text that are decoded."""
_MAX_RUNS = 10_000
_PROBE_LENGTH = 16
_URL_SAFE = str.maketrans("-_", "+/")


def decode_base64_runs(scan: ScannedText) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and content of base64 runs that encode text."""
    remaining = _MAX_DECODED_LENGTH
    for match in islice(scan.find_matches(_BASE64_RUN, "encoded", scan.text), _MAX_RUNS):
        start, end = match.span()
        if _decode_base64(scan.text[start : start + _PROBE_LENGTH]) is None:
            continue
        remaining -= end - start
        if remaining < 0:
            return
        if plain := _decode_base64(match[0].rstrip("=")):
            yield start, end, plain


def _decode_base64(run: str) -> str | None:
    """Return the content of ``run`` if it is base64 of visible ASCII."""
    try:
        plain = a2b_base64((run + "=" * (-len(run) % 4)).translate(_URL_SAFE))
    except Base64Error:
        return None
    return text if plain.isascii() and (text := plain.decode()).translate(_SPACES).isprintable() else None


_SPACES = dict.fromkeys(map(ord, "\t\r\n"), " ")

# Lines

_QUOTES = ('"', "'", "`")
_LINE_PREFIXES = ">|#*+-"
"""Prefixes of the lines of a quotation, a table, a comment or a diff."""
_SECRET_CHARACTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/_=-.%")
_JOINT = re.compile(r"\n(?<=[A-Za-z0-9+/_=.%\"'`&\\ \t-]\n)(?=[ \t]*[>|#*+\"'`A-Za-z0-9/_=.%-])")
"""The end of a line that may be inside a secret, behind which the secret may continue."""
_CLOSING_ONLY = re.compile(r"[\"'`,;)\]}>|+\\&. \t]*(?:\n|\Z)")
_MAX_JOINTS = 10_000
"""Line ends of one text that are joined."""
_MAX_LINES = 8
"""Lines that one secret can span."""


@dataclass(frozen=True, slots=True)
class JoinedText(DecodedView):
    """A text without the line ends that may be inside a secret; its pieces begin where lines were joined."""

    original_text: str

    def find_split_formats(
        self, ranks: Mapping[SecretFormat, int], formats: Sequence[SecretFormat]
    ) -> Iterator[SecretSpan]:
        """Yield the secrets with a published format that are broken over lines."""
        text = self.text
        for candidate in formats:
            pattern = candidate.unanchored_pattern
            for match in pattern.finditer(text) if not candidate.is_unbounded else ():
                start, end = candidate.secret_bounds(match)
                prefix_start = match.start() - candidate.prefix_length
                if not self._joints(start, end) or not (
                    self._is_joint_at(prefix_start) or candidate.can_begin_at(text, prefix_start)
                ):
                    continue
                suffix_start = match.start() + len(candidate.literal)
                full_end = self._split_secret_end(
                    start, end, suffix_start, candidate.suffix_length, (pattern, match.start())
                )
                if full_end == end:
                    is_valid = not (
                        candidate.ends_at_boundary and not self._is_joint_at(end) and text[end : end + 1].isalnum()
                    )
                else:
                    is_valid = bool(full_end and pattern.match(text, match.start(), full_end))
                if is_valid:
                    yield self._original_part(SecretSpan(start, full_end, ranks[candidate], candidate.kind))

    def select_split_spans(self, spans: Iterable[SecretSpan]) -> Iterator[SecretSpan]:
        """Yield those of ``spans``, secrets of the view found by context, that are broken over lines."""
        for span in spans:
            if span.kind == "url-password" and self._joints(span.start, span.end):
                yield self._original_part(span)
            elif end := self._split_secret_end(span.start, span.end, span.start):
                yield self._original_part(span._replace(end=end))

    def _split_secret_end(
        self,
        start: int,
        end: int,
        suffix_start: int,
        suffix_length: int = 0,
        partial_match: tuple[re.Pattern[str], int] | None = None,
    ) -> int:
        """Return the end of the secret in the view; 0 if it contains no joint.

        The part from ``suffix_start`` on has ``suffix_length`` characters, if known. A match that is not complete yet
        continues with any word.
        """
        done = 0
        joints = self._joints(start, end)
        if not joints:
            return 0
        for joint, line_end in zip(joints, [*joints[1:], end], strict=True):
            if suffix_length and joint - suffix_start >= suffix_length:
                break
            if suffix_length and line_end - suffix_start == suffix_length:
                return line_end
            if not _CLOSING_ONLY.match(self.original_text, self.original_offset(line_end - 1) + 1):
                break
            is_part = partial_match and not partial_match[0].match(self.text, partial_match[1], joint)
            if is_part or not is_made_of_words(self.text[joint:line_end]):
                done = line_end
        return done

    def _joints(self, start: int, end: int) -> Sequence[int]:
        """Return the joints of lines between two offsets of the view."""
        first = bisect_right(self.view_offsets, start)
        last = bisect_left(self.view_offsets, end, first, min(first + _MAX_LINES, len(self.view_offsets)))
        return self.view_offsets[first:last]

    def _is_joint_at(self, offset: int) -> bool:
        return self.view_offsets[bisect_right(self.view_offsets, offset) - 1] == offset

    def _original_part(self, span: SecretSpan) -> SecretSpan:
        return span._replace(start=self.original_offset(span.start), end=self.original_offset(span.end - 1) + 1)


def join_wrapped_lines(text: str) -> JoinedText | None:
    """Join each line of ``text`` to the previous one where a secret could continue; None if nowhere."""
    view_offsets, original_offsets, pieces = [0], [0], []
    length, piece_start = 0, 0
    for joint in _JOINT.finditer(text):
        line_end = joint.start()
        start = text.rfind("\n", 0, line_end) + 1
        left = text[start:line_end]
        next_end = text.find("\n", line_end + 1)
        line = text[line_end + 1 : next_end if next_end >= 0 else len(text)]
        right = line.lstrip(" \t")
        if not (left[-1].isalnum() and right[:1].isalnum()):
            left, right = _strip_joint(left, line)
        if left and right and left[-1] in _SECRET_CHARACTERS and right[0] in _SECRET_CHARACTERS:
            piece_end = start + len(left)
            if piece_end > piece_start:
                pieces.append(text[piece_start:piece_end])
                length += piece_end - piece_start
                piece_start = line_end + 1 + len(line) - len(right)
                view_offsets.append(length)
                original_offsets.append(piece_start)
                if len(view_offsets) > _MAX_JOINTS:
                    break
    if not pieces:
        return None
    return JoinedText("".join([*pieces, text[piece_start:]]), view_offsets, original_offsets, text)


def _strip_joint(previous: str, line: str) -> tuple[str, str]:
    """Return two lines without what joins a string over them: quotes, operators, indentation, a line prefix."""
    left = previous.rstrip(" \t\\")
    if left[-1:] in ("+", ".", "&") and left[:-1].rstrip(" \t").endswith(_QUOTES):
        left = left[:-1].rstrip(" \t")
    right = line.lstrip(" \t")
    if right[:1] in _LINE_PREFIXES and right[:1] == previous.lstrip(" \t")[:1]:
        right = right[1:].lstrip(" \t")
    return left[:-1] if left.endswith(_QUOTES) else left, right[1:] if right.startswith(_QUOTES) else right
