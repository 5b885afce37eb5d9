"""Find secrets in command lines: the values of options and words that a table of programs names, and what is piped in.

A program that the table does not name counts, too, if its line has both a user and an option for a password.
"""

from __future__ import annotations

from collections.abc import Iterator

from upbeat.core import lazy_re as re
from upbeat.core.lazy_dataclass import dataclass, field
from upbeat.core.package_data import load_rows
from upbeat.core.sanitize.secrets.formats import SECRET_FORMATS, SecretSpan
from upbeat.core.sanitize.secrets.scan import ScannedText
from upbeat.core.sanitize.secrets.values import is_clearly_secret, is_given, is_passphrase, is_strongly_secret

_RANK = len(SECRET_FORMATS) + 2
_MAX_LINE = 1000
"""Characters of one command that are read."""
_MAX_WORDS = 40
_MAX_PREFIX = 20
"""Characters between a pipe and the program that reads from it."""
_PLACE = re.compile(r"(?P<name>\*(?==)|\||<<<|[-/]{0,2}[\w.-]*)(?P<joined>[*+]?)(?P<after>>?)(?P<separator>[:%,=/]?)")
_WORD = re.compile(r"""(?:\\\n|[ \t])*+((?:[^\s'"|;&<>()`\\]|\\.|'[^'\n]*+'|"(?:[^"\\\n]|\\.)*+")++)""")
_LINE_START = re.compile(r"(?:\A|\n)[ \t]*/?$")
_HERE_STRING = re.compile(r"[ \t]*<<<[ \t]*")
_PIPED = re.compile(
    r"(?:echo|printf|print)[ \t]+(?:-[neE]+[ \t]+|['\"]%s(?:\\n)?['\"][ \t]+)*"
    r"(?P<value>'[^'\n]+'|\"[^\"\n]+\"|[^\s|;&<>]+)"
    r"[ \t]*\|[ \t]*(?:sudo[ \t]+(?:-\w+[ \t]+)*)?$"
)
_NO_LITERAL = ("env", "file", "fd", "stdin")
_GENERIC = re.compile(
    r"[ \t](?:-u|-U|-l|-user|--user(?:name)?|--login)[ =][^\s|;&]{1,80}[ \t](?:[^\n|;&]{0,120}?[ \t])?"
    r"(?:-p|-P|-w|-pw|-pass)[ =]?(?P<value>'[^'\n]{6,128}'|\"[^\"\n]{6,128}\"|[^\s'\"|;&<>]{6,128})"
)


@dataclass(frozen=True, slots=True)
class _Row:
    """The places of a program after ``words``: options with how their value is joined, and others."""

    words: tuple[str, ...]
    begins_line: bool = False
    options: dict[str, tuple[str, str]] = field(default_factory=dict)
    keywords: dict[str, str] = field(default_factory=dict)
    positions: tuple[tuple[int, str], ...] = ()
    piped: str | None = None
    here_string: str | None = None
    assigns: bool = False


def _parse_row(words: str, places: str, *, begins_line: bool) -> _Row:
    options, keywords, positions, fed = {}, {}, [], {}
    for place in places.split():
        match = _PLACE.fullmatch(place)
        if match is None:
            raise ValueError(f"tool_options.tsv has a place that cannot be read: {place}")
        name, separator = match["name"], match["separator"]
        if match["after"]:
            keywords[name] = separator
        elif name in ("|", "<<<", "*"):
            fed[name] = separator
        elif name.lstrip("-").isdigit():
            positions.append((int(name), separator))
        else:
            options[name] = (match["joined"], separator)
    return _Row(
        tuple(words.split()),
        begins_line,
        options,
        keywords,
        tuple(positions),
        fed.get("|"),
        fed.get("<<<"),
        assigns="*" in fed,
    )


def _load_rows() -> dict[str, list[_Row]]:
    programs: dict[str, list[_Row]] = {}
    for names, words, places in load_rows(__package__, "tool_options.tsv"):
        row = _parse_row(words, places, begins_line=names.startswith("^"))
        for name in names.split("|"):
            programs.setdefault(name.removeprefix("^"), []).append(row)
    return programs


_PROGRAMS = _load_rows()
_PROGRAM = re.compile(r"(?<![\w.=-])([a-z0-9][\w.-]{1,22})(?:\.exe)?(?=[ \t]|$)", re.MULTILINE)

_Part = tuple[int, int]


def find_in_commands(scan: ScannedText) -> Iterator[SecretSpan]:
    """Yield the secrets of command lines.

    Raises:
        TooManyMatchesError: There are too many candidates.
    """
    text = scan.text
    read: dict[str, int] = {}
    for match in scan.find_matches(_PROGRAM, "command", scan.lowered):
        rows = _PROGRAMS.get(match[1])
        if not rows or match.start() < read.get(match[1], 0):
            continue
        words, end = _split_words(text, match.end())
        read[match[1]] = end
        for row in rows:
            for start, stop, is_certain in _find_in_command(text, match, row, words, end):
                yield from _judge(text, start, stop, is_certain=is_certain)
    for match in _GENERIC.finditer(text) if "generic command" in scan.contexts else ():
        yield from _judge(text, *match.span("value"), is_certain=False)


