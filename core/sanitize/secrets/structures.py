"""Find secrets by the structure of a document: tables, manifests of Kubernetes, key files, cookies, lists of accounts.

Each kind of document has a context that its text must contain, so that a text without one costs nothing here.
"""

from __future__ import annotations

from binascii import Error as Base64Error
from binascii import a2b_base64
from collections.abc import Callable, Iterator
from functools import cache
from itertools import islice

from upbeat.core import lazy_re as re
from upbeat.core.sanitize.secrets.formats import SECRET_FORMATS, SecretSpan
from upbeat.core.sanitize.secrets.scan import ScannedText
from upbeat.core.sanitize.secrets.values import is_clearly_secret, is_given, is_strongly_secret

_RANK = len(SECRET_FORMATS) + 5
_MAX_LINES = 400
"""Lines of one table or manifest that are read."""
_MAX_SECTIONS = 50
"""Sections of one manifest that are read."""
_Part = tuple[int, int]


@cache
def _compiled(source: str) -> re.Pattern[str]:
    """Return a compiled expression; most texts need none of them, so they are compiled when first used."""
    return re.compile(source)


def find_in_structures(scan: ScannedText) -> Iterator[SecretSpan]:
    """Yield the secrets of each kind of document that the text may contain.

    Raises:
        TooManyMatchesError: There are too many candidates.
    """
    for context, find in _FINDERS.items():
        if context in scan.contexts:
            for start, end, kind in find(scan):
                yield SecretSpan(start, end, _RANK, kind)


_Found = Iterator[tuple[int, int, str]]


def _lines(text: str, position: int) -> Iterator[_Part]:
    """Yield the bounds of the lines from ``position`` on."""
    for _ in range(_MAX_LINES):
        if position >= len(text):
            return
        end = text.find("\n", position)
        end = len(text) if end < 0 else end
        yield position, end
        position = end + 1


def _is_password(value: str) -> bool:
    return is_strongly_secret(value, is_user_chosen=True, is_literal=True)


# Tables: Markdown and separated values

_TELLING_COLUMN = (
    r"(?:.*[\s_-])?(?:password|passwd|passphrase|passwort|pwd|pw|secret|token|(?:access|api|secret|auth|license) ?_?key"
    r"|key value|credentials?|密码|密钥|パスワード|contraseña|пароль|mot de passe)(?:[\s_(].*)?"
)
_RULE_ANCHOR = r"\|[ \t]*:?--|--:?[ \t]*\|"
_RULE = r"[ \t]*\|?(?:[ \t]*:?-{2,}:?[ \t]*\|)+[ \t]*(?::?-{2,}:?)?[ \t]*\r?(?=\n|\Z)"
_CELL = r"[^|\n]+"


def _find_in_markdown_tables(scan: ScannedText) -> _Found:
    """Yield the cells of a column, or behind a first cell, with a telling heading."""
    text = scan.text
    done = 0
    for anchor in scan.find_matches(_compiled(_RULE_ANCHOR), "table", scan.lowered):
        rule = _compiled(_RULE).match(text, max(text.rfind("\n", 0, anchor.start()) + 1, done))
        if rule is None or anchor.start() < done:
            continue
        done = rule.end()
        header_end = rule.start() - 1
        header_start = text.rfind("\n", 0, max(header_end, 0)) + 1
        names = [text[slice(*cell)].strip("*_` ").lower() for cell in _cells(text, header_start, header_end)]
        columns = {index for index, name in enumerate(names) if _compiled(_TELLING_COLUMN).fullmatch(name)}
        is_list = len(names) == 2 and not columns
        for start, end in _lines(text, rule.end() + 1):
            cells = _cells(text, start, end)
            if "|" not in text[start:end]:
                break
            done = end
            if (
                is_list
                and len(cells) == 2
                and _compiled(_TELLING_COLUMN).fullmatch(text[slice(*cells[0])].strip("*_` ").lower())
            ):
                cells, wanted = cells[1:], {0}
            else:
                wanted = columns
            for index in wanted:
                if index < len(cells) and _is_password(text[slice(*cells[index])]):
                    yield *cells[index], "password"


def _cells(text: str, start: int, end: int) -> list[_Part]:
    """Return the bounds of the cells of a row, without blanks and code marks around them."""
    cells = []
    for cell in _compiled(_CELL).finditer(text, start, end):
        value = cell[0].strip(" \t\r")
        first = cell.start() + cell[0].find(value)
        if value[:1] == value[-1:] == "`" and len(value) > 2:
            first, value = first + 1, value[1:-1]
        if value or cell.start() > start:
            cells.append((first, first + len(value)))
    return [cell for cell in cells if cell[1] > cell[0] or cell is not cells[-1]]


