"""Every finder looks at the original text; what they find is joined and then replaced, all at once.

So a secret that one finder sees in part and another as a whole goes as a whole, and no finder depends on the
order of the others. ``secret_rules`` has the formats that vendors publish, ``secret_values`` decides about values
that are assigned to telling names; this file finds the places. Secrets without format and without name are not
found.
"""

from __future__ import annotations

import re
from binascii import Error as Base64Error
from binascii import a2b_base64
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .secret_rules import RULES
from .secret_values import is_placeholder, is_secret

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_ROUNDS = 3
"""A replacement can show a secret that was hidden before; nobody has built one that shows more than one more."""


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text without secrets; ``redactions`` are kinds with their counts, sorted by kind."""

    text: str
    redactions: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True, order=True)
class _Span:
    """``start`` and ``end`` of a secret; of spans that overlap, the kind with the lowest ``rank`` is named."""

    start: int
    end: int
    rank: int
    kind: str


def redact(text: str, *, keeps_lines: bool = False) -> Redacted:
    """``text`` with each secret replaced by ``<redacted:kind>``. Doing it twice changes nothing more.

    With ``keeps_lines`` the line ends of a secret stay, so that what follows keeps its line number.
    """
    counts: Counter[str] = Counter()
    for _ in range(_ROUNDS):
        spans = _joined(_find(text))
        if not spans:
            break
        text = _replaced(text, spans, keeps_lines)
        counts.update(span.kind for span in spans)
    return Redacted(text, tuple(sorted(counts.items())))


def may_hide_secrets(text: str) -> bool:
    """Whether something in ``text`` has the form of a secret. If not, ``redact`` leaves each of its lines as it is."""
    lowered = _lower(text)
    runs = " ".join(_RUN.findall(text))
    return (
        "PRIVATE KEY" in text
        or any(rule.literal in runs and rule.pattern.search(text) for rule in RULES)
        or (any(map(lowered.__contains__, _SCHEMES)) and _SCHEME.search(text) is not None)
        or ("://" in text and "@" in text and any(form.search(text) for form in (_USERINFO, _USER_ONLY)))
        or ("--" in text and _FLAG.search(lowered) is not None)
        or ("-u" in text and _USER_FLAG.search(text) is not None)
        or (any(map(lowered.__contains__, _TELLING)) and _ASSIGNED.search(lowered) is not None)
    )


def _find(text: str) -> Iterator[_Span]:
    yield from _private_keys(text)
    yield from _known_formats(text)
    lowered = _lower(text)
    yield from _headers(text, lowered)
    yield from _command_lines(text, lowered)
    yield from _assigned(text, lowered)


def _joined(spans: Iterable[_Span]) -> list[_Span]:
    """Spans in order, those that overlap made one."""
    joined: list[_Span] = []
    for span in sorted(spans):
        if joined and span.start < joined[-1].end:
            last = joined[-1]
            first = min(last, span, key=lambda each: each.rank)
            span = _Span(last.start, max(last.end, span.end), first.rank, first.kind)
            joined.pop()
        joined.append(span)
    return joined


def _replaced(text: str, spans: list[_Span], keeps_lines: bool) -> str:
    pieces, done = [], 0
    for span in spans:
        lines = "\n" * text.count("\n", span.start, span.end) if keeps_lines else ""
        pieces += [text[done : span.start], f"<redacted:{span.kind}>{lines}"]
        done = span.end
    return "".join([*pieces, text[done:]])


# Formats

_CROSSED_OUT = re.compile("[xX*._-]{8,}")
_AWS_SECRET_BEHIND_ID = re.compile(r"[\s,;:|\"']{1,8}([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])")


_RUN = re.compile(r"[^\s\"'`<>(){}\[\],;|\\]{15,}+")
"""What a secret with a format is, or is part of: the shortest has fifteen characters."""


def _known_formats(text: str) -> Iterator[_Span]:
    runs = " ".join(_RUN.findall(text))
    for rank, rule in enumerate(RULES, start=1) if runs else ():
        if rule.literal not in runs:
            continue
        for found in rule.pattern.finditer(text):
            start, end = found.span(found.re.groups)
            if _CROSSED_OUT.fullmatch(text, start + len(rule.literal), end):
                continue
            yield _Span(start, end, rank, rule.kind)
            if rule.kind == "aws-access-key" and (pair := _AWS_SECRET_BEHIND_ID.match(text, end)):
                yield _Span(*pair.span(1), rank, "aws-secret-key")


# Private keys

_BEGIN = re.compile(r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_END = re.compile(r"-----END (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_END_CUT_OFF = re.compile(r"-{1,5}(?:E(?:N(?:D(?: [A-Z0-9 ]{0,40}-{0,5})?)?)?)?")
_BETWEEN = re.compile(r"(?:\\[nrt]?|[0-9]{1,6}[:|→\-]|[\s\"'`,;|>#*()]|//(?=\s)|[+-](?=[\s\"'A-Za-z0-9+/]))*+")
"""What stands between two lines of a key: line ends, escapes, quotes, and the marks of diffs and line numbers."""
_HEADER = re.compile(r"[A-Z][A-Za-z-]{1,30}: [^\n\\\"']{0,200}")
_BASE64 = re.compile(r"(?:[A-Za-z0-9+/=]|\\/)++")
_SHORTEST_LINE, _LONGEST_LINE = 16, 200
_BASE64_LINE = re.compile(r"[\s>#*+/|\"'`0-9:→-]{0,16}?[A-Za-z0-9+/=]{16,}[\s\"'`,;+\\n]{0,8}")
_LAST_LINE = re.compile(r"[^\n]{0,60}=[\s\"'`,;+\\n]{0,8}")


def _private_keys(text: str) -> Iterator[_Span]:
    """Keys in PEM and PGP armour: whole, without their end, or without their beginning."""
    if "PRIVATE KEY" not in text:
        return
    for begin in _BEGIN.finditer(text):
        if end := _end_of_key(text, begin.end()):
            yield _Span(begin.start(), end, 0, "private-key")
    for last in _END.finditer(text):
        start = _start_of_key(text, last.start())
        if start < last.start():
            yield _Span(start, last.end(), 0, "private-key")


def _end_of_key(text: str, place: int) -> int:
    """Where the key whose first line ends at ``place`` ends; 0 if only that line is there."""
    end = 0
    while True:
        before, place = place, _skip(_BETWEEN, text, place)
        if closing := _END.match(text, place):
            return closing.end() if end else 0
        if header := _HEADER.match(text, place):
            place = header.end()
            continue
        line = _BASE64.match(text, place)
        if line is None:
            return _skip(_END_CUT_OFF, text, place) if end else 0
        after = _skip(_BETWEEN, text, line.end())
        gaps = text[before:place], text[line.end() : after]
        is_last = _END.match(text, after) is not None and all("\n" in gap or "\\n" in gap for gap in gaps)
        if len(line[0]) < _SHORTEST_LINE and not is_last and not (end and line[0].endswith("=")):
            return end
        place = end = line.end()


def _start_of_key(text: str, place: int) -> int:
    """Where the base64 lines right before ``place`` begin; ``place`` itself if there are none."""
    start = place
    line_start = _line_start(text, place)
    while line_start > 0:
        line_end = line_start - 1
        line_start = _line_start(text, line_end)
        shape = _LAST_LINE if start == place else _BASE64_LINE
        if not (shape.fullmatch(text, line_start, line_end) or _BASE64_LINE.fullmatch(text, line_start, line_end)):
            break
        start = line_start
    return start


def _line_start(text: str, place: int) -> int:
    """Where the line of ``place`` begins; ``_LONGEST_LINE`` before it at most, or 0."""
    earliest = max(place - _LONGEST_LINE, 0)
    found = text.rfind("\n", earliest, place)
    return found + 1 if found >= 0 else earliest


def _skip(pattern: re.Pattern[str], text: str, place: int) -> int:
    found = pattern.match(text, place)
    return found.end() if found else place


# Headers

_SCHEME = re.compile(
    r"(?:[Bb]earer|BEARER|[Bb]asic|BASIC|[Tt]oken|[Aa]pi-?(?:[Kk]ey|[Tt]oken))[ \t]{1,8}([A-Za-z0-9._~+/-]{6,}+={0,2})"
)
_SCHEMES = ("bearer", "basic", "token", "apikey", "api-key")
_AUTHORIZATION = re.compile(
    r"(?:[Aa]uth|AUTH)(?:orization|ORIZATION)[\"'\\\]]{0,4}[ \t]{0,8}[:=,][ \t]{0,8}[\"'\\bf]{0,4}$"
)
_LONGEST_HEADER = 48


def _headers(text: str, lowered: str) -> Iterator[_Span]:
    """Credentials behind ``Bearer``, ``Basic`` and the like; ``lowered`` is ``text`` in lower case."""
    for found in _SCHEME.finditer(text) if any(map(lowered.__contains__, _SCHEMES)) else ():
        value, scheme = found[1], found[0][:5].lower()
        before = text[max(found.start() - _LONGEST_HEADER, 0) : found.start()]
        if _AUTHORIZATION.search(before):
            is_credential = not is_placeholder(value)
        elif scheme == "basic":
            is_credential = _is_user_and_password(value)
        else:
            is_credential = scheme == "beare" and is_secret(value, chosen=False, literal=True)
        if is_credential:
            kind = "basic-auth" if scheme == "basic" else "bearer-token"
            yield _Span(*found.span(1), len(RULES) + 1, kind)


def _is_user_and_password(value: str) -> bool:
    try:
        plain = a2b_base64(value[: len(value) // 4 * 4])
    except Base64Error:
        return False
    return b":" in plain and plain.isascii() and plain.decode().isprintable()


# URLs and command lines

_USERINFO = re.compile(r"://([^\s/?#:@\"'<>`\\]{0,128}):([^\s/\"'<>`\\]{3,256})@(?=[\w\[%$.{-])")
_USER_ONLY = re.compile(r"://([A-Za-z0-9_-]{20,200})@")
_FLAG = re.compile(
    r"--(?<!---)[a-z0-9_-]{0,30}?"
    r"(?P<name>passw(?:or)?d|passphrase|pwd|pass(?=[ \t])|secret|token|credentials|[a-z]{2,10}[_-]?key)"
    r"[ \t]{1,4}[\"']?(?P<value>[^\s\"'`<>|;&-][^\s\"'`<>|;&]{5,255})"
)
_USER_FLAG = re.compile(r"-(?<![\w-]-)(?:u|-user)[ =]{0,2}[\"']?[\w.@+-]{0,64}[\"']?:[\"']?([^\s\"'`<>|;&]{6,255})")


def _command_lines(text: str, lowered: str) -> Iterator[_Span]:
    """Secrets in URLs and behind flags such as ``--password``."""
    rank = len(RULES) + 2
    if "://" in text and "@" in text:
        for found in _USERINFO.finditer(text):
            if not is_placeholder(found[2]):
                yield _Span(*found.span(2), rank, "url-password")
        for found in _USER_ONLY.finditer(text):
            if is_secret(found[1], chosen=False, literal=True):
                yield _Span(*found.span(1), rank, "url-password")
    for found in _FLAG.finditer(lowered) if "--" in text else ():
        start, end = found.span("value")
        if is_secret(text[start:end], chosen=found["name"].startswith(_CHOSEN), literal=True):
            yield _Span(start, end, rank, _kind(found["name"]))
    for found in _USER_FLAG.finditer(text) if "-u" in text else ():
        if is_secret(found[1], chosen=True, literal=True) and not found[1].isdigit():
            yield _Span(*found.span(1), rank, "password")


# Assignments

_CHOSEN = ("pass", "pwd", "secret", "密码", "密碼", "口", "creden", "_auth")
_ASSIGNED = re.compile(
    r"""
    (?P<name>
        passw(?:or)?d | passphrase | passcode | pwd(?<![a-z]pwd) | pass(?<=[_-]pass)
      | secret(?:[_-]?(?:access[_-]?)?key)? | token | authorization | credentials? | _auth
      | (?:api|access|private|secret|encryption|signing|master|account|shared|auth|app|client|consumer|hmac|jwt
          |deploy|storage|license|webhook)[_.\ -]?key
      | 密[码碼钥鑰] | 口令 | 令牌 | 私[钥鑰]
    )
    (?: [_-]?(?:value|base64|b64|hex|text|plain|prod|production|dev|test|live|staging|default|[0-9]{1,3}) )?
    (?![a-z0-9_])
    (?P<link>
        [\\"'`\])*]{0,5} [\ \t]{0,40}
        (?: :[\ \t]{0,4}[\w.&\[\]|?<>'\ ]{1,40}[\ \t]?=[\ \t]{0,8}(?=[bfru]{0,2}["'])   # name: str = "…"
          | (?:===?|!==?|:{1,3}=|=>|\?=|[:=：＝])[\ \t]{0,40}(?:[|>][-+]?[\ \t]{0,8}\n[\ \t]{1,40})?[“「『]?
          | (?P<comma>(?:(?<=["'])[\ \t]{0,4},|(?<=["'],))[\ \t]{0,8}(?=\\{0,3}["']))   # ("name", "…")
          | [,\ \t]{0,4}\n?[\ \t-]{0,40}["']?value["']?[\ \t]{0,4}[:=][\ \t]{0,8}       # name: …  value: …
          | is[\ \t]+ | [是为為][\ \t:：]{0,3}[“「『]?
          | >(?=[^<>\s]{6,256}</)                                                       # <name>…</name>
        )
    )
    (?: [bfru@$]{0,2}
        (?: (?P<q>\\{1,3}["'`]|["']{3}) (?P<block>(?:(?!(?P=q))[^\n]){4,4096}+)
          | "(?P<double>(?:[^"\\\n]|\\.){4,4096}+)
          | '(?P<single>(?:[^'\\\n]|\\.){4,4096}+)
          | `(?P<back>(?:[^`\\\n]|\\.){4,4096}+) )
      | (?P<bare>(?: [^\s"'`<>,;&|(){}\[\]\\“”「」『』，。；、！？（）]
                   | [,;&|](?![\s,;&|]|\Z|[\w.\ -]{0,40}[=:]) ){6,4096}+)
    )
    """,
    re.VERBOSE,
)
_TELLING = (
    *("passw", "passphrase", "passcode", "pwd", "_pass", "-pass", "secret", "token", "authorization", "credential"),
    *("_auth", "key", "密", "口令", "令牌", "私"),
)
"""What each name of ``_ASSIGNED`` has in it."""

_LITERAL_LINE = re.compile(
    r"(?:^|\n)[ \t]{0,40}(?:[-+>$#][ \t]{0,4})?(?:(?:export|set|ENV|ARG)[ \t]+)?[A-Z][A-Z0-9_]{0,60}$"
)
_LONGEST_NAME = 128
_REST = re.compile(r"[^\s\"'`<>“”「」『』，。；、！？（）]{0,256}")


def _assigned(text: str, lowered: str) -> Iterator[_Span]:
    """Values of telling names: in code, JSON, YAML, environment files, headers and prose."""
    for found in _ASSIGNED.finditer(lowered) if any(map(lowered.__contains__, _TELLING)) else ():
        name, group = found["name"], found.lastgroup or "bare"
        start, end = found.span(group)
        literal = group != "bare" or _is_literal(text, found)
        if group == "bare" and literal:
            end = _skip(_REST, text, end)
        elif group == "bare" and text[end : end + 1] in ("(", "[", "{") and text[start:end].isidentifier():
            continue
        chosen = name.startswith(_CHOSEN) and "key" not in name and found["comma"] is None
        if is_secret(text[start:end], chosen=chosen, literal=literal):
            yield _Span(start, end, len(RULES) + 3, _kind(name))


def _lower(text: str) -> str:
    """``text`` in lower case, each place kept: the lower case of one letter is longer than it."""
    return text.replace("İ", "I").lower()


def _is_literal(text: str, found: re.Match[str]) -> bool:
    """Whether the form of the line shows that a value without quotes is no expression."""
    if not found["name"].isascii() or found["link"].endswith(">"):
        return True
    if found["link"] != "=":
        return False
    start = max(found.start() - _LONGEST_NAME, 0)
    return _LITERAL_LINE.search(text, start, found.start("link")) is not None


def _kind(name: str) -> str:
    if "key" in name or name[-1] in "钥鑰":
        return "key"
    if name in ("token", "令牌"):
        return "token"
    if name == "authorization":
        return "token"
    return "secret" if name.startswith(("secret", "creden", "_auth")) else "password"