def _judge(text: str, start: int, end: int, *, is_certain: bool) -> Iterator[SecretSpan]:
    start, end = _strip_quotes(text, start, end)
    value = text[start:end].removesuffix("\\r").removesuffix("\\n")
    if is_given(value) if is_certain else _looks_secret(value):
        yield SecretSpan(start, start + len(value), _RANK, "password")


def _looks_secret(value: str) -> bool:
    return (
        is_clearly_secret(value, is_user_chosen=True)
        or is_strongly_secret(value, is_user_chosen=True, is_literal=True)
        or is_passphrase(value)
    )


def _find_in_command(
    text: str, program: re.Match[str], row: _Row, words: list[_Part], end: int
) -> Iterator[tuple[int, int, bool]]:
    """Yield the bounds of the values at the places of ``row``, and whether it can only be a secret."""
    if row.begins_line and not _LINE_START.search(text, max(program.start() - 40, 0), program.start()):
        return
    if row.piped is not None and "|" in text[max(program.start() - _MAX_PREFIX, 0) : program.start()]:
        first = max(program.start() - _MAX_LINE, 0)
        start = max(text.rfind(word, first, program.start()) for word in ("echo", "print"))
        if start >= 0 and (piped := _PIPED.match(text, start, program.start())):
            yield *_behind(text, *_strip_quotes(text, *piped.span("value")), row.piped), False
    words, end = _split_words(text, program.end())
    if (
        row.here_string is not None
        and (here := _HERE_STRING.match(text, end))
        and (word := _WORD.match(text, here.end()))
    ):
        yield *_behind(text, *_strip_quotes(text, *word.span(1)), row.here_string), False
    yield from _find_in_words(text, words, row)


def _find_in_words(text: str, words: list[_Part], row: _Row) -> Iterator[tuple[int, int, bool]]:
    expected = list(row.words)
    plain: list[_Part] = []
    index = 0
    while index < len(words):
        start, end = words[index]
        word, following = text[start:end], words[index + 1] if index + 1 < len(words) else None
        index += 1
        if (place := _option_value(text, start, end, following, row)) is not None:
            index += place == following
            yield *_behind(text, *_strip_quotes(text, *place), _separator(word, row)), not expected
        elif following and not expected and (separator := row.keywords.get(word)) is not None:
            if text[slice(*following)] in _LEVELS and index + 1 < len(words):
                following = words[index + 1]
            yield *_behind(text, *_strip_quotes(text, *following), separator), False
        elif expected and word == expected[0]:
            expected.pop(0)
        elif not expected and word[0] != "-" and not (word[0] == "/" and row.options):
            plain.append((start, end))
    if expected:
        return
    for number, separator in row.positions:
        if 0 < number <= len(plain) or (number < 0 and plain):
            place = plain[number - 1 if number > 0 else number]
            yield *_behind(text, *_strip_quotes(text, *place), separator), False
    if row.assigns:
        for start, end in plain:
            yield *_behind(text, start, end, "="), False


_LEVELS = ("0", "5", "7", "8", "9")
"""Words of network devices that say how a secret is encrypted."""


def _option_value(text: str, start: int, end: int, following: _Part | None, row: _Row) -> _Part | None:
    """Return the bounds of the value of the option at ``start`` if the row names it."""
    word = text[start:end]
    if word[0] not in "-/" or not row.options:
        return None
    joined = row.options.get(word)
    if joined is not None:
        return following if joined[0] != "+" else None
    for cut in (word.find("="), word.find(":") if word[0] == "/" else -1):
        if cut > 0 and word[:cut] in row.options:
            return start + cut + 1, end
    for option in (word[:2], word[:3]):
        if option in row.options and row.options[option][0] and len(option) < len(word) and word[:2] != "--":
            return start + len(option), end
        if option in row.options and row.options[option][1] and len(option) < len(word) and word[:2] != "--":
            return start + len(option), end
    return None


def _separator(word: str, row: _Row) -> str:
    for name in (word, word.partition("=")[0], word.partition(":")[0], word[:3], word[:2]):
        if name in row.options:
            return row.options[name][1]
    return ""


def _split_words(text: str, position: int) -> tuple[list[_Part], int]:
    """Return the bounds of the words of the command from ``position`` on, and where it ends."""
    words: list[_Part] = []
    limit = position + _MAX_LINE
    while position < limit and len(words) < _MAX_WORDS and (word := _WORD.match(text, position)):
        words.append(word.span(1))
        position = word.end()
    return words, position


def _strip_quotes(text: str, start: int, end: int) -> _Part:
    if (
        end - start >= 2
        and text[start] in "'\""
        and text[end - 1] == text[start]
        and text.find(text[start], start + 1, end) == end - 1
    ):
        return start + 1, end - 1
    return start, end


def _behind(text: str, start: int, end: int, separator: str) -> _Part:
    """Return the part of a value after the separator; an empty one if there is none or no literal follows it."""
    if not separator:
        return start, end
    cut = text.find(separator, start, end)
    if cut < 0 or text[start:cut] in _NO_LITERAL:
        return end, end
    stop = text.find("@", cut, end) if separator == "/" else -1
    return _strip_quotes(text, cut + 1, stop if stop > 0 else end)
