"""What stands behind a telling name, scheme or flag, or inside a URL, is looked at as a secret.

Every search begins where ``secret_scan`` saw such a place, and each look from there has an upper bound.
"""

from __future__ import annotations

import re
from binascii import Error as Base64Error
from binascii import a2b_base64
from collections.abc import Collection, Iterator

from .formats import RULES
from .secret_scan import Scan
from .secret_span import Span
from .secret_values import is_placeholder, is_secret, is_strong

_RANK = len(RULES) + 2
"""What has a format is named by it."""


def in_context(text: str, lowered: str, scan: Scan, places: Collection[str]) -> Iterator[Span]:
    """The secrets that their surroundings show; ``lowered`` is ``text`` in lower case, place by place."""
    if "scheme" in places:
        yield from _headers(text, lowered, scan)
    if "url" in places:
        yield from _urls(text, lowered, scan)
    if "flag" in places:
        yield from _flags(text, lowered)
    if "user flag" in places:
        yield from _user_flags(text)
    if "assigned" in places:
        yield from _assigned(text, lowered, scan)
    if "said" in places:
        yield from _said(text, lowered, scan)


def broken(text: str, lowered: str, scan: Scan, places: Collection[str]) -> Iterator[Span]:
    """Secrets in URLs and headers: what is looked for where lines were joined."""
    if "url" in places:
        yield from _urls(text, lowered, scan)
    if "scheme" in places:
        yield from _headers(text, lowered, scan)


def may_be_told(lowered: str, scan: Scan, places: Collection[str]) -> bool:
    """Whether something stands behind a telling name, a secret or not."""
    return any(
        name in places and any(True for _ in scan.matches(pattern, name, lowered, lowered))
        for name, pattern in (("assigned", _ASSIGNED), ("said", _SAID))
    )


# Headers

_SCHEME = re.compile(
    r"(?:[Bb]earer|BEARER|[Bb]asic|BASIC|[Tt]oken|[Aa]pi-?(?:[Kk]ey|[Tt]oken))[ \t]{1,8}([A-Za-z0-9._~+/-]{6,}+={0,2})"
)
_AUTHORIZATION = re.compile(
    r"(?:[Aa]uth|AUTH)(?:orization|ORIZATION)[\"'\\\]]{0,4}[ \t]{0,8}[:=,][ \t]{0,8}[\"'\\bf]{0,4}$"
)
_LONGEST_HEADER = 48


def _headers(text: str, lowered: str, scan: Scan) -> Iterator[Span]:
    """Credentials behind ``Bearer``, ``Basic`` and the like."""
    judged: dict[tuple[str, str], bool] = {}
    for found in scan.matches(_SCHEME, "scheme", lowered, text):
        scheme = found[0][:5].lower()
        asked = text[max(found.start() - _LONGEST_HEADER, 0) : found.start()], found[0]
        if asked not in judged:
            judged[asked] = _is_credential(*asked, found[1])
        if judged[asked]:
            kind = "basic-auth" if scheme == "basic" else "bearer-token"
            yield Span(*found.span(1), _RANK - 1, kind)


def _is_credential(before: str, whole: str, value: str) -> bool:
    """Whether ``value``, which stands behind a scheme (both are ``whole``), is one."""
    if _AUTHORIZATION.search(before):
        return not is_placeholder(value)
    if whole[:5].lower() == "basic":
        return _is_user_and_password(value)
    return whole[:5].lower() == "beare" and is_secret(value, chosen=False, literal=True)


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
_USER_FLAG = re.compile(
    r"-(?<![\w-]-)(?:u|-user)[ =]{0,2}[\"']?[\w.@+-]{0,64}[\"']?:[\"']?(?![\[\\(])([^\s\"'`<>|;&]{6,255})"
)


def _urls(text: str, lowered: str, scan: Scan) -> Iterator[Span]:
    """Passwords and tokens in front of a host."""
    for found in scan.matches(_USERINFO, "url", lowered, text):
        if not is_placeholder(found[2]):
            yield Span(*found.span(2), _RANK, "url-password")
    for found in scan.matches(_USER_ONLY, "url", lowered, text):
        if is_secret(found[1], chosen=False, literal=True):
            yield Span(*found.span(1), _RANK, "url-password")