_CSV_HEADER = r"(?:^|(?<=\n))[\"']?[\w .#()/:-]{1,40}[\"']?(?:(?P<by>[,;\t])[\"']?[\w .#()/-]{1,40}[\"']?){1,30}\r?\n"


def _find_in_separated_values(scan: ScannedText) -> _Found:
    """Yield the values of the columns whose heading is telling."""
    text = scan.text
    for match in scan.find_matches(_compiled(_CSV_COLUMN), "separated values", scan.lowered):
        start = text.rfind("\n", 0, match.start() + 1) + 1
        header = _compiled(_CSV_HEADER).match(scan.lowered, start)
        if header is None:
            continue
        by = header["by"]
        names = [name.strip("\"' \r\n") for name in header[0].split(by)]
        if start and text.count(by, text.rfind("\n", 0, start - 1) + 1, start) + 1 == len(names):
            continue  # a row of a table, not its first one
        columns = [index for index, name in enumerate(names) if _compiled(_TELLING_COLUMN).fullmatch(name)]
        for line_start, line_end in _lines(text, header.end()):
            values = text[line_start:line_end].split(by)
            if len(values) != len(names):
                break
            for index in columns:
                first = line_start + sum(len(value) + 1 for value in values[:index])
                value = values[index].strip("\"'\r ")
                if _is_password(value):
                    first += values[index].find(value)
                    yield first, first + len(value), "password"


_CSV_COLUMN = r"(?:passw(?:or)?d|pwd|passphrase|secret|token|api[ _]?key|access key|credentials?)[\"']?[,;\t\r\n]"

# Manifests of Kubernetes

_KIND_LINE = r"[\"']?kind[\"']?:[ \t]?[\"']?secret\b"
_DATA = r"(?P<indent>[ \t]*)(?P<q>[\"']?)(?:stringData|data)(?P=q):[ \t]*(?P<open>\{?)"
_ENTRY = r"[ \t]*[\"']?[\w./-]{1,253}[\"']?:[ \t]+[\"']?(?P<value>[^\s\"'|>][^\n\"']*?)[\"']?[ \t]*(?:\n|\Z)"
_JSON_ENTRY = r"\"[\w./-]{1,253}\"\s*:\s*\"(?P<value>(?:[^\"\\]|\\.){4,8192})\""
_USER_NAME = r"(?i)[ \t]*[\"']?[\w.-]*(?:user(?:name)?|host|port|url|name|email|region)[\"']?:"


def _find_in_kubernetes_secrets(scan: ScannedText) -> _Found:
    """Yield the values under ``data`` and ``stringData`` of a secret."""
    text = scan.text
    done = 0
    for kind in scan.find_matches(_compiled(_KIND_LINE), "kubernetes secret", scan.lowered):
        if kind.start() < done:
            continue
        start = max(text.rfind("\n---", 0, kind.start()), kind.start() - 20_000, 0)
        end = text.find("\n---", kind.end())
        end = done = len(text) if end < 0 else end
        for data in islice(_compiled(_DATA).finditer(text, start, end), _MAX_SECTIONS):
            if data["open"]:
                close = text.find("}", data.end(), end)
                for entry in _compiled(_JSON_ENTRY).finditer(text, data.end(), close if close > 0 else end):
                    if is_given(entry["value"]):
                        yield *entry.span("value"), "kubernetes-secret"
            else:
                yield from _find_in_entries(text, text.find("\n", data.end(), end) + 1, end, len(data["indent"]))


def _find_in_entries(text: str, position: int, end: int, indent: int) -> _Found:
    block_indent = 0
    for start, line_end in _lines(text, position) if position else ():
        line = text[start:line_end]
        depth = len(line) - len(line.lstrip(" \t"))
        if line_end > end or (line.strip() and depth <= indent):
            return
        if block_indent and depth > block_indent:
            value = line.strip()
            if len(value) >= 16 and _is_password(value):
                yield start + depth, start + depth + len(value), "kubernetes-secret"
            continue
        block_indent = depth if line.rstrip().endswith(("|", "|-", ">", ">-", "|+")) else 0
        entry = _compiled(_ENTRY).match(text, start, min(line_end + 1, end))
        if entry and len(entry["value"]) >= 6 and is_given(entry["value"]) and not _compiled(_USER_NAME).match(line):
            yield *entry.span("value"), "kubernetes-secret"


