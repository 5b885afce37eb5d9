"""Edit the text of a JSON file that users may also edit. Invariant: all other bytes stay the same.

The parser accepts comments (``//``, ``/* */``), trailing commas, and any line ends and indentation. Other text that is
not JSON, and an object with a duplicate key, is rejected: ``NotEditableError`` names line and column. New text follows
the style of the text around it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from upbeat.core.errors import UserError

MAX_DEPTH = 100

_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"')
_SCALAR = re.compile(r"(?:true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)(?![\w.+-])")
_TRIVIA = re.compile(r"[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/", re.DOTALL)
_INDENT = re.compile(r"[ \t]*")
_BREAK = re.compile(r"[ \t]*[\r\n]")


class NotEditableError(UserError):
    """The text cannot be edited; the message begins with line and column if they are known."""


@dataclass(slots=True)
class _Node:
    """A value in the text, from ``start`` to ``end``; an object has ``members``."""

    start: int
    end: int = 0
    value: Any = None
    members: list[_Member] | None = None


@dataclass(slots=True)
class _Member:
    """A member of an object; ``start`` is the offset of its key, ``previous_end`` the end of the token before it."""

    key: str
    start: int
    previous_end: int
    is_after_comment: bool
    """Whether a line comment precedes it."""
    node: _Node
    comma: int = -1
    """The offset of the comma after it; -1 if there is none."""


def parse_object(text: str) -> dict[str, Any]:
    """Parse ``text``; an empty text is an empty object. Raises NotEditableError."""
    value = _parse(text).value
    assert isinstance(value, dict)
    return value


def set_value(text: str, key_path: Sequence[str], value: Any) -> str:
    """Return ``text`` with ``value`` at ``key_path``, creating its objects. Raises NotEditableError."""
    if not text.strip():
        text += "{}" + line_end(text)
    node = _parse(text)
    for depth, key in enumerate(key_path):
        member = _find_member(node, key)
        if member is None:
            inner = value
            for missing in reversed(key_path[depth + 1 :]):
                inner = {missing: inner}
            return _with_member(text, node, depth, key_path[depth], inner)
        node = member.node
        if depth < len(key_path) - 1 and node.members is None:
            dotted = ".".join(json.dumps(key, ensure_ascii=False) for key in key_path[: depth + 1])
            raise _not_editable(text, node.start, f"{dotted} is not an object")
    if node.value == value and type(node.value) is type(value):
        return text
    written = _serialize(text, value, _indent_at(text, node.start), is_multiline="\n" in text.strip())
    return text[: node.start] + written + text[node.end :]


def remove_value(text: str, key_path: Sequence[str]) -> str:
    """Return ``text`` without the member at ``key_path``; unchanged if there is none. Raises NotEditableError."""
    node = _parse(text) if text.strip() else _Node(0, members=[])
    for key in key_path[:-1]:
        member = _find_member(node, key)
        if member is None:
            return text
        node = member.node
    member = _find_member(node, key_path[-1])
    return text if member is None else _without_member(text, node, member)


def is_blank(text: str) -> bool:
    """Return whether ``text`` is an empty object without comments."""
    return text.strip() == "" or re.fullmatch(r"\{\s*\}", text.strip()) is not None


# Reading


@dataclass(slots=True)
class _Scanner:
    text: str
    position: int = 0
    last_end: int = 0
    """The end of the last token or comment."""
    is_comment: bool = False
    """Whether that is a line comment."""

    def skip_trivia(self) -> str:
        """Advance to the next token; return its first character, or an empty string at the end."""
        while match := _TRIVIA.match(self.text, self.position):
            self.position = match.end()
            if not match.group().isspace():
                self.last_end, self.is_comment = self.position, match.group().startswith("//")
        return self.text[self.position : self.position + 1]

    def advance(self, size: int) -> None:
        self.position += size
        self.last_end, self.is_comment = self.position, False

    def parse_value(self, depth: int) -> _Node:
        first = self.skip_trivia()
        if depth > MAX_DEPTH:
            raise _not_editable(self.text, self.position, f"nested deeper than {MAX_DEPTH} levels")
        if first == "{":
            return self.parse_object(depth)
        if first == "[":
            return self.parse_array(depth)
        match = (_STRING if first == '"' else _SCALAR).match(self.text, self.position)
        if match is None:
            raise _not_editable(self.text, self.position, "expected a value" if first in ",:]}" else "not JSON")
        try:
            node = _Node(self.position, match.end(), json.loads(match.group()))
        except ValueError as error:
            raise _not_editable(self.text, self.position, "a number with too many digits") from error
        self.advance(len(match.group()))
        return node

    def parse_object(self, depth: int) -> _Node:
        node = _Node(self.position, members=[])
        assert node.members is not None
        keys: set[str] = set()
        self.advance(1)
        while True:
            first, before, is_after_comment = self.skip_trivia(), self.last_end, self.is_comment
            if first == "}":
                break
            match = _STRING.match(self.text, self.position)
            if match is None:
                raise _not_editable(self.text, self.position, "expected a key or }")
            key, start = json.loads(match.group()), self.position
            if key in keys:
                raise _not_editable(self.text, start, f"duplicate key {json.dumps(key)}")
            keys.add(key)
            self.advance(len(match.group()))
            if self.skip_trivia() != ":":
                raise _not_editable(self.text, self.position, "expected :")
            self.advance(1)
            member = _Member(key, start, before, is_after_comment, self.parse_value(depth + 1))
            node.members.append(member)
            if self.skip_trivia() == ",":
                member.comma = self.position
                self.advance(1)
            elif self.skip_trivia() != "}":
                raise _not_editable(self.text, self.position, "expected , or }")
        self.advance(1)
        node.end, node.value = self.position, {member.key: member.node.value for member in node.members}
        return node

    def parse_array(self, depth: int) -> _Node:
        node = _Node(self.position, value=[])
        self.advance(1)
        while self.skip_trivia() != "]":
            node.value.append(self.parse_value(depth + 1).value)
            if self.skip_trivia() == ",":
                self.advance(1)
            elif self.skip_trivia() != "]":
                raise _not_editable(self.text, self.position, "expected , or ]")
        self.advance(1)
        node.end = self.position
        return node


def _parse(text: str) -> _Node:
    if not text.strip():
        return _Node(0, 0, {}, [])
    scanner = _Scanner(text)
    node = scanner.parse_value(0)
    if scanner.skip_trivia():
        raise _not_editable(text, scanner.position, "text after the end")
    if node.members is None:
        raise _not_editable(text, node.start, "not an object")
    return node


def _not_editable(text: str, position: int, what: str) -> NotEditableError:
    line = text.count("\n", 0, position) + 1
    return NotEditableError(f"line {line}, column {position - text.rfind(chr(10), 0, position)}: {what}")


def _find_member(node: _Node, key: str) -> _Member | None:
    return next((member for member in node.members or () if member.key == key), None)


# Writing


def _with_member(text: str, node: _Node, depth: int, key: str, value: Any) -> str:
    """Return ``text`` with a new last member in the object ``node``."""
    members = node.members or []
    close = node.end - 1
    scanner = _Scanner(text, members[-1].node.end if members else node.start + 1)
    scanner.last_end = scanner.position
    if scanner.skip_trivia() == ",":
        scanner.advance(1)
        scanner.skip_trivia()
    tail = scanner.last_end  # after the last member, comma or comment
    inside = text[node.start : node.end]
    is_spread = "\n" in inside or (not members and (depth == 0 or "\n" in text.strip()))
    base = _indent_at(text, node.start)
    indent = _own_indent(text, members) or base + _indent_unit(text)
    named = json.dumps(key, ensure_ascii=False) + ": " + _serialize(text, value, indent, is_multiline=is_spread)
    named += "," if members and members[-1].comma >= 0 else ""
    if is_spread:
        end_of_line = line_end(text)
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
    """Return ``text`` without ``member``; comments around it stay."""
    members = node.members or []
    index = members.index(member)
    start, end, kept = member.previous_end, member.node.end, []
    if member.comma >= 0:
        end = member.comma + 1
        trivia = _TRIVIA.finditer(text, member.node.end, member.comma)
        kept = [match.group() for match in trivia if not match.group().isspace()]
    is_comment = kept[-1].startswith("//") if kept else member.is_after_comment
    if is_comment and not _BREAK.match(text, end):
        kept.append(line_end(text))
    new = text[:start] + "".join(kept) + text[end:]
    if member.comma < 0 and index > 0:
        comma = members[index - 1].comma
        new = new[:comma] + new[comma + 1 :]
    end_of_object = node.end - (len(text) - len(new))
    if not new[node.start + 1 : end_of_object - 1].strip():
        new = new[: node.start + 1] + new[end_of_object - 1 :]
    return new


def _serialize(text: str, value: Any, indent: str, *, is_multiline: bool) -> str:
    """Return ``value`` as JSON; the first of several lines is not indented."""
    if not is_multiline or not isinstance(value, Mapping | list):
        return json.dumps(value, ensure_ascii=False)
    lines = json.dumps(value, ensure_ascii=False, indent=_indent_unit(text)).split("\n")
    return (line_end(text) + indent).join(lines)


def line_end(text: str) -> str:
    """Return the line end that most lines of ``text`` have."""
    return "\r\n" if text.count("\r\n") * 2 > text.count("\n") else "\n"


def _indent_unit(text: str) -> str:
    """Return one level of indentation: that of the first member of the outermost object on its own line."""
    root = _parse(text)
    return _own_indent(text, root.members or []) or "  "


def _own_indent(text: str, members: Sequence[_Member]) -> str:
    """Return the indentation of the first of ``members`` that begins its line."""
    for member in members:
        line = text.rfind("\n", 0, member.start) + 1
        if line and _INDENT.fullmatch(text, line, member.start):
            return text[line : member.start]
    return ""


def _indent_at(text: str, position: int) -> str:
    """Return the indentation of the line around ``position``."""
    match = _INDENT.match(text, text.rfind("\n", 0, position) + 1)
    return match.group() if match else ""
