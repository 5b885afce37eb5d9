"""Find every simple command that a shell line may run, as far as the line shows.

Invariant: nothing is left out silently. Quoted text is not a command; text that is passed to a shell (``bash -c``,
``eval``, a here-document, ``echo … | sh``) is. What cannot be determined from the line is a gap.

Commands are in the order in which they start, those of both branches of an ``if`` in sequence, and those of a loop once
for each word. Variables with a known value are expanded; others stay as written. A function runs where it is called.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING

from upbeat.core import lazy_re as re
from upbeat.core.lazy_dataclass import dataclass, field, replace
from upbeat.core.shell.known_values import UNKNOWN_VALUE, KnownValues
from upbeat.core.shell.outputs import decode_escapes, known_output
from upbeat.core.shell.parameters import expand_parameter
from upbeat.core.shell.simple_command import Redirect, SimpleCommand
from upbeat.core.shell.syntax import Words, node_text, parse_syntax_tree, unescape_quoted, unquoted_text
from upbeat.core.shell.wrappers import (
    MAX_WRAPPERS,
    SHELLS,
    NestedCommands,
    find_nested_commands,
    script_of,
    split_wrappers,
)

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_COMMANDS = 5000
MAX_DEPTH = 100
"""Maximum nesting of statements, including those of nested scripts."""
MAX_SCRIPT_DEPTH = 6
"""Maximum nesting of scripts."""
MAX_LOOP_WORDS = 8
"""Loops with more words are not unrolled: the variable stays as written."""

SYNTAX_GAP = "it is no valid shell"
SIZE_GAP = "it is too long or too deep"
PROGRAM_GAP = "a program whose name is not in the line"
SCRIPT_GAP = "a script that is not in the line"


@dataclass(frozen=True, slots=True)
class ParsedCommands:
    """The commands of a line. ``gaps`` says what could not be determined: empty if ``items`` is complete."""

    items: tuple[SimpleCommand, ...] = ()
    gaps: tuple[str, ...] = ()
    written_files: Mapping[str, str] = field(default_factory=dict)
    """The texts that the line writes to files, by path as written."""

    @property
    def is_complete(self) -> bool:
        """Whether ``items`` is everything that the line may run."""
        return not self.gaps


@lru_cache(maxsize=32)
def parse_commands(line: str, positional: Words | None = None) -> ParsedCommands:
    """Return what ``line`` may run; ``positional`` are the arguments of a script. Any text is allowed; never raises."""
    visitor = _CommandVisitor(positional=positional)
    try:
        visitor.visit_script(line, _ParseContext())
        visitor.visit_named_functions()
    except RecursionError:  # words in words in words
        visitor.gaps.append(SIZE_GAP)
    return ParsedCommands(tuple(visitor.items), tuple(dict.fromkeys(visitor.gaps)), visitor.written_files)


@dataclass(frozen=True, slots=True)
class _ParseContext:
    """The context of a statement. ``stdin_text`` is its input, if the line contains it."""

    depth: int = 0
    script_depth: int = 0
    wrappers: Words = ()
    piped_from: Words = ()
    stdin_text: str | None = None

    @property
    def without_input(self) -> _ParseContext:
        """Return the same context without a pipe."""
        return replace(self, piped_from=(), stdin_text=None) if self.piped_from or self.stdin_text is not None else self


@dataclass(slots=True)
class _CommandVisitor(KnownValues):
    """The results so far, and what is known of variables.

    ``running`` are the functions and aliases whose body is being visited; ``uncalled`` have not been called.
    """

    items: list[SimpleCommand] = field(default_factory=list)
    gaps: list[str] = field(default_factory=list)
    functions: dict[str, Node] = field(default_factory=dict)
    uncalled: set[str] = field(default_factory=set)
    running: set[str] = field(default_factory=set)

    def visit_script(self, text: str, context: _ParseContext) -> None:
        """Visit a script."""
        root = parse_syntax_tree(text) if context.script_depth <= MAX_SCRIPT_DEPTH else None
        if root is None:
            self.gaps.append(SIZE_GAP)
            return
        if root.has_error:
            self.gaps.append(SYNTAX_GAP)
        self.visit(root, replace(context, script_depth=context.script_depth + 1))

    def visit(self, node: Node, context: _ParseContext) -> None:
        """Visit ``node``."""
        if context.depth > MAX_DEPTH or len(self.items) >= MAX_COMMANDS:
            self.gaps.append(SIZE_GAP)
            return
        _VISITORS.get(node.type, _CommandVisitor.visit_children)(self, node, replace(context, depth=context.depth + 1))

    def visit_children(self, node: Node, context: _ParseContext) -> None:
        """Visit the children of ``node``; a pipe into several statements feeds each of them."""
        for child in node.named_children:
            self.visit(child, context)

    def visit_subshell(self, node: Node, context: _ParseContext) -> None:
        """Visit a subshell: its variables are its own."""
        with self.variable_scope():
            self.visit_children(node, context if node.type == "subshell" else context.without_input)

    def visit_function(self, node: Node, _context: _ParseContext) -> None:
        """Remember a function: its body is visited where it is called."""
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if name and body:
            self.functions[node_text(name)] = body
            self.uncalled.add(node_text(name))

    def visit_named_functions(self) -> None:
        """Visit functions that are named but not called: ``trap``, ``xargs`` and ``export -f`` may run them."""
        named = {word for item in self.items if item.words[:1] not in _DECLARING for word in item.words[1:]}
        for name in sorted(self.uncalled & {part for word in named for part in word.split()}):
            self.visit(self.functions[name], _ParseContext())

    def call_function(self, command: SimpleCommand, inside: _ParseContext) -> None:
        """Visit the body of the function that ``command`` calls, with its arguments."""
        name = command.words[0]
        self.uncalled.discard(name)
        if name in self.running:
            return
        outer, self.positional = self.positional, command.words[1:]
        self.running.add(name)
        self.visit(self.functions[name], inside)
        self.running.discard(name)
        self.positional = outer

    def visit_pipeline(self, node: Node, context: _ParseContext) -> None:
        for part in node.named_children:
            before = len(self.items)
            self.visit(part, context)
            added = self.items[before:]
            piped_from = added[-1].words if added else ()
            context = replace(context, piped_from=piped_from, stdin_text=_known_output(added))

    def visit_redirected(self, node: Node, context: _ParseContext) -> None:
        """Visit a statement with redirections, which apply to its last command."""
        redirects: list[Redirect] = []
        rest: list[Node] = []
        for redirect in node.children_by_field_name("redirect"):
            context = self._visit_redirect(redirect, context, redirects, rest)
        body = node.child_by_field_name("body")
        before = len(self.items)
        if body:
            self.visit(body, context)
        if redirects and len(self.items) == before:
            self.append_command(SimpleCommand((), wrappers=context.wrappers))
        if redirects:
            last = self.items[-1]
            self.items[-1] = replace(last, redirects=(*last.redirects, *redirects))
            self.write_files(self.items[-1], redirects)
        added = self.items[before:]
        piped = replace(context, piped_from=added[-1].words if added else (), stdin_text=_known_output(added))
        for later in rest:
            self.visit(later, piped if later.type == "pipeline" else context.without_input)

    def _visit_redirect(
        self, node: Node, context: _ParseContext, redirects: list[Redirect], later_nodes: list[Node]
    ) -> _ParseContext:
        """Parse one redirection, and for a here-document the rest of its line."""
        match node.type:
            case "file_redirect":
                redirects.append(found := self._file_redirect(node, context))
                if found.operator == "<":
                    known = self.substituted.get(found.target, self.written_files.get(found.target))
                    context = replace(context, stdin_text=known)
            case "herestring_redirect":
                words = [self.word_text(child, context) for child in node.named_children]
                context = replace(context, stdin_text=" ".join(words))
            case "heredoc_redirect":
                for child in node.named_children:
                    if child.type == "file_redirect":
                        redirects.append(self._file_redirect(child, context))
                    elif child.type == "heredoc_body":
                        self.visit_children(child, context.without_input)
                        context = replace(context, stdin_text=node_text(child))
                    elif child.type not in ("heredoc_start", "heredoc_end", "file_descriptor"):
                        later_nodes.append(child)
        return context

    def _file_redirect(self, node: Node, context: _ParseContext) -> Redirect:
        targets = [self.word_text(child, context) for child in node.children_by_field_name("destination")]
        descriptor = node.child_by_field_name("descriptor")
        operator = next((child.type for child in node.children if not child.is_named), "")
        return Redirect(operator, targets[0] if targets else "", node_text(descriptor) if descriptor else "")

    def visit_loop(self, node: Node, context: _ParseContext) -> None:
        """Visit ``for NAME in WORDS``: the body once for each word."""
        variable, body = node.child_by_field_name("variable"), node.child_by_field_name("body")
        name = node_text(variable) if variable else ""
        values = [word for child in node.children_by_field_name("value") for word in self.split_words(child, context)]
        if body is None:
            return
        for value in values if 0 < len(values) <= MAX_LOOP_WORDS else [UNKNOWN_VALUE]:
            self.set_variable(name, value)
            self.visit(body, context.without_input)
        self.variables.pop(name, None)

    def visit_assignment(self, node: Node, context: _ParseContext) -> None:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        is_plain = any(child.type == "=" for child in node.children)
        if name and value and value.type == "array":
            words = [word for child in value.named_children for word in self.split_words(child, context)]
            self.arrays[node_text(name)] = words if is_plain else [*self.arrays.get(node_text(name), ()), *words]
        elif name:
            text = self.word_text(value, context) if value else ""
            before = "" if is_plain else self.variables.get(node_text(name), UNKNOWN_VALUE)
            self.set_variable(node_text(name), before + text)

    def visit_declaration(self, node: Node, context: _ParseContext) -> None:
        """Visit ``export A=1`` and similar declarations, which the grammar does not call commands."""
        words: list[str] = []
        for child in node.children:
            if child.type == "variable_assignment":
                self.visit_assignment(child, context.without_input)
            words.append(node_text(child) if child.type == "variable_assignment" else self.word_text(child, context))
        self.append_command(SimpleCommand(tuple(words), wrappers=context.wrappers))
        self.assign_builtin(self.items[-1])

    def visit_simple_command(self, node: Node, context: _ParseContext) -> None:
        """Visit a simple command: its words, the commands inside them, and what it runs."""
        words: list[str] = []
        assignments: list[str] = []
        redirects: list[Redirect] = []
        for number, child in enumerate(node.children):
            if child.type == "variable_assignment":
                self.visit_children(child, context.without_input)
                assignments.append(node_text(child))
            elif child.type.endswith("_redirect"):
                context = self._visit_redirect(child, context, redirects, [])
            elif child.type == "command_name":
                words += [word for part in child.children for word in self.split_words(part, context)]
            elif node.field_name_for_child(number) == "argument":
                words += self.split_words(child, context)
        command = SimpleCommand(
            tuple(words), tuple(redirects), tuple(assignments), context.wrappers, context.piped_from
        )
        command = replace(command, stdin_text=context.stdin_text or "")
        self.expand_command(command, context)

    def expand_command(self, command: SimpleCommand, context: _ParseContext) -> None:
        """Add ``command``, or the commands that it runs instead."""
        words, wrappers = split_wrappers(command.words)
        if len(wrappers) >= MAX_WRAPPERS or context.depth > MAX_DEPTH:
            self.gaps.append(SIZE_GAP)
            return
        path = command.words[-len(words)] if words else ""
        path = path if "/" in path else ""
        command = replace(command, words=words, wrappers=(*context.wrappers, *wrappers), program_path=path)
        if not words:
            if command.assignments or command.redirects or wrappers:
                self.append_command(replace(command, words=wrappers[-1:]))
            return
        inside = replace(context, depth=context.depth + 1, wrappers=(*command.wrappers, words[0]))
        if " " in words[0] and wrappers:  # env -S 'PROGRAM ARGUMENTS'
            self._expand_script(" ".join(words), command, inside)
        elif "$" in words[0] or "`" in words[0]:
            self.gaps.append(PROGRAM_GAP)
            self.append_command(command)
        elif words[0] in self.functions:
            self.append_command(command)
            self.call_function(command, inside)
        elif words[0] in self.aliases and words[0] not in self.running:
            self.append_command(command)
            self.running.add(words[0])
            self.visit_script(" ".join((self.aliases[words[0]], *map(shlex.quote, words[1:]))), inside)
            self.running.discard(words[0])
        elif words[0] in SHELLS:
            self._expand_shell(command, inside)
        elif inner := find_nested_commands(words):
            self._expand_runner(command, inner, inside)
        elif words[0] in ("source", ".") and words[1:2] and words[1].startswith(("<(", "/dev/stdin")):
            text = self.substituted.get(words[1]) if words[1][0] == "<" else command.stdin_text
            if text:
                self._expand_script(text, command, inside)
            else:
                self.gaps.append(SCRIPT_GAP)
                self.append_command(command)
        else:
            self.append_command(command)
            self.assign_builtin(command)
            if words[0] == "tee":
                self.write_files(command, ())

    def _expand_shell(self, command: SimpleCommand, inside: _ParseContext) -> None:
        """Visit a shell: its script is in an argument, on its input or in a file."""
        script = script_of(command.words)
        rest = [word for word in command.words[1:] if not word.startswith(("-", "+"))]
        reads_input = not rest or "-s" in command.words or rest[0] in ("-", "/dev/stdin")
        text = script[0] if script else inside.stdin_text if reads_input else self.substituted.get(rest[0])
        if text is not None:
            arguments = rest[rest.index(text) + 2 :] if script and text in rest else ()
            outer, self.positional = self.positional, tuple(arguments) or self.positional
            with self.variable_scope():
                for name, _, value in (word.partition("=") for word in command.assignments):
                    self.set_variable(name, value)
                self._expand_script(text, command, inside)
            self.positional = outer
            return
        self.append_command(command)
        if (rest and rest[0].startswith("<(")) or (reads_input and command.piped_from):
            self.gaps.append(SCRIPT_GAP)

    def _expand_runner(self, command: SimpleCommand, nested: NestedCommands, inside: _ParseContext) -> None:
        """Visit a program that runs other commands, and the program itself if it does more than that."""
        if nested.has_own_effect:
            self.append_command(command)
        for words in nested.commands:
            redirects = () if nested.has_own_effect else command.redirects
            self.expand_command(
                SimpleCommand(words, redirects, piped_from=command.piped_from, stdin_text=command.stdin_text), inside
            )
        if nested.script is not None:
            self._expand_script(nested.script, command, inside)

    def _expand_script(self, text: str, command: SimpleCommand, inside: _ParseContext) -> None:
        """Visit a script that ``command`` runs; its redirections apply to the last command of the script."""
        if _DYNAMIC_SCRIPT.fullmatch(text):
            self.gaps.append(SCRIPT_GAP)
            self.append_command(command)
            return
        before = len(self.items)
        with self.variable_scope(is_exported=command.words[0] in ("eval", "source", ".")):
            keeps_input = command.words[0] == "ssh"
            self.visit_script(text, inside if keeps_input else replace(inside, stdin_text=None))
        if command.redirects and len(self.items) > before:
            last = self.items[-1]
            self.items[-1] = replace(last, redirects=(*last.redirects, *command.redirects))

    def append_command(self, command: SimpleCommand) -> None:
        """Add a command in the current folder."""
        self.items.append(replace(command, working_dir=self.variables.get("", "")))
        if command.words[:1] in (("cd",), ("pushd",)):
            to = next((word for word in command.words[1:] if not word.startswith("-") or word == "-"), "~")
            self.variables[""] = _change_dir(self.variables.get("", ""), to)

    @contextmanager
    def variable_scope(self, *, is_exported: bool = False) -> Iterator[None]:
        """Restore the variables afterwards unless it ``stays``."""
        known = dict(self.variables)
        yield
        self.variables = self.variables if is_exported else known

    def split_words(self, node: Node, context: _ParseContext) -> list[str]:
        """Return the words of one argument: several for an unquoted variable and for all elements of an array."""
        source = node_text(node)
        if several := _ALL_ELEMENTS.fullmatch(source):
            elements = self.positional if several[1] is None else self.arrays.get(several[1])
            if elements is not None:
                return list(elements)
        text = self.word_text(node, context)
        if node.type in ("simple_expansion", "expansion", "command_substitution") and text != source:
            return text.split(self.variables.get("IFS") or None)
        return [text]

    def word_text(self, node: Node, context: _ParseContext) -> str:
        """Return the text of a word, and visit the commands inside it."""
        match node.type:
            case "concatenation" | "command_name":
                return "".join(self.word_text(child, context) for child in node.children)
            case "string":
                return self._quoted_text(node, context)
            case "simple_expansion" | "expansion":
                self.visit_children(node, context.without_input)
                expanded = expand_parameter(node_text(node), self.known_variables())
                return node_text(node) if expanded is None else expanded
            case "command_substitution" | "process_substitution":
                before = len(self.items)
                self.visit(node, context.without_input)
                output = _known_output(self.items[before:])
                if output is None or node.type == "command_substitution":
                    return node_text(node) if output is None else output.rstrip("\n")
                self.substituted[node_text(node)] = output
                return node_text(node)
            case "ansi_c_string":
                return decode_escapes(node_text(node)[2:-1])
        self.visit_children(node, context.without_input)
        return unquoted_text(node)

    def _quoted_text(self, node: Node, context: _ParseContext) -> str:
        """Return the content of double quotes, including spaces, which the grammar keeps in no node."""
        raw, start, parts, at = node.text or b"", node.start_byte, [], 1
        for child in node.named_children:
            if child.type == "string_content":
                continue
            parts.append(unescape_quoted(raw[at : child.start_byte - start].decode("utf-8", "replace")))
            parts.append(self.word_text(child, context))
            at = child.end_byte - start
        parts.append(unescape_quoted(raw[at:-1].decode("utf-8", "replace")))
        return "".join(parts)


_VISITORS: Mapping[str, Callable[[_CommandVisitor, Node, _ParseContext], None]] = {
    "command": _CommandVisitor.visit_simple_command,
    "declaration_command": _CommandVisitor.visit_declaration,
    "unset_command": _CommandVisitor.visit_declaration,
    "redirected_statement": _CommandVisitor.visit_redirected,
    "pipeline": _CommandVisitor.visit_pipeline,
    "for_statement": _CommandVisitor.visit_loop,
    "function_definition": _CommandVisitor.visit_function,
    "variable_assignment": _CommandVisitor.visit_assignment,
    "subshell": _CommandVisitor.visit_subshell,
    "command_substitution": _CommandVisitor.visit_subshell,
    "process_substitution": _CommandVisitor.visit_subshell,
}

_ALL_ELEMENTS = re.compile(r'"?\$(?:\{(?:(\w+)\[[@*]\]|[@*])\}|[@*])"?')
"""Expands to one word for each element: ``"$@"``, ``"${NAME[@]}"``."""
_DECLARING = (("declare",), ("typeset",), ("unset",), ("type",), ("local",), ("echo",), ("printf",), ("alias",))
_DYNAMIC_SCRIPT = re.compile(r"\s*(?:\$\w+|\$\{[^}]*\}|\$\(.*\)|`[^`]*`)\s*", re.DOTALL)
"""A script that is entirely in a variable or the output of a command."""


def _change_dir(folder: str, target: str) -> str:
    """Return the folder after ``cd to`` in ``folder``."""
    if target.startswith(("/", "~")):
        return target
    if target == "-" or "$" in target or "`" in target or folder == "?":
        return target if target.startswith(("$HOME", "${HOME}")) else "?"
    return f"{folder}/{target}" if folder else target


def _known_output(printed_by: Sequence[SimpleCommand]) -> str | None:
    """Return the output of the last command if the line contains it: echoed text or a here-document."""
    if not printed_by or printed_by[-1].redirects:
        return None
    last = printed_by[-1]
    if last.words == ("pwd",):
        return last.working_dir if last.working_dir.startswith(("/", "~")) else f"$PWD/{last.working_dir}".rstrip("/")
    return known_output(last.words, last.stdin_text or None)