# Key files and files of accounts

_KEY_PART = r"\"(?:d|k|p|q|dp|dq|qi)\"\s*:\s*\"(?P<value>[A-Za-z0-9_-]{16,4096})\""
_PPK = (
    r"(?i)private-lines:[ \t]*\d{1,4}\r?\n(?P<value>(?:[A-Za-z0-9+/=]{1,80}(?:\r?\n|\Z)){1,200})"
    r"(?:private-mac:[ \t]*(?P<mac>\w+))?"
)
_PORT = r":(?:[0-9]{4,5}|\*):(?=[^:\s])"
_PGPASS = r"(?<=[\w*])_PORT_[^:\s]{1,128}:[^:\s]{1,128}:(?P<value>[^\s\"':]{6,256})(?=[\"']?(?:\s|\Z))".replace(
    "_PORT_", _PORT
)
_AUTH = (
    r"\"auth\"\s*:\s*\"(?P<value>[A-Za-z0-9+/]{8,4096}={0,2})\""
    r"|_auth[\"']?[ \t]*[=:][ \t]*[\"']?(?P<other>[A-Za-z0-9+/]{8,4096}={0,2})"
)


def _find_in_key_files(scan: ScannedText) -> _Found:
    """Yield the private parts of JSON web keys."""
    high = 0
    for match in scan.find_matches(_compiled(_KEY_TYPE), "web key", scan.lowered):
        low, high = max(match.start() - 4000, high), match.end() + 8000
        for part in _compiled(_KEY_PART).finditer(scan.text, low, min(high, len(scan.text))):
            yield *part.span("value"), "private-key"


_KEY_TYPE = r"\"kty\"\s*:"


def _find_in_putty_keys(scan: ScannedText) -> _Found:
    for match in scan.find_matches(_compiled(_PPK), "putty key", scan.text):
        yield *match.span("value"), "private-key"
        if match["mac"]:
            yield *match.span("mac"), "private-key"


def _find_in_password_files(scan: ScannedText) -> _Found:
    """Yield the passwords of lines like those of .pgpass."""
    for anchor in scan.find_matches(_compiled(_PORT), "password file", scan.text):
        match = _compiled(_PGPASS).match(scan.text, anchor.start())
        if match and _is_password(match["value"]):
            yield *match.span("value"), "password"


def _find_in_registry_logins(scan: ScannedText) -> _Found:
    """Yield base64 of a user and a password."""
    for match in scan.find_matches(_compiled(_AUTH), "registry login", scan.text):
        group = "value" if match["value"] else "other"
        try:
            plain = a2b_base64(match[group] + "=" * (-len(match[group]) % 4))
        except Base64Error:
            continue
        if b":" in plain and plain.isascii() and plain.decode().isprintable():
            yield *match.span(group), "basic-auth"


_BRACED = r"(?i)(?:pwd|password)=\{(?P<value>[^{}\n]{6,128})\}"


def _find_in_braces(scan: ScannedText) -> _Found:
    """Yield the passwords in braces of ODBC connection strings."""
    for match in scan.find_matches(_compiled(_BRACED), "braced password", scan.text):
        if is_strongly_secret(match["value"], is_user_chosen=True, is_literal=True):
            yield *match.span("value"), "password"


# Cookies

_COOKIES = r"cookies?[\"']?[ \t]{0,4}(?:[:=,]|:[ \t])[ \t]{0,4}[\"']?(?P<pairs>[^\n\"']{8,8192})"
_COOKIE = (
    r"(?i)(?<![\w.-])(?P<name>[\w.%-]{0,40}(?:sess|sid|auth|token|jwt|remember|login|csrf|xsrf|connect\.)[\w.%-]{0,40}|[\w.-]{0,24}id)"
    r"=(?P<value>[^;\s,\"']{12,4096})"
)


def _find_in_cookies(scan: ScannedText) -> _Found:
    for match in scan.find_matches(_compiled(_COOKIES), "cookie", scan.lowered):
        for cookie in _compiled(_COOKIE).finditer(scan.text, *match.span("pairs")):
            if is_strongly_secret(cookie["value"], is_user_chosen=True, is_literal=True):
                yield *cookie.span("value"), "cookie"


