"""Every simple command that a shell line may run, as far as the line tells.

Law: nothing is left out silently. What stands in quotes as text is no command; what is handed to a shell as text
(``bash -c``, ``eval``, a here-document, ``echo … | sh``) is. What cannot be told from the line is a gap.

Commands stand in the order in which they begin to run, those of both branches of an ``if`` one after the other, and
those of a loop once for each of its words. A variable whose value the line tells is put in; others stay as written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from .syntax import Words, plain, root_of, text_of, unescaped
from .wrappers import SHELLS, Runs, peel, runs, script_of

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_COMMANDS = 500
MAX_DEPTH = 60
"""How deep statements may stand in each other."""
MAX_SCRIPTS = 6
"""How deep scripts may stand in scripts."""
MAX_ROUNDS = 8
"""Words of a loop that are gone through one by one; with more, its variable stays as written."""

SYNTAX = "it is no valid shell"
SIZE = "it is too long or too deep"
PROGRAM = "a program whose name is not in the line"
SCRIPT = "a script that is not in the line"


@dataclass(frozen=True, slots=True)
class Redirect:
    """``2>> file``: the operator ``>>``, the target ``file``, the descriptor ``2`` (empty for the usual one)."""

    operator: str
    target: str
    descriptor: str = ""

    @property
    def writes(self) -> bool:
        """Whether the target is a file that is emptied first: ``>``, ``>|`` and ``&>``, but not ``>>`` or ``>&1``."""
        return self.operator in (">", ">|", "&>") or (self.operator == ">&" and not self.target.isdecimal())


@dataclass(frozen=True, slots=True)
class Command:
    """One simple command. ``words``: the program, without its folders, and its arguments, without quotes.

    ``words`` is empty where a line only redirects. ``wrappers`` are the programs that run it, the outermost first:
    ``sudo``, ``xargs``, ``find``, ``bash``. ``fed_by`` are the words of the command whose output it reads, ``text``
    is what it reads, where the line tells that (a here-document, what is echoed). ``folder`` is where it runs, as far
    as the line tells: empty for where the line begins, else a path as written; ``?`` when nobody knows.
    """

    words: Words
    redirects: tuple[Redirect, ...] = ()
    assignments: tuple[str, ...] = ()
    """What stands before it: ``A=1``."""
    wrappers: Words = ()
    fed_by: Words = ()
    text: str = ""
    folder: str = ""


@dataclass(frozen=True, slots=True)
class Commands:
    """What a line may run. ``gaps`` says what could not be told: empty when ``items`` is all of it."""

    items: tuple[Command, ...] = ()
    gaps: tuple[str, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Whether ``items`` is everything that the line may run."""
        return not self.gaps


@lru_cache(maxsize=32)
def commands(line: str) -> Commands:
    """What ``line`` may run. Any text is allowed; never raises."""
    reading = _Reading()
    reading.script(line, _Context())
    return Commands(tuple(reading.items), tuple(dict.fromkeys(reading.gaps)))


@dataclass(frozen=True, slots=True)
class _Context:
    """Where a statement stands. ``text`` is what it reads from a pipe or a here-document, where the line tells."""

    depth: int = 0
    scripts: int = 0
    wrappers: Words = ()
    fed_by: Words = ()
    text: str | None = None

    @property
    def unfed(self) -> _Context:
        """The same for what reads no pipe."""
        return replace(self, fed_by=(), text=None) if self.fed_by or self.text is not None else self


