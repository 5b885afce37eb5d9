"""Hazards in source code that an interpreter runs: deleted trees, shell lines, SQL, overwritten files.

Invariant: code is searched for calls, not parsed. A path counts if it is a literal, the home directory, or a variable
that is assigned one of them; an unknown path is no hazard.
"""

from __future__ import annotations

import posixpath
import shlex
from base64 import b64decode
from collections.abc import Iterator, Mapping, Sequence

from upbeat.core import lazy_re as re
from upbeat.core.lazy_dataclass import dataclass
from upbeat.core.package_data import load_toml

MAX_CODE_CHARS = 100_000
MAX_CALLS = 100
MAX_ARGUMENT_CHARS = 2000


def _pattern(name: str) -> str:
    return "".join(str(load_toml(__package__, "code.toml")[name]).split("\n"))


_TREE_CALL = re.compile(
    rf"(?<![\w$'\"-])(?:[\w$]+(?:\(['\"][\w:/-]+['\"]\))?(?:\.|::|->))*(?:{_pattern('tree')})(?!\w)(?:\s*\(|\s|(?=[;}})\]'\"]|$))"
)
_FILE_CALL = re.compile(rf"(?<![\w$'\"-])(?:{_pattern('file')})(?!\w)\s*[(\s;}}]?")
_LISTING_CALL = re.compile(rf"(?<![\w$'\"])(?:{_pattern('listing')})\s*[(\s]|\bDir\[|<\$?[\w/~*.]+\*>")
_SHELL_CALL = re.compile(rf"(?<![\w'\"])(?:{_pattern('shell')})\s*[(\s\[{{`]|`")
_SERVICE_CALL = re.compile(_pattern("service"))
_SQL_CALL = re.compile(
    r"\.(?:execute\w*|query\w*|exec|run|raw|prepare|do|command|unsafe|\$executeRaw\w*|ExecContext|Exec)\s*[(`]"
)
_WRITE_CALL = re.compile(
    r"\bopen\s*\(?\s*(?:\w+\s*,\s*)?(?:[\"']>[\"']\s*,\s*)?(?P<a>[\"'][^\"']+[\"'])\s*(?:,\s*[\"'](?:w|wb|w\+|>)|;|,?\s*\)?\s*$)"
    r"|\bopen\s*\(?\s*\w+\s*,\s*[\"']>[\"']\s*,\s*(?P<d>[\"'][^\"']+[\"'])"
    r"|(?:truncateSync|truncate|writeFileSync|writeFile|File\.write|file_put_contents|WriteAllText|copyFileSync|ftruncate|IO\.write)"
    r"\s*\(\s*(?P<b>[^,()]+)|Path\(\s*(?P<c>[\"'][^\"']+[\"'])\s*\)\.(?:write_text|write_bytes)"
)
_SQL_WORD = re.compile(r"(?i)\b(?:drop|truncate|delete|alter|update|reset)\s")
_HOME, _CWD = re.compile(_pattern("home")), re.compile(_pattern("cwd"))
_TEMPORARY = re.compile(_pattern("temporary"))
_LITERAL = re.compile(r"[rbfuRBFU]{0,2}(\"\"\"|'''|[\"'`])((?:\\.|(?!\1).)*?)\1", re.DOTALL)
_ASSIGNMENT = re.compile(
    r"(?:^|[;{(\n]|\b(?:const|let|var|my|local|for)\b|\bset\b)\s*[$@]?(\w+)\s*(?::=|=(?!=)|\bin\b|\bof\b)\s*([^;\n]{1,300})"
)
_NAME = re.compile(r"(?<![\w.'\"])[$@]?([A-Za-z_]\w*)(?![\w(\"'])")
_MODULES = frozenset({"os", "fs", "path", "shutil", "fsp", "cp"})
_JOINED = re.compile(r"(?<=\w)'\s*\+\s*'|(?<=\w)\"\s*\+\s*\"")
_ENCODED = re.compile(
    r"(?:b64decode|atob|decode_base64|decode64|base64_decode|Buffer\.from)\(\s*(b?[\"'])([A-Za-z0-9+/=]{8,})[\"']"
)
_EXECUTED = re.compile(r"\b(?:exec|eval)\(\s*([\"'])((?:\\.|(?!\1).)*)\1")
_IMPORTED_AS = re.compile(r"\b(rmtree|rmSync|execSync|exec|system|remove|unlink|run)\s*(?:as\s+|:\s*)(\w+)")
_PIPED_LITERAL = re.compile(r"\|\s*getline|\|\s*\"\w")
_FILTER = re.compile(r"\*\.\w+|\bendswith\b|\bsuffix\b|\.ext(?:name)?\b|\.end_with\?|\.test\(|\bre\.")
_DEFINITION = re.compile(r"\b(?:def|function|func|fn|sub|import|from|typeof|del)\s+$")


