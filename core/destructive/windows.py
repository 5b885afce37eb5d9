"""Hazards of PowerShell and cmd lines.

Invariant: a statement counts by its first word, so text that a line prints or searches for is no hazard. Variables,
functions and aliases are followed if the line assigns them.
"""

from __future__ import annotations

import base64
import posixpath
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache

from upbeat.core.destructive.hazard import Hazard, Hazards, Severity, ShellLocation, word_set
from upbeat.core.destructive.paths import PathClass, classify_path
from upbeat.core.lazy_dataclass import dataclass, field
from upbeat.core.package_data import load_toml

MAX_NESTING = 4
MAX_CHARS = 20_000

_ELEMENTS = re.compile(r"'[^']*'|\"[^\"]*\"|[;\n{}]|\|\||&&|[|&](?=\s|\w|$|\()|[^\s;{}|&'\"]+|&")
_SEPARATORS = frozenset({";", "\n", "{", "}", "&&", "||", "&", "|"})
_REMOVALS = word_set("remove-item ri rm del erase rd rmdir")
_LISTINGS = word_set("get-childitem gci ls dir get-item gi get-wmiobject gwmi get-ciminstance")
_SILENT = word_set(
    "echo write-host write-output rem get-help help get-command gcm select-string findstr find help man ::"
)
_LOOPS = word_set("% foreach foreach-object")
_HOME = re.compile(
    r"(?i)\$\{?env:(?:userprofile|homepath|appdata|localappdata|onedrive|home)\}?|%homedrive%%homepath%"
    r"|%(?:userprofile|homepath|appdata|localappdata|onedrive)%|\$home\b|\$profile\S*"
)
_TEMPORARY = re.compile(r"(?i)\$\{?env:te?mp|%te?mp%|^[a-z]:/(?:windows/)?te?mp/.|new-temporaryfile|^/tmp/")
_PRIVATE_WINDOWS = re.compile(
    r"(?i)(?:/[^/]+(?:/(?:documents|desktop|pictures|downloads|videos|music|appdata.*|\.ssh.*|\.aws.*|\*))?)?/?\*?"
)
_SYSTEM_FOLDERS = re.compile(
    r"(?i)/(?:windows|program files|program files \(x86\)|programdata|inetpub|boot|recovery|users|\*)(?:/.*)?"
)
_JOINED = re.compile(r"(['\"])([^'\"]*)\1\s*\+\s*(['\"])([^'\"]*)\3")
_FUNCTION = re.compile(r"(?i)function\s+([\w-]+)\s*(?:\(([^)]*)\))?\s*\{([^{}]*)\}")
_ASSIGNED = re.compile(r"(?i)\$(\w+)\s*=\s*(@\{[^}]*\}|'[^']*'|\"[^\"]*\"|[^;\n|]+)")
_CMD_ASSIGNED = re.compile(r"(?i)\bset\s+\"?(\w+)=([^&|\"]+)")
_FOR_LOOP = re.compile(
    r"(?i)\bfor\s+(?:/\w\s+)*(?:\"[^\"]*\"\s+)?%%?(\w)\s+in\s+\(([^()]*(?:\([^()]*\)[^()]*)*)\)\s+do\s+"
)
_FOREACH = re.compile(r"(?i)\bforeach\s*\(\s*\$(\w+)\s+in\s+([^()]*)\)")
_DOWNLOADED = re.compile(
    r"(?i)\b(?:iwr|irm|curl|wget|invoke-webrequest|invoke-restmethod)\b[^;]*\|\s*(?:iex|invoke-expression)|(?:iex|invoke-expression)\b.*download(?:string|file)"
)
_WINDOWS_STYLE = re.compile(r"(?i)\s-(?:fo|rec)\w*|\s/[sq]\b|[a-z]:[\\/]|\$env:|\\|%\w+%|\s-r\s+-f")
"""Tells ``rm`` of PowerShell and ``rmdir`` of cmd from those of Unix."""
_NET_DELETION = re.compile(
    r"(?i)\[(?:system\.)?io\.(?:directory|file)\]::delete\(\s*([^,)]+)|\((?:get-item|gi)\s+([^)]+)\)\.delete\("
)
_FILTERED = re.compile(r"(?i)-(?:filter|include)\s+(?!\*(?:\.\*)?(?:\s|$))\S|\*\.\w+")
_ENCODED = re.compile(r"(?i)\s-e(?:nc|ncodedcommand|c)?\s+([A-Za-z0-9+/=]{12,})")
_LOCAL = re.compile(r"(?i)(?:https?://)?(?:localhost|127\.|\[::1)")
_DATABASE = re.compile(r"(?i)\b(?:drop\s+(?:database|table|schema)|truncate\s+table|delete\s+from\s+\S+\s*['\";])")
_DISKPART = re.compile(r"(?i)\b(?:clean|format|delete|convert)\b")