@dataclass(slots=True)
class _Reading:
    """What was found so far; ``known`` are the variables whose values the line tells, and with no name the folder."""

    items: list[Command] = field(default_factory=list)
    gaps: list[str] = field(default_factory=list)
    known: dict[str, str] = field(default_factory=dict)

    def script(self, text: str, context: _Context) -> None:
        """All that a script runs."""
        root = root_of(text) if context.scripts <= MAX_SCRIPTS else None
        if root is None:
            self.gaps.append(SIZE)
            return
        if root.has_error:
            self.gaps.append(SYNTAX)
        self.visit(root, replace(context, depth=0, scripts=context.scripts + 1))

    def visit(self, node: Node, context: _Context) -> None:
        """All that ``node`` runs."""
        if context.depth > MAX_DEPTH or len(self.items) >= MAX_COMMANDS:
            self.gaps.append(SIZE)
            return
        _VISITS.get(node.type, _Reading.inside)(self, node, replace(context, depth=context.depth + 1))

    def inside(self, node: Node, context: _Context) -> None:
        """All that stands in ``node``; a pipe that leads to several statements feeds each of them."""
        for child in node.named_children:
            self.visit(child, context)

    def apart(self, node: Node, context: _Context) -> None:
        """A subshell: its variables are its own."""
        with self.scope():
            self.inside(node, context if node.type == "subshell" else context.unfed)

    def function(self, node: Node, context: _Context) -> None:
        """The body of a function, with parameters that nobody knows."""
        with self.scope():
            if body := node.child_by_field_name("body"):
                self.visit(body, context.unfed)

    def pipeline(self, node: Node, context: _Context) -> None:
        for part in node.named_children:
            before = len(self.items)
            self.visit(part, context)
            found = self.items[before:]
            fed_by = found[-1].words if found else ()
            context = replace(context, fed_by=fed_by, text=_printed(found, context))

    def redirected(self, node: Node, context: _Context) -> None:
        """A statement with redirections, which belong to the last command in it."""
        redirects: list[Redirect] = []
        rest: list[Node] = []
        for one in node.children_by_field_name("redirect"):
            context = self._redirect(one, context, redirects, rest)
        body = node.child_by_field_name("body")
        before = len(self.items)
        if body:
            self.visit(body, context)
        if redirects and len(self.items) == before:
            self.add(Command((), wrappers=context.wrappers))
        if redirects:
            last = self.items[-1]
            self.items[-1] = replace(last, redirects=(*last.redirects, *redirects))
        found = self.items[before:]
        fed = replace(context, fed_by=found[-1].words if found else (), text=_printed(found, context))
        for more in rest:
            self.visit(more, fed if more.type == "pipeline" else context.unfed)

    def _redirect(self, node: Node, context: _Context, redirects: list[Redirect], rest: list[Node]) -> _Context:
        """Reads one redirection; of a here-document also what stands behind it on its line."""
        match node.type:
            case "file_redirect":
                redirects.append(self._file(node, context))
            case "herestring_redirect":
                words = [self.word(child, context) for child in node.named_children]
                context = replace(context, text=" ".join(words))
            case "heredoc_redirect":
                for child in node.named_children:
                    if child.type == "file_redirect":
                        redirects.append(self._file(child, context))
                    elif child.type == "heredoc_body":
                        self.inside(child, context.unfed)
                        context = replace(context, text=text_of(child))
                    elif child.type not in ("heredoc_start", "heredoc_end", "file_descriptor"):
                        rest.append(child)
        return context

    def _file(self, node: Node, context: _Context) -> Redirect:
        targets = [self.word(child, context) for child in node.children_by_field_name("destination")]
        descriptor = node.child_by_field_name("descriptor")
        operator = next((child.type for child in node.children if not child.is_named), "")
        return Redirect(operator, targets[0] if targets else "", text_of(descriptor) if descriptor else "")

    def loop(self, node: Node, context: _Context) -> None:
        """``for NAME in WORDS``: its body once for each word."""
        variable, body = node.child_by_field_name("variable"), node.child_by_field_name("body")
        name = text_of(variable) if variable else ""
        values = [self.word(child, context) for child in node.children_by_field_name("value")]
        if body is None:
            return
        for value in values if 0 < len(values) <= MAX_ROUNDS else [""]:
            self.learn(name, value)
            self.visit(body, context.unfed)
        self.known.pop(name, None)

    def assignment(self, node: Node, context: _Context) -> None:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        text = self.word(value, context) if value else ""
        is_told = value is not None and value.type != "array" and any(child.type == "=" for child in node.children)
        if name:
            self.learn(text_of(name), text if is_told else "")

    def declaration(self, node: Node, context: _Context) -> None:
        """``export A=1`` and its kin, which the grammar does not call commands."""
        words: list[str] = []
        for child in node.children:
            if child.type == "variable_assignment":
                self.assignment(child, context.unfed)
            words.append(text_of(child) if child.type == "variable_assignment" else self.word(child, context))
        self.add(Command(tuple(words), wrappers=context.wrappers))

    def simple(self, node: Node, context: _Context) -> None:
        """One simple command: its words, what runs inside of them, and what it runs itself."""
        words: list[str] = []
        assignments: list[str] = []
        redirects: list[Redirect] = []
        for number, child in enumerate(node.children):
            if child.type == "variable_assignment":
                self.inside(child, context.unfed)
                assignments.append(text_of(child))
            elif child.type.endswith("_redirect"):
                context = self._redirect(child, context, redirects, [])
            elif child.type == "command_name":
                words += [word for part in child.children for word in self.split(part, context)]
            elif node.field_name_for_child(number) == "argument":
                words += self.split(child, context)
        command = Command(tuple(words), tuple(redirects), tuple(assignments), context.wrappers, context.fed_by)
        command = replace(command, text=context.text or "")
        self.run(command, context)

    def run(self, command: Command, context: _Context) -> None:
        """Adds ``command``, or what it runs in its place."""
        words, wrappers = peel(command.words)
        command = replace(command, words=words, wrappers=(*context.wrappers, *wrappers))
        if not words:
            if command.assignments or command.redirects or wrappers:
                self.add(replace(command, words=wrappers[-1:]))
            return
        inside = replace(context, wrappers=(*command.wrappers, words[0]))
        if "$" in words[0] or "`" in words[0]:
            self.gaps.append(PROGRAM)
            self.add(command)
        elif words[0] in SHELLS:
            self._shell(command, inside)
        elif inner := runs(words):
            self._runner(command, inner, inside)
        else:
            if words[0] in ("source", ".") and words[1:2] and words[1].startswith("<("):
                self.gaps.append(SCRIPT)
            self.add(command)

    def _shell(self, command: Command, inside: _Context) -> None:
        """A shell: the script that it is given, in its words, on its input or in a file."""
        found = script_of(command.words)
        rest = [word for word in command.words[1:] if not word.startswith(("-", "+"))]
        reads_input = not rest or "-s" in command.words
        text = found[0] if found else inside.text if reads_input else None
        if text is not None:
            self._text(text, command, inside)
            return
        self.add(command)
        if (rest and rest[0].startswith("<(")) or (reads_input and command.fed_by):
            self.gaps.append(SCRIPT)

    def _runner(self, command: Command, inner: Runs, inside: _Context) -> None:
        """A program that runs other commands: itself, if it does more than that, and these."""
        if inner.is_own:
            self.add(command)
        for words in inner.commands:
            redirects = () if inner.is_own else command.redirects
            self.run(Command(words, redirects, fed_by=command.fed_by, text=command.text), inside)
        if inner.script is not None:
            self._text(inner.script, command, inside)

    def _text(self, text: str, command: Command, inside: _Context) -> None:
        """A script that ``command`` runs; what is redirected of it stays with the last of its commands."""
        if _UNKNOWN.fullmatch(text):
            self.gaps.append(SCRIPT)
            self.add(command)
            return
        before = len(self.items)
        with self.scope(stays=command.words[0] == "eval"):
            self.script(text, replace(inside, text=None))
        if command.redirects and len(self.items) > before:
            last = self.items[-1]
            self.items[-1] = replace(last, redirects=(*last.redirects, *command.redirects))

    def learn(self, name: str, value: str) -> None:
        """A variable has a value; one that is not in the line is forgotten."""
        if value and "$" not in value and "`" not in value and len(value) < 4096:
            self.known[name] = value
        else:
            self.known.pop(name, None)

    def add(self, command: Command) -> None:
        """One more command, in the folder that the line has gone to."""
        self.items.append(replace(command, folder=self.known.get("", "")))
        if command.words[:1] in (("cd",), ("pushd",)):
            to = next((word for word in command.words[1:] if not word.startswith("-") or word == "-"), "~")
            self.known[""] = _inside(self.known.get("", ""), to)

    @contextmanager
    def scope(self, *, stays: bool = False) -> Iterator[None]:
        """What is learned inside is forgotten outside, unless it ``stays``."""
        known = dict(self.known)
        yield
        self.known = self.known if stays else known

    def split(self, node: Node, context: _Context) -> list[str]:
        """The words that one argument becomes: several for a variable without quotes around it."""
        text = self.word(node, context)
        return text.split() if node.type in ("simple_expansion", "expansion") and "$" not in text else [text]

    def word(self, node: Node, context: _Context) -> str:
        """The text of a word; the commands inside of it are visited."""
        match node.type:
            case "concatenation" | "command_name":
                return "".join(self.word(child, context) for child in node.children)
            case "string":
                return self._string(node, context)
            case "simple_expansion" | "expansion":
                self.inside(node, context.unfed)
                name = next((text_of(one) for one in node.named_children if one.type == "variable_name"), "")
                is_bare = len(node.named_children) == 1 and text_of(node).strip("${}") == name
                return self.known.get(name, text_of(node)) if is_bare else text_of(node)
            case "command_substitution" | "process_substitution":
                self.visit(node, context.unfed)
                return text_of(node)
            case "ansi_c_string":
                return text_of(node)[2:-1].replace("\\n", "\n").replace("\\t", "\t").replace("\\'", "'")
        self.inside(node, context.unfed)
        return plain(node)

    def _string(self, node: Node, context: _Context) -> str:
        """What stands between double quotes, spaces included, which the grammar keeps in no node of their own."""
        raw, start, parts, at = node.text or b"", node.start_byte, [], 1
        for child in node.named_children:
            if child.type == "string_content":
                continue
            parts.append(unescaped(raw[at : child.start_byte - start].decode("utf-8", "replace")))
            parts.append(self.word(child, context))
            at = child.end_byte - start
        parts.append(unescaped(raw[at:-1].decode("utf-8", "replace")))
        return "".join(parts)