@dataclass(frozen=True, slots=True)
class CodeFinding:
    """What code does: ``kind`` is tree, file, shell, sql, write, truncate or service; ``text`` is its object."""

    kind: str
    text: str


def find_in_code(code: str) -> Iterator[CodeFinding]:
    """Yield what ``code`` would delete, run or overwrite, as far as it says so."""
    code = _prepare(code[:MAX_CODE_CHARS])
    values = _assigned_values(code)
    for match in _calls(_TREE_CALL, code):
        for path in _paths(code, match, values):
            yield CodeFinding("tree", path)
    yield from _find_file_removals(code, values)
    for match in _calls(_SHELL_CALL, code):
        if text := _shell_text(code, match, values):
            yield CodeFinding("shell", text)
    if _PIPED_LITERAL.search(code):
        for literal in _LITERAL.finditer(code):
            yield CodeFinding("shell", literal[2])
    for match in _calls(_SQL_CALL, code):
        for literal in _LITERAL.finditer(_argument(code, match)):
            if _SQL_WORD.search(literal[2]):
                yield CodeFinding("sql", literal[2])
    for match in _calls(_SERVICE_CALL, code):
        yield CodeFinding("service", match[0].strip("( ."))
    for match in _calls(_WRITE_CALL, code):
        for path in _literal_paths(match["a"] or match["b"] or match["c"] or match["d"], values):
            yield CodeFinding("truncate" if match[0].startswith("truncate") else "write", path)


def _prepare(code: str) -> str:
    """Return ``code`` with known expressions as literals, aliases of imports as names, and executed text as code."""
    code = _HOME.sub('"~"', _CWD.sub('"."', code))
    code = _JOINED.sub("", code)
    for pattern in (_ENCODED, _EXECUTED):
        for found in pattern.findall(code):
            code += "\n" + (_decode(found[1]) if pattern is _ENCODED else found[1].replace("\\", ""))
    for original, alias in _IMPORTED_AS.findall(code):
        code = re.sub(rf"\b{alias}\s*\(", f"{original}(", code)
    code = re.sub(r"[\"'](unlink|rmdir|rmtree)[\"']\s*,", r"\1(", code)
    return re.sub(r"<(/[^>\s]*\*[^>\s]*)>", r'("\1")', code)


def _decode(text: str) -> str:
    try:
        return b64decode(text).decode("utf-8", "replace")
    except ValueError:
        return ""


def _calls(pattern: re.Pattern[str], code: str) -> Iterator[re.Match[str]]:
    for number, match in enumerate(pattern.finditer(code)):
        if number >= MAX_CALLS:
            return
        line_start = code.rfind("\n", 0, match.start()) + 1
        before = code[line_start : match.start()]
        if not _DEFINITION.search(before) and not before.lstrip().startswith(("#", "//", "--")):
            yield match


def _find_file_removals(code: str, values: Mapping[str, str]) -> Iterator[CodeFinding]:
    """A removed file is named, or one of those that a listing names: then the listed folder is removed."""
    is_any = False
    for match in _calls(_FILE_CALL, code):
        paths = list(_paths(code, match, values))
        is_any = True
        for path in paths:
            yield CodeFinding("tree" if "*" in path else "file", path)
    if not is_any and not _TREE_CALL.search(code):
        return
    for match in _calls(_LISTING_CALL, code):
        statement = code[match.start() : match.end() + MAX_ARGUMENT_CHARS].split("\n")[0]
        if not _FILTER.search(statement):
            for path in _paths(code, match, values):
                yield CodeFinding("tree", path)