@cache
def _patterns() -> tuple[re.Pattern[str], Mapping[str, re.Pattern[str]], frozenset[str]]:
    table = load_toml(__package__, "windows.toml")
    kinds = {kind: re.compile("".join(text.split("\n"))) for kind, text in table["statements"].items()}
    return re.compile("".join(table["marks"].split("\n"))), kinds, word_set(table["routine_nouns"])


def detect_windows(
    line: str, location: ShellLocation, read: Callable[[str], str | None] | None = None
) -> Iterator[Hazard]:
    """Yield what ``line`` would destroy if PowerShell or cmd ran it; ``read`` returns the text of a script."""
    if len(line) <= MAX_CHARS and "<<" not in line and _patterns()[0].search(re.sub(r"['\"+^]", "", line)):
        yield from _Reader(location, read).scan(line)


@dataclass(slots=True)
class _Reader:
    """What is known while the statements of a line are read."""

    location: ShellLocation
    read: Callable[[str], str | None] | None = None
    depth: int = 0
    folder: str = ""
    functions: dict[str, tuple[list[str], str]] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    written: dict[str, str] = field(default_factory=dict)

    def scan(self, line: str) -> Iterator[Hazard]:
        """Yield the hazards of ``line``."""
        if self.depth > MAX_NESTING:
            return
        if found := _DOWNLOADED.search(line):
            yield Hazard("unreviewed-script", Severity.ASK, found[0][:80])
        for match in _NET_DELETION.finditer(line):
            if "echo" not in line[: match.start()].lower():
                yield from self.removal([(match[1] or match[2]).strip("'\" ")], is_recursive=True)
        if encoded := _ENCODED.search(line):
            yield from self.nested(_decode(encoded[1]))
        for name, parameters, body in _FUNCTION.findall(line):
            self.functions[name.lower()] = ([part.strip() for part in parameters.split(",")], body)
        line = _FUNCTION.sub(" ", line)
        line = self.substitute(line)
        listed: list[str] = []
        for words, is_piped in _statements(line):
            if not is_piped:
                listed = []
            yield from self.statement(words, listed if is_piped else None)
            listed = words if not is_piped or words[0].lower() in _LISTINGS else listed
            if words[0].lower() in ("where-object", "where", "?", "select-object"):
                listed = [*listed, "-filter", "some"]

    def nested(self, text: str) -> Iterator[Hazard]:
        """Yield the hazards of a line inside of the line."""
        self.depth += 1
        yield from self.scan(text)
        self.depth -= 1

    def substitute(self, line: str) -> str:
        """Return ``line`` with known variables, joined texts and loops of cmd replaced."""
        line = re.sub(r"\^(.)", r"\1", line)
        line = re.sub(r"\$\{(env:\w+)\}|\$\(\$(env:\w+|\w+)\)", lambda found: f"${found[1] or found[2]}", line)
        for name, items in _FOREACH.findall(line):
            line = re.sub(
                rf"(?i)\${name}\b(?!\s+in\b)", _escaped(items.replace("'", "").replace(", ", ",").strip()), line
            )
        while (joined := _JOINED.sub(lambda found: f"'{found[2]}{found[4]}'", line)) != line:
            line = joined
        line = re.sub(r"&\s*\(?\s*['\"]([\w-]+)['\"]\s*\)?", r"; \1 ", line)
        for name, value in _CMD_ASSIGNED.findall(line):
            line = re.sub(rf"(?i)%+{name}%+", _escaped(value.strip()), line)
        loops, line = _FOR_LOOP.findall(line), _FOR_LOOP.sub("; ", line)
        for name, items in loops:
            words = items.strip("'\" ").split()
            listed = next((word for word in reversed(words) if not word.startswith("/")), "")
            line = re.sub(rf"%%?(?:~\w*)?{name}\b", _escaped(listed), line)
        for name, value in _ASSIGNED.findall(line):
            text = _splatted(value) if value.startswith("@{") else value.strip()
            if not re.match(r"(?i)\(|\[|new-|get-|join-path|start-", text):
                line = re.sub(rf"(?i)[$@]{name}\b(?!\s*=)", _escaped(text), line)
        return line

    def statement(self, words: list[str], listed: list[str] | None) -> Iterator[Hazard]:
        """Yield the hazards of one statement; ``listed`` is what it reads through a pipe."""
        program = _program(words[0])
        if program in _LOOPS or program in ("call", "start", "do", "@", "if", "else", "sudo", "try", "finally"):
            rest = [word for at, word in enumerate(words[1:]) if word and not (at == 0 and word.startswith("/"))]
            if rest:
                yield from self.statement(rest, listed)
            return
        program = self.aliases.get(program, program)
        if program not in _SILENT or "." in program:
            yield from self.redirected(words)
        if program.rstrip(".") in _SILENT or "-whatif" in {word.lower() for word in words} or words[-1] in ("/?", "-?"):
            return
        if program in ("set-alias", "new-alias", "sal") and len(words) > 2:
            plain = [word for word in words[1:] if not word.startswith("-")]
            self.aliases[plain[0].lower()] = plain[1].lower()
        elif program in self.functions:
            yield from self.call(program, words[1:])
        elif program in ("cd", "set-location", "sl", "pushd", "chdir", "push-location"):
            to = [word for word in words[1:] if word.lower() != "/d"]
            self.folder = self.normalized(to[0]) if to else self.folder
        elif program in _REMOVALS:
            if program not in ("rm", "rmdir") or _WINDOWS_STYLE.search(" ".join(words)):
                yield from self.remove(program, words[1:], listed)
        elif words[0].lower().startswith("$_.delete") and listed:
            yield from self.remove("remove-item", ["-recurse"], listed)
        else:
            yield from self.other(program, words, listed)

    def call(self, name: str, arguments: list[str]) -> Iterator[Hazard]:
        """Yield the hazards of the body of a function."""
        parameters, body = self.functions[name]
        for parameter, value in zip(parameters, arguments, strict=False):
            body = body.replace(parameter, f"'{value}'") if parameter.startswith("$") else body
        yield from self.nested(body)

    def remove(self, program: str, words: list[str], listed: list[str] | None) -> Iterator[Hazard]:
        """``Remove-Item``, ``rd /s``, ``del /s``."""
        flags = [word.lower() for word in words if word.startswith("-") or re.match(r"/[a-zA-Z]", word)]
        is_recursive = any(re.match(r"-r(?:e\w*)?$|/(?:\w/)*s\b", flag) for flag in flags)
        targets, is_value = [], False
        for word in words:
            if word.startswith("-"):
                is_value = word.lower() in ("-exclude", "-include", "-filter", "-erroraction", "-ea", "-stream")
            elif re.match(r"/[a-zA-Z](?:/|$|:)", word):
                continue
            elif not is_value:
                targets += word.split(",")
            else:
                is_value = False
        own = [target for target in targets if target and "$_" not in target and not target.startswith("@")]
        if not own and listed and _program(listed[0]) in _LISTINGS:
            if _FILTERED.search(" ".join(listed)):
                return
            own = [word for word in listed[1:] if not word.startswith("-") and "=" not in word] or ["."]
            is_recursive = True
            if "win32_shadowcopy" in own[0].lower():
                yield Hazard("data", Severity.ASK, own[0])
        if not own and listed and re.match(r"[A-Za-z]:|~", listed[0]):
            own, is_recursive = ",".join(listed).split(","), True
        joined = " ".join((program, *words)).lower()
        if re.search(r"\b(?:hklm|hkcu|hkcr|hku|cert|registry):", joined):
            yield Hazard("system-change", Severity.ASK, joined[:80])
        yield from self.removal(own, is_recursive=is_recursive)

    def removal(self, targets: Sequence[str], *, is_recursive: bool) -> Hazards:
        """Yield the hazards of removed paths."""
        for target in targets:
            path_class, relative = self.place(target)
            is_pattern = bool(re.search(r"\*\.\w+$", target)) and not target.endswith("*.*")
            if is_pattern and path_class in (PathClass.INSIDE, PathClass.PROJECT):
                continue
            is_many = is_recursive or "*" in target
            if path_class is PathClass.INSIDE and is_recursive:
                yield Hazard("delete-changes", Severity.ASK, target, relative, ignores_untracked=True)
            elif path_class in _REMOVED and (is_many or path_class in (PathClass.SYSTEM, PathClass.GIT)):
                kind, severity = _REMOVED[path_class]
                yield Hazard(kind, severity, target)

    def other(self, program: str, words: list[str], listed: list[str] | None) -> Iterator[Hazard]:
        """Programs that run others, replace files, or are in the table."""
        text = " ".join(
            (
                program,
                *words[1:],
                *(["{}"] if listed and len(listed) == 1 and listed[0].lower().startswith("get-") else []),
            )
        )
        if program in (
            "powershell",
            "pwsh",
            "cmd",
            "invoke-expression",
            "iex",
            "start-process",
            "saps",
            "forfiles",
            "wsl",
        ):
            yield from self.runner(program, words)
        elif program == "diskpart" and (len(words) > 1 or _DISKPART.search(self.input_text(words, listed))):
            yield Hazard("disk", Severity.DENY, "diskpart")
        elif (
            program == "robocopy"
            and {"/mir", "/purge"} & set(text.lower().split())
            and "/l" not in text.lower().split()
        ):
            yield from self.outside_only(words[2:3])
        elif program in ("move-item", "mi", "move") and len(words) > 1:
            yield from self.outside_only(
                [word for word in words[1:] if not word.startswith(("-", "/"))][:1], whole=True
            )
        elif (
            program in ("clear-content", "clc", "set-content", "sc", "out-file", "copy", "xcopy")
            and "delete" not in words[1:2]
        ):
            yield from self.emptied(program, words)
        elif program in ("invoke-restmethod", "irm", "invoke-webrequest", "iwr") and re.search(
            r"(?i)-method\s+'?delete", text
        ):
            if not any(_LOCAL.match(word) for word in words):
                yield Hazard("data", Severity.ASK, text[:80])
        elif program == "invoke-sqlcmd" and _DATABASE.search(text):
            yield Hazard("database", Severity.DENY, text[:80])
        else:
            yield from self.script(words)
        yield from _detect_statement(text)

    def redirected(self, words: list[str]) -> Iterator[Hazard]:
        """``> FILE``."""
        for index, word in enumerate(words[:-1]):
            if word == ">" or (word.endswith(">") and ">>" not in word):
                yield from self.outside_only([words[index + 1]], whole=True)

    def input_text(self, words: list[str], listed: list[str] | None) -> str:
        """Return what ``diskpart`` reads: a script or what is piped into it."""
        paths = [word for word in words[1:] if not word.startswith("/")]
        return " ".join(listed or ()) if listed else "".join(self.text_of(path) for path in paths)

    def runner(self, program: str, words: list[str]) -> Iterator[Hazard]:
        """Yield the hazards of a line in the arguments."""
        if program == "wsl" and "--unregister" in words:
            yield Hazard("data", Severity.ASK, " ".join(words[:3]))
        rest = list(words[1:])
        while rest and re.match(r"-\w|/[a-zA-Z]$", rest[0]) and program not in ("invoke-expression", "iex"):
            flag = rest.pop(0).lower()
            if flag in ("-executionpolicy", "-ep", "-verb", "-p", "/p", "/m", "-workingdirectory") and rest:
                value = rest.pop(0)
                self.folder = self.normalized(value) if flag == "/p" else self.folder
        line = " ".join(
            word.strip("'\",()")
            for word in rest
            if word.lower() not in ("-argumentlist", "-verb", "runas", "/c", "-c", "-command")
        )
        if program == "wsl" or not line:
            return
        line = re.sub(r"(?i)@(?:path|file)", "*", line.replace("','", " ").replace("', '", " "))
        yield from self.nested(re.sub(r"^\s*(?:-\w+,?\s+)+", "", line))

    def emptied(self, program: str, words: list[str]) -> Iterator[Hazard]:
        plain = [word for word in words[1:] if not word.startswith("-") and not re.match(r"/\w$", word)]
        if program in ("copy", "xcopy"):
            plain = plain[1:2] if plain[:1] in (["nul"], ["NUL"]) else []
        elif program in ("set-content", "sc", "out-file") and len(plain) > 1 and program != "out-file":
            self.written[self.normalized(plain[0])] = plain[1]
        yield from self.outside_only(plain[:1], whole=True)

    def outside_only(self, paths: Sequence[str], *, whole: bool = False) -> Hazards:
        """Yield a hazard for each path outside of the project; ``whole``: only of the system or the user's own."""
        for path in paths:
            path_class, _relative = self.place(path)
            normal = self.normalized(path)
            is_own = bool(
                re.match(r"(?i)~/\.(?:ssh|aws|gitconfig|gnupg|kube|config)", normal)
            ) or path.lower().startswith("$profile")
            if (
                path_class in (PathClass.SYSTEM, PathClass.HOME)
                or is_own
                or (not whole and path_class is PathClass.OUTSIDE)
            ):
                yield Hazard("settings" if whole else "delete-outside", Severity.ASK, path)

    def script(self, words: list[str]) -> Iterator[Hazard]:
        """``.\\clean.ps1``: a script of the project, or one that the line writes."""
        if re.search(r"(?i)\.(?:ps1|bat|cmd)$", words[0]):
            yield from self.nested(self.text_of(words[0]))

    def text_of(self, path: str) -> str:
        """Return the text of a file; empty if it is not known."""
        name = self.normalized(path)
        return self.written.get(name) or (self.read(name) if self.read else None) or ""

    def normalized(self, path: str) -> str:
        """Return ``path`` with forward slashes, and ``~`` for the home directory."""
        path = _HOME.sub("~", path.strip("'\"()")).replace("\\", "/")
        path = re.sub(r"(?i)\$\{?pwd\}?|%cd%", ".", path)
        is_whole = bool(re.match(r"[A-Za-z]:|/|~|\$|%", path))
        joined = path if is_whole or not self.folder else posixpath.join(self.folder, path)
        return posixpath.normpath(joined) if joined else joined

    def place(self, path: str) -> tuple[PathClass, str]:
        """Return the class of a path of Windows, and its position in the project."""
        normal = self.normalized(path)
        if _TEMPORARY.search(normal) or _TEMPORARY.search(path):
            return PathClass.DISPOSABLE, ""
        drive = re.fullmatch(r"([A-Za-z]):(.*)", normal) or re.fullmatch(
            r"()(/|/(?:windows|users|program).*)", normal, re.IGNORECASE
        )
        if drive:
            return _classify_drive(drive[2].rstrip("/")), ""
        if normal.startswith(("$", "%")):
            return PathClass.DISPOSABLE, ""
        found = classify_path(normal, self.location)
        return found.path_class, found.relative_path