# Accounts over several lines

_ACCOUNT_ANCHOR = (
    r"(?:password|passwd|pass|pwd|pw|passcode|secret|token|api key)[ \t]*+:?[ \t]*+\n"
    r"|\w@[\w-]{1,63}\.[\w.-]{1,253}[ \t]*+\n"
    r"|(?:creds?|credentials|logins?|account|access|zugangsdaten)[^\n:]{0,60}:[ \t]*+\n"
)
_ACCOUNT = (
    r"(?i)(?:^|(?<=\n))[ \t>*-]{0,8}(?:"
    r"(?:password|passwd|pass|pwd|pw|passcode|secret|token|api key)[ \t]*:?[ \t]*\n[ \t>]*(?P<below>\S{6,128})"
    r"|[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+){1,4}[ \t]*\n[ \t>]*(?P<mail>[^\s:]{6,40})"
    r"|[^\n:]{0,40}(?:cred(?:ential)?s?|login|logins|account|access|zugangsdaten)[^\n:]{0,60}:[ \t]*\n?"
    r"[ \t]*[\w.@+-]{2,64}[ \t]*[/|,:][ \t]*(?P<pair>\S{6,128})"
    r")[ \t]*(?=\r?\n|\Z)"
)


def _find_in_account_lines(scan: ScannedText) -> _Found:
    """Yield the line below a label or an address, and what follows a user after a slash."""
    text = scan.text
    for anchor in scan.find_matches(_compiled(_ACCOUNT_ANCHOR), "account lines", scan.lowered):
        match = _compiled(_ACCOUNT).match(text, text.rfind("\n", max(anchor.start() - 200, 0), anchor.start()) + 1)
        if match is None:
            continue
        group = match.lastgroup or "below"
        value = match[group].strip("`'\"")
        if is_clearly_secret(value, is_user_chosen=True) or is_strongly_secret(
            value, is_user_chosen=True, is_literal=True
        ):
            start = match.start(group) + match[group].find(value)
            yield start, start + len(value), "password"


# SQL

_IDENTIFIED = (
    r"identified[ \t]{1,4}(?:with[ \t]{1,4}[\w'\"]{1,40}[ \t]{1,4})?(?:by|as)[ \t]{1,4}(?:password[ \t]{1,4})?"
    r"(?:'(?P<single>[^'\n]{3,256})'|\"(?P<double>[^\"\n]{3,256})\"|(?<=by )(?P<bare>[^\s'\";,]{4,128}))"
)
_INSERT = r"\((?P<columns>[\w\s,\"`\[\]]{4,400})\)\s{0,8}values?\s{0,8}\((?P<values>[^()\n]{4,2000})\)"
_SQL_VALUE = r"\s*(?:[nNeE]?'(?P<literal>(?:[^'\\\n]|\\.|'')*)'|[^,'\n]*)\s*(?:,|\Z)"


def _find_in_statements(scan: ScannedText) -> _Found:
    """Yield passwords of users, and the values inserted into columns with telling names."""
    text = scan.text
    for match in scan.find_matches(_compiled(_IDENTIFIED), "sql", scan.lowered):
        group = match.lastgroup or "bare"
        value = text[slice(*match.span(group))]
        if is_clearly_secret(value, is_user_chosen=True) if group == "bare" else is_given(value):
            yield *match.span(group), "password"
    for match in _compiled(_INSERT).finditer(scan.lowered) if "insert" in scan.lowered else ():
        names = [name.strip(' \t\n"`[]').replace("_", " ") for name in match["columns"].split(",")]
        position, end = match.span("values")
        for name in names:
            item = _compiled(_SQL_VALUE).match(text, position, end)
            if item is None or item.end() == position:
                break
            position = item.end()
            if _compiled(_TELLING_COLUMN).fullmatch(name) and item["literal"] and _is_password(item["literal"]):
                yield *item.span("literal"), "password"


_FINDERS: dict[str, Callable[[ScannedText], _Found]] = {
    "table": _find_in_markdown_tables,
    "separated values": _find_in_separated_values,
    "kubernetes secret": _find_in_kubernetes_secrets,
    "web key": _find_in_key_files,
    "putty key": _find_in_putty_keys,
    "password file": _find_in_password_files,
    "registry login": _find_in_registry_logins,
    "braced password": _find_in_braces,
    "cookie": _find_in_cookies,
    "account lines": _find_in_account_lines,
    "sql": _find_in_statements,
}
