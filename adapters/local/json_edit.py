"""Edits the text of a JSON file that a person may have written. Law: what is not asked for stays, byte by byte.

Read is what a patient reader takes: comments (``//``, ``/* */``), commas behind the last member, any line ends and any
indent. A text that is still not JSON, and one with the same key twice in an object, is not touched: ``NotEditable``
names line and column. What is put in looks like what stands around it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...core.errors import UserError

MAX_DEPTH = 100

_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"')
_SCALAR = re.compile(r"(?:true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)(?![\w.+-])")
_TRIVIA = re.compile(r"[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/", re.DOTALL)
_INDENT = re.compile(r"[ \t]*")
_BREAK = re.compile(r"[ \t]*[\r\n]")


class NotEditable(UserError):
    """A text that is left alone; the message begins with line and column where there are any."""


@dataclass(slots=True)
class _Node:
    """A value in the text, from ``start`` to ``end``. An object has ``members``."""

    start: int
    end: int = 0
    value: Any = None
    members: list[_Member] | None = None


@dataclass(slots=True)
class _Member:
    """``start`` is where its key begins, ``before`` where the last token or comment before that ends."""

    key: str
    start: int
    before: int
    is_after_comment: bool
    """Whether it is the end of its line that ends what stands before it."""
    node: _Node
    comma: int = -1
    """Where the comma behind it stands; -1 if there is none."""


def read(text: str) -> dict[str, Any]:
    """The object in ``text``; an empty text is an empty object. Raises NotEditable."""
    value = _parse(text).value
    assert isinstance(value, dict)
    return value


def put(text: str, place: Sequence[str], value: Any) -> str:
    """``text`` with ``value`` at ``place``, a path of keys; objects on the way are made. Raises NotEditable."""
    if not text.strip():
        text += "{}" + _line_end(text)
    node = _parse(text)
    for depth, key in enumerate(place):
        member = _member(node, key)
        if member is None:
            inner = value
            for missing in reversed(place[depth + 1 :]):
                inner = {missing: inner}
            return _with_member(text, node, depth, place[depth], inner)
        node = member.node
        if depth < len(place) - 1 and node.members is None:
            raise _problem(text, node.start, f"{_shown(place[: depth + 1])} is not an object")
    if node.value == value and type(node.value) is type(value):
        return text
    written = _written(text, value, _indent_at(text, node.start), is_spread="\n" in text.strip())
    return text[: node.start] + written + text[node.end :]


def drop(text: str, place: Sequence[str]) -> str:
    """``text`` without the member at ``place``; as it is when there is none. Raises NotEditable."""
    node = _parse(text) if text.strip() else _Node(0, members=[])
    for key in place[:-1]:
        member = _member(node, key)
        if member is None:
            return text
        node = member.node
    member = _member(node, place[-1])
    return text if member is None else _without_member(text, node, member)


def is_blank(text: str) -> bool:
    """Whether nothing would be lost with ``text``: an empty object, and no comment."""
    return text.strip() == "" or re.fullmatch(r"\{\s*\}", text.strip()) is not None


# Reading


@dataclass(slots=True)
class _Scanner:
    text: str
    at: int = 0
    last: int = 0
    """Where the last token or comment ends."""
    is_comment: bool = False
    """Whether that is a comment to the end of its line."""

    def skip(self) -> str:
        """Go to the next token; its first character, or nothing at the end."""
        while found := _TRIVIA.match(self.text, self.at):
            self.at = found.end()
            if not found.group().isspace():
                self.last, self.is_comment = self.at, found.group().startswith("//")
        return self.text[self.at : self.at + 1]

    def take(self, size: int) -> None:
        self.at += size
        self.last, self.is_comment = self.at, False

    def node(self, depth: int) -> _Node:
        first = self.skip()
        if depth > MAX_DEPTH:
            raise _problem(self.text, self.at, f"more than {MAX_DEPTH} values inside each other")
        if first == "{":
            return self.object(depth)
        if first == "[":
            return self.array(depth)
        found = (_STRING if first == '"' else _SCALAR).match(self.text, self.at)
        if found is None:
            raise _problem(self.text, self.at, "a value is missing here" if first in ",:]}" else "not JSON")
        try:
            node = _Node(self.at, found.end(), json.loads(found.group()))
        except ValueError as error:
            raise _problem(self.text, self.at, "a number with too many digits") from error
        self.take(len(found.group()))
        return node

    def object(self, depth: int) -> _Node:
        node = _Node(self.at, members=[])
        assert node.members is not None
        keys: set[str] = set()
        self.take(1)
        while True:
            first, before, is_after_comment = self.skip(), self.last, self.is_comment
            if first == "}":
                break
            found = _STRING.match(self.text, self.at)
            if found is None:
                raise _problem(self.text, self.at, "a key or } is missing here")
            key, start = json.loads(found.group()), self.at
            if key in keys:
                raise _problem(self.text, start, f"the key {json.dumps(key)} stands here for the second time")
            keys.add(key)
            self.take(len(found.group()))
            if self.skip() != ":":
                raise _problem(self.text, self.at, "a : is missing here")
            self.take(1)
            member = _Member(key, start, before, is_after_comment, self.node(depth + 1))
            node.members.append(member)
            if self.skip() == ",":
                member.comma = self.at
                self.take(1)
            elif self.skip() != "}":
                raise _problem(self.text, self.at, "a , or } is missing here")
        self.take(1)
        node.end, node.value = self.at, {member.key: member.node.value for member in node.members}
        return node

    def array(self, depth: int) -> _Node:
        node = _Node(self.at, value=[])
        self.take(1)
        while self.skip() != "]":
            node.value.append(self.node(depth + 1).value)
            if self.skip() == ",":
                self.take(1)
            elif self.skip() != "]":
                raise _problem(self.text, self.at, "a , or ] is missing here")
        self.take(1)
        node.end = self.at
        return node


def _parse(text: str) -> _Node:
    if not text.strip():
        return _Node(0, 0, {}, [])
    scanner = _Scanner(text)
    node = scanner.node(0)
    if scanner.skip():
        raise _problem(text, scanner.at, "something stands behind the end")
    if node.members is None:
        raise _problem(text, node.start, "not an object")
    return node


def _problem(text: str, at: int, what: str) -> NotEditable:
    line = text.count("\n", 0, at) + 1
    return NotEditable(f"line {line}, column {at - text.rfind(chr(10), 0, at)}: {what}")


def _member(node: _Node, key: str) -> _Member | None:
    return next((member for member in node.members or () if member.key == key), None)


def _shown(place: Sequence[str]) -> str:
    return ".".join(json.dumps(key, ensure_ascii=False) for key in place)


# Writing


def _with_member(text: str, node: _Node, depth: int, key: str, value: Any) -> str:
    """``text`` with a further member, the last one, in the object ``node``."""
    members = node.members or []
    close = node.end - 1
    scanner = _Scanner(text, members[-1].node.end if members else node.start + 1)
    scanner.last = scanner.at
    if scanner.skip() == ",":
        scanner.take(1)
        scanner.skip()
    tail = scanner.last  # behind the last member, comma or comment
    inside = text[node.start : node.end]
    is_spread = "\n" in inside or (not members and (depth == 0 or "\n" in text.strip()))
    base = _indent_at(text, node.start)
    indent = _own_indent(text, members) or base + _unit(text)
    named = json.dumps(key, ensure_ascii=False) + ": " + _written(text, value, indent, is_spread=is_spread)
    named += "," if members and members[-1].comma >= 0 else ""
    if is_spread:
        end_of_line = _line_end(text)
        named = end_of_line + indent + named
        named += "" if members or "\n" in text[tail:close] else end_of_line + base
    elif members:
        named = " " + named
    new = text[:tail] + named + text[tail:]
    if members and members[-1].comma < 0:
        end = members[-1].node.end
        new = new[:end] + "," + new[end:]
    return new


def _without_member(text: str, node: _Node, member: _Member) -> str:
    """``text`` without ``member``; comments around it stay."""
    members = node.members or []
    index = members.index(member)
    start, end, kept = member.before, member.node.end, []
    if member.comma >= 0:
        end = member.comma + 1
        trivia = _TRIVIA.finditer(text, member.node.end, member.comma)
        kept = [found.group() for found in trivia if not found.group().isspace()]
    is_comment = kept[-1].startswith("//") if kept else member.is_after_comment
    if is_comment and not _BREAK.match(text, end):
        kept.append(_line_end(text))
    new = text[:start] + "".join(kept) + text[end:]
    if member.comma < 0 and index > 0:
        comma = members[index - 1].comma
        new = new[:comma] + new[comma + 1 :]
    end_of_object = node.end - (len(text) - len(new))
    if not new[node.start + 1 : end_of_object - 1].strip():
        new = new[: node.start + 1] + new[end_of_object - 1 :]
    return new


def _written(text: str, value: Any, indent: str, *, is_spread: bool) -> str:
    """``value`` as JSON, in several lines where it is spread; the first one is not indented."""
    if not is_spread or not isinstance(value, Mapping | list):
        return json.dumps(value, ensure_ascii=False)
    lines = json.dumps(value, ensure_ascii=False, indent=_unit(text)).split("\n")
    return (_line_end(text) + indent).join(lines)


def _line_end(text: str) -> str:
    return "\r\n" if text.count("\r\n") * 2 > text.count("\n") else "\n"


def _unit(text: str) -> str:
    """One step of indent: that of the first member of the outermost object, if it has a line of its own."""
    root = _parse(text)
    return _own_indent(text, root.members or []) or "  "


def _own_indent(text: str, members: Sequence[_Member]) -> str:
    """The indent of the first of ``members`` that begins its line."""
    for member in members:
        line = text.rfind("\n", 0, member.start) + 1
        if line and _INDENT.fullmatch(text, line, member.start):
            return text[line : member.start]
    return ""


def _indent_at(text: str, at: int) -> str:
    """The indent of the line around ``at``."""
    found = _INDENT.match(text, text.rfind("\n", 0, at) + 1)
    return found.group() if found else ""