_REMOVED: Mapping[PathClass, tuple[str, Severity]] = {
    PathClass.SYSTEM: ("delete-system", Severity.DENY),
    PathClass.HOME: ("delete-home", Severity.DENY),
    PathClass.PROJECT: ("delete-project", Severity.DENY),
    PathClass.GIT: ("delete-history", Severity.DENY),
    PathClass.OUTSIDE: ("delete-outside", Severity.ASK),
}


def _classify_drive(path: str) -> PathClass:
    """Return the class of a path below the root of a drive."""
    if path in ("", "/*", "/*.*", "*"):
        return PathClass.SYSTEM
    if path.lower().startswith("/users/") and _PRIVATE_WINDOWS.fullmatch(path[6:]):
        return PathClass.HOME
    if path.rpartition("/")[2].lower() in ("node_modules", "dist", "build", "bin", "obj", "target", "__pycache__"):
        return PathClass.DISPOSABLE
    return (
        PathClass.SYSTEM
        if _SYSTEM_FOLDERS.fullmatch(path) and not path.lower().startswith("/users/")
        else PathClass.OUTSIDE
    )


def _detect_statement(text: str) -> Hazards:
    """Yield the hazard of a statement that the table describes, or of a cmdlet that removes."""
    _marks, kinds, routine = _patterns()
    lowered = text.lower()
    for kind, pattern in kinds.items():
        if pattern.match(lowered):
            yield Hazard(kind, Severity.DENY if kind == "disk" else Severity.ASK, text[:80])
            return
    noun = re.match(r"(?:remove|uninstall|disable|clear|unregister)-([a-z]\w+)", lowered)
    if noun and noun[1] not in routine:
        yield Hazard("system-change", Severity.ASK, text[:80])


