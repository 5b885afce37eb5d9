"""Expand the words of a shell line as far as the line itself says what they are.

Invariant: nothing is run and nothing outside of the line is read. What the line does not say becomes ``UNKNOWN`` inside
of the word, so ``-j$(cat n)`` still shows that it is one option; an exit code other than 0 is the value ``FAILED``.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from upbeat.core.lazy_dataclass import dataclass
from upbeat.core.shell.syntax import Words, node_text, unescape_bare, unescape_quoted

if TYPE_CHECKING:
    from tree_sitter import Node

UNKNOWN = "\ue000"
"""Stands for text that the line does not determine."""
FAILED = "\ue001"
"""Stands for an exit code other than 0."""
JOB = "\ue002"
"""Begins the value of ``$!``; the number of the background job follows, from 0."""

_COUNTS = frozenset({"nproc", "getconf", "sysctl"})
_NAMES = frozenset({"uname", "whoami", "id", "hostname", "date"})


@dataclass(frozen=True, slots=True)
class Values:
    """What is known at one point of a line.

    ``variables`` were set by the line; ``positional`` are the script's arguments; ``status`` and ``pipe`` are the exit
    codes of the last command and of the parts of the last pipe, each ``0`` or ``FAILED``. A variable that was never
    set is unknown in a line (``is_script`` false), and empty in a script of the project.
    """

    variables: Mapping[str, str]
    cwd: str
    root: str
    positional: Words = ()
    script: str = ""
    status: str = "0"
    pipe: Words = ()
    is_script: bool = False
    jobs: Words = ()
    is_test: bool = False
    """A variable that was never set may be set in the environment."""


def expand_words(nodes: Iterable[Node], values: Values) -> Words:
    """Return the words that ``nodes`` become."""
    return tuple(word for node in nodes for word in expand_word(node, values))


def expand_word(node: Node, values: Values) -> Words:
    """Return the words that one word of the source becomes: none or several for an unquoted variable."""
    match node.type:
        case "simple_expansion" | "expansion":
            name = _variable_name(node)
            if name in ("@", "*"):
                return values.positional
            text = _expand_variable(node, values)
            return tuple(text.split()) if UNKNOWN not in text else (text,)
        case "string" if node_text(node) in ('"$@"', '"${@}"'):
            return values.positional
        case "string" if (default := _all_arguments_or_default(node)) is not None:
            return values.positional or (default,)
        case "command_substitution":
            text = _expand_substitution(node, values)
            return tuple(text.split()) if UNKNOWN not in text else (text,)
    return (expand_text(node, values),)


def expand_text(node: Node, values: Values) -> str:
    """Return the text that ``node`` becomes as one word."""
    text = node_text(node)
    match node.type:
        case "raw_string":
            return text[1:-1]
        case "ansi_c_string":
            return text[2:-1].replace("\\n", "\n").replace("\\t", "\t").replace("\\'", "'")
        case "concatenation" | "command_name":
            return "".join(expand_text(child, values) for child in node.children) if node.children else text
        case "string":
            return "".join(_string_parts(node, values))
        case "simple_expansion" | "expansion":
            return _expand_variable(node, values)
        case "command_substitution":
            return _expand_substitution(node, values)
        case "arithmetic_expansion" | "process_substitution":
            return UNKNOWN
    return unescape_bare(text) if node.type == "word" else text


def _string_parts(node: Node, values: Values) -> Iterator[str]:
    """Yield the parts of a double-quoted string; the parser has no node for white space at the start."""
    data, end = node.text or b"", node.start_byte + 1
    for child in node.children[1:-1]:
        if child.start_byte > end:
            yield data[end - node.start_byte : child.start_byte - node.start_byte].decode("utf-8", "replace")
        end = child.end_byte
        yield unescape_quoted(node_text(child)) if child.type == "string_content" else expand_text(child, values)
    if node.end_byte - 1 > end:
        yield data[end - node.start_byte : -1].decode("utf-8", "replace")


def _variable_name(node: Node) -> str:
    names = ("variable_name", "special_variable_name", "subscript")
    return next((node_text(child) for child in node.named_children if child.type in names), "")


def _expand_variable(node: Node, values: Values) -> str:
    name = _variable_name(node)
    value = _lookup(name, values)
    if value is None and values.is_test and not name.isdecimal():
        return UNKNOWN
    plain = {f"${name}", f"${{{name}}}"}
    if node_text(node) in plain:
        return value if value is not None else "" if values.is_script else UNKNOWN
    default = re.fullmatch(rf"\$\{{{re.escape(name)}:?[-=](.*)\}}", node_text(node), re.DOTALL)
    if default is None:
        return value if value in ("0", FAILED) else UNKNOWN
    nested = [child for child in node.named_children if child.type not in ("variable_name", "special_variable_name")]
    return value or (expand_text(nested[0], values) if nested else default[1].strip("\"'"))


def _all_arguments_or_default(node: Node) -> str | None:
    """Return ``x`` of the string ``"${@:-x}"``."""
    found = re.fullmatch(r'"\$\{@:?-([^$}"]*)\}"', node_text(node))
    return found[1] if found else None


def _lookup(name: str, values: Values) -> str | None:
    match name:
        case "?":
            return values.status
        case "PWD":
            return values.cwd
        case "0":
            return values.script or UNKNOWN
        case "@" | "*":
            return " ".join(values.positional)
        case "#":
            return str(len(values.positional))
        case "!" if values.jobs:
            return f"{JOB}{len(values.jobs) - 1}"
        case "$" | "!" | "-" | "_" | "RANDOM" | "OLDPWD":
            return UNKNOWN
        case "HOME":
            return "~"
        case "BASH_SOURCE" | "BASH_SOURCE[0]":
            return values.script or UNKNOWN
    if name.isdecimal():
        at = int(name) - 1
        return values.positional[at] if at < len(values.positional) else None
    if found := re.fullmatch(r"(?:PIPESTATUS|pipestatus)(?:\[(\d+|@|\*)\])?", name):
        at = int(found[1] or 0) if (found[1] or "0").isdecimal() else 0
        return values.pipe[at] if at < len(values.pipe) else UNKNOWN
    return values.variables.get(name)


def _expand_substitution(node: Node, values: Values) -> str:
    """Return what ``$(…)`` prints for the few commands whose output says where something is."""
    statements = [child for child in node.named_children if child.type != "comment"]
    if len(statements) != 1:
        return UNKNOWN
    inner = statements[0]
    while inner.type == "redirected_statement" and (body := inner.child_by_field_name("body")):
        inner = body
    if inner.type == "list" and any(child.type == "&&" for child in inner.children):
        parts = [_plain_words(part, values) for part in inner.named_children]
        if len(parts) == 2 and parts[0][:1] == ("cd",) and parts[1][:1] == ("pwd",):
            return join_path(values.cwd, [word for word in parts[0] if word not in ("--", "-P", "-L")][-1])
        return UNKNOWN
    return _known_output(_plain_words(inner, values), values)


def _known_output(words: Words, values: Values) -> str:
    program = words[0] if words else ""
    if program == "pwd":
        return values.cwd
    if program == "git" and words[1:] == ("rev-parse", "--show-toplevel"):
        return values.root
    if program in ("dirname", "realpath", "readlink", "basename") and len(words) > 1 and UNKNOWN not in words[-1]:
        return {"dirname": posixpath.dirname, "basename": posixpath.basename}.get(program, str)(words[-1]) or "."
    if program in _COUNTS:
        return "4"
    if program in _NAMES:
        return "name"
    if program in ("which", "command") and len(words) > 1 and UNKNOWN not in words[-1]:
        return words[-1]
    return UNKNOWN


def _plain_words(node: Node, values: Values) -> Words:
    if node.type != "command":
        return ()
    return expand_words((child for child in node.children if child.type != "variable_assignment"), values)


def join_path(folder: str, path: str) -> str:
    """Return ``path`` from ``folder`` as a normal path; ``UNKNOWN`` if either is not known."""
    if UNKNOWN in path or UNKNOWN in folder or FAILED in path:
        return UNKNOWN
    return posixpath.normpath(posixpath.join(folder, path or "."))