def _flags(text: str, lowered: str) -> Iterator[Span]:
    """Secrets behind flags such as ``--password``."""
    for found in _FLAG.finditer(lowered):
        start, end = found.span("value")
        if is_secret(text[start:end], chosen=found["name"].startswith(_CHOSEN), literal=True):
            yield Span(start, end, _RANK, _kind(found["name"]))


def _user_flags(text: str) -> Iterator[Span]:
    """The password in ``-u name:password``."""
    for found in _USER_FLAG.finditer(text):
        if is_secret(found[1], chosen=True, literal=True) and not found[1].isdigit():
            yield Span(*found.span(1), _RANK, "password")


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
          | (?:===?|!==?|:{1,3}=|=>|\?=|:(?!:)|[=：＝])[\ \t]{0,40}(?:[|>][-+]?[\ \t]{0,8}\n[\ \t]{1,40})?[“「『]?
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
_LITERAL_LINE = re.compile(
    r"(?:^|\n)[ \t]{0,40}(?:[-+>$#][ \t]{0,4})?(?:(?:export|set|ENV|ARG)[ \t]+)?[A-Z][A-Z0-9_]{0,60}$"
)
_LONGEST_NAME = 128
_REST = re.compile(r"[^\s\"'`<>“”「」『』，。；、！？（）]{0,256}")


def _assigned(text: str, lowered: str, scan: Scan) -> Iterator[Span]:
    """Values of telling names: in code, JSON, YAML, environment files, headers and prose."""
    judged: dict[tuple[str, bool, bool], bool] = {}
    for found in scan.matches(_ASSIGNED, "assigned", lowered, lowered):
        name, group = found["name"], found.lastgroup or "bare"
        start, end = found.span(group)
        literal = group != "bare" or _is_literal(text, found)
        if group == "bare" and literal:
            end = _skip(_REST, text, end)
        elif group == "bare" and text[end : end + 1] in ("(", "[", "{") and text[start:end].isidentifier():
            continue
        chosen = name.startswith(_CHOSEN) and "key" not in name and found["comma"] is None
        value = text[start:end], chosen, literal
        if value not in judged:
            judged[value] = is_secret(value[0], chosen=chosen, literal=literal)
        if judged[value]:
            yield Span(start, end, _RANK + 1, _kind(name))


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


# What is said

_SAID = re.compile(
    r"""
    (?P<name>
        passw(?:or)?d | passphrase | passcode | pwd | pw(?<![a-z]pw) | pass(?<![a-z]pass)
      | secret(?:[_-]?(?:access[_-]?)?key)? | token | credentials?
      | (?:api|access|private|secret|encryption|signing|master|account|shared|auth|app|client|consumer|hmac|jwt
          |deploy|storage|license|webhook)[_.\ -]?key
    )
    (?P<link>
        (?<=pw)[\ \t]?[:=][\ \t]{0,4} | (?<=pass)[\ \t]?[:=][\ \t]{0,4}
      | [\ \t]{1,4}(?:(?:to|was|as|->)[\ \t]{1,4})?
    )
    (?P<value> [^\s"'`<>,;&|(){}\[\]“”「」『』，。；、！？（）]{6,256}+ )
    """,
    re.VERBOSE,
)
_CLOSING = ".:!?"
"""What ends a sentence and no secret."""


def _said(text: str, lowered: str, scan: Scan) -> Iterator[Span]:
    """What a person writes behind a name, with a blank or ``to`` between them: only what can be no word."""
    judged: dict[tuple[str, bool, bool], bool] = {}
    for found in scan.matches(_SAID, "said", lowered, lowered):
        start, end = found.span("value")
        value = text[start:end].rstrip(_CLOSING)
        name = found["name"]
        is_assigned = name == "pw" and found["link"].strip() in (":", "=")
        asked = value, is_assigned, name.startswith(("pass", "pw"))
        if asked not in judged:
            judged[asked] = (
                is_secret(value, chosen=True, literal=False) if is_assigned else is_strong(value, chosen=asked[2])
            )
        if judged[asked]:
            yield Span(start, start + len(value), _RANK + 2, _kind(name))


def _skip(pattern: re.Pattern[str], text: str, place: int) -> int:
    found = pattern.match(text, place)
    return found.end() if found else place