def _assigned_values(code: str) -> Mapping[str, str]:
    """Return the expressions that variables are assigned."""
    found = ((match[1], match[2], match[0]) for match in _ASSIGNMENT.finditer(code))
    is_element = re.compile(r"\s(?:in|of)\s")
    return {
        name: value
        for name, value, whole in found
        if value[0] not in "({" and not ("(" in value and is_element.search(whole))
    }


def _argument(code: str, match: re.Match[str]) -> str:
    """Return the text after a call up to its closing parenthesis, or to the end of its statement."""
    start, depth, quote = match.end(), 1 if match[0].rstrip()[-1:] in "([{" else 0, ""
    end = min(len(code), start + MAX_ARGUMENT_CHARS)
    for at in range(start, end):
        char = code[at]
        if quote:
            quote = "" if char == quote and code[at - 1] != "\\" else quote
        elif char in "\"'`":
            quote = char
        elif char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
            if depth <= 0:
                return code[start:at]
        elif char in ";\n" and depth <= 0:
            return code[start:at]
    return code[start:end]


def _paths(code: str, match: re.Match[str], values: Mapping[str, str]) -> Iterator[str]:
    """Yield the paths of a call: those of its first argument, else of its receiver."""
    argument = _argument(code, match)
    if _TEMPORARY.search(argument):
        return
    found = list(_literal_paths(argument, values))
    if not found:
        statement = re.split(r"[;\n{]|:\s", code[max(0, match.start() - 200) : match.end()].rstrip(" ;}"))[-1]
        found = list(_literal_paths(statement, values)) if not _TEMPORARY.search(statement) else []
    yield from found


def _literal_paths(expression: str, values: Mapping[str, str]) -> Iterator[str]:
    """Yield the path that ``expression`` builds of literals; each of several ones in a list."""
    names = set(_NAME.findall(_LITERAL.sub('""', expression))) & set(values) - _MODULES
    if any(_TEMPORARY.search(values[name]) for name in names):
        return
    for name in sorted(name for name in names if _LITERAL.search(values[name])):
        expression = f"{values[name]}".join(re.split(rf"(?<![\w'\"/])[$@]?{name}(?![\w(\"'])", expression))
    literals = [(found.start(), found.end(), found[2]) for found in _LITERAL.finditer(expression)]
    current, last_end = "", 0
    for start, end, text in literals:
        between = expression[last_end:start]
        if current and re.search(r"join|/|,", between) and ("join" in expression[:start] or "/" in between):
            current = posixpath.join(current, text)
        elif current and re.search(r"[+.]\s*$", between):
            current += text
        else:
            if _is_path(current):
                yield current
            current = text
        last_end = end
    if _is_path(current):
        yield current


def _is_path(text: str) -> bool:
    return bool(text) and not re.search(r"[\s(){}<>|;,]", text) and bool(re.match(r"[/~.\w*]", text))


def _shell_text(code: str, match: re.Match[str], values: Mapping[str, str]) -> str:
    """Return the shell line that a call runs: its literal, or a list of words."""
    if match[0].rstrip()[-1:] == "`":
        end = code.find("`", match.end())
        return code[match.end() : end] if 0 < end < match.end() + MAX_ARGUMENT_CHARS else ""
    argument = _argument(code, match)
    texts = [found[2] for found in _LITERAL.finditer(argument)]
    if not texts:
        named = re.match(r"\s*(\w+)", argument)
        texts = [found[2] for found in _LITERAL.finditer(values.get(named[1], ""))] if named else []
    if not texts:
        return argument.strip() if re.match(r"spawn\s|%x|qx", match[0].lstrip()) else ""
    return texts[0] if " " in texts[0].strip() else shlex.join(_shell_words(texts))


def _shell_words(texts: Sequence[str]) -> list[str]:
    return [text.replace("\n", " ") for text in texts[:50]]