_VISITS: Mapping[str, Callable[[_Reading, Node, _Context], None]] = {
    "command": _Reading.simple,
    "declaration_command": _Reading.declaration,
    "unset_command": _Reading.declaration,
    "redirected_statement": _Reading.redirected,
    "pipeline": _Reading.pipeline,
    "for_statement": _Reading.loop,
    "function_definition": _Reading.function,
    "variable_assignment": _Reading.assignment,
    "subshell": _Reading.apart,
    "command_substitution": _Reading.apart,
    "process_substitution": _Reading.apart,
}

_UNKNOWN = re.compile(r"\s*(?:\$\w+|\$\{[^}]*\}|\$\(.*\)|`[^`]*`)\s*", re.DOTALL)
"""A script that is all in a variable, or the output of a command."""


def _inside(folder: str, to: str) -> str:
    """Where ``cd to`` leads from ``folder``."""
    if to.startswith(("/", "~")):
        return to
    if to == "-" or "$" in to or "`" in to or folder == "?":
        return to if to.startswith(("$HOME", "${HOME}")) else "?"
    return f"{folder}/{to}" if folder else to


def _printed(found: Sequence[Command], context: _Context) -> str | None:
    """What the last command prints, where the line tells that: what is echoed, and a here-document that is shown."""
    if not found or found[-1].redirects:
        return None
    match found[-1].words:
        case ("echo", *rest):
            return " ".join(word for word in rest if word not in ("-e", "-n", "-ne", "-en"))
        case ("printf", *rest):
            return "\n".join(rest).replace("\\n", "\n")
        case ("cat",) | ("cat", "-"):
            return context.text
    return None