def _statements(line: str) -> Iterator[tuple[list[str], bool]]:
    """Yield the statements of ``line`` as words without quotes, and whether they read the one before through a pipe."""
    words: list[str] = []
    is_piped, end = False, -1
    for match in _ELEMENTS.finditer(re.sub(r"(?m)(?:^|(?<=\s))#.*$", "", line)):
        token = match[0]
        if token in _SEPARATORS:
            if words:
                yield words, is_piped
                is_piped = token == "|" or (token == "{" and is_piped)  # noqa: S105 -- no password
            elif token == "|":  # noqa: S105
                is_piped = True
            words, end = [], -1
            continue
        text = token[1:-1] if token[0] in "'\"" else token.strip("()") or token
        if words and match.start() == end:
            words[-1] += text
        else:
            words.append(text)
        end = match.end()
    if words:
        yield words, is_piped


def _program(word: str) -> str:
    """Return the program of a statement: in lower case, without its folder and ending, and without ``@``."""
    name = re.split(r"[\\/]", word.lower().lstrip("@(&"))[0 if word.startswith("/") else -1] or word.lower()
    if re.match(r"(?i)(?:rd|rmdir|del|erase)/", word):
        name = word.lower().partition("/")[0]
    return name.removesuffix(".exe")


def _splatted(table: str) -> str:
    """Return ``@{Path=$HOME; Recurse=$true}`` as options."""
    parts = [part.partition("=") for part in table[2:-1].split(";") if "=" in part]
    return " ".join(
        f"-{name.strip()}" if value.strip().lower() == "$true" else f"-{name.strip()} {value.strip()}"
        for name, _, value in parts
    )


def _decode(text: str) -> str:
    try:
        return base64.b64decode(text).decode("utf-16-le", "replace")
    except ValueError:
        return ""


def _escaped(text: str) -> str:
    """Return ``text`` as a replacement of a regular expression."""
    return text.replace("\\", "\\\\")
