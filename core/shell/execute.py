"""Execute a shell line on paper, with both outcomes of every command, to see what its exit code 0 proves.

A state is what the shell knows at one point: the exit code of the last command (0 or another), options, variables,
functions, the folder. Every way through the line ends in a state; ways that end in equal states are merged. A command
is proven if on every way to exit code 0 it ran, and if it did not fail on any of them.

Invariant: nothing is run. What cannot be followed (``eval "$X"``, an alias, too many ways) proves nothing.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING

from upbeat.core.lazy_dataclass import dataclass, field, replace
from upbeat.core.shell.branches import run_case, run_for, run_if, run_while
from upbeat.core.shell.builtins import BUILTINS, apply_set
from upbeat.core.shell.expand import FAILED, UNKNOWN, Values, expand_text, expand_word, join_path
from upbeat.core.shell.paths import (
    NO_TRACE,
    Frame,
    Invocation,
    Paths,
    Resolver,
    Script,
    State,
    Trace,
    add_all_paths,
    add_path,
    compare_status,
    either,
    mark_run,
    outcomes,
    with_variable,
)
from upbeat.core.shell.syntax import Words, node_text, parse_syntax_tree
from upbeat.core.shell.wrappers import SHELLS, peel_wrapper

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_STEPS = 4000
"""Commands and statements that are followed; with more, nothing is proven."""
MAX_DEPTH = 12
"""Scripts that run scripts, and functions that call functions."""
MAX_PARTS = 6
"""Parts of a pipe."""
MAX_JOBS = 4
"""Background jobs whose exit code ``wait`` can tell."""


@dataclass(frozen=True, slots=True)
class Execution:
    """The commands of a line. ``proven``: exit code 0 proves that they ran, and that they succeeded whenever they ran.

    ``masked`` may have failed although the exit code is 0.
    ``is_followed`` is false if the line could not be parsed or followed; then nothing is proven.
    """

    invocations: tuple[Invocation, ...] = ()
    proven: tuple[Invocation, ...] = ()
    masked: tuple[Invocation, ...] = ()
    is_followed: bool = True


class _TooLong(Exception):
    pass


def execute(line: str, cwd: str = "/repo", root: str = "/repo", resolve: Resolver | None = None) -> Execution:
    """Return the commands of ``line``, run in the folder ``cwd``, and which of them its exit code 0 proves."""
    shell = Shell(root, resolve)
    try:
        ends = shell.run_script(Script(line, cwd), State(cwd), NO_TRACE, None)
    except _TooLong:
        return Execution(tuple(shell.invocations), masked=tuple(shell.invocations), is_followed=False)
    good = {state: trace for state, trace in ends.items() if state.status == "0"}
    is_followed = not any(state.is_opaque for state in ends)
    if not good or any(state.is_opaque for state in good):
        return Execution(tuple(shell.invocations), masked=tuple(shell.invocations), is_followed=is_followed)
    ran = frozenset.intersection(*(trace[0] for trace in good.values()))
    failed = frozenset.union(*(trace[1] for trace in good.values()))
    proven = tuple(one for one in shell.invocations if one in ran and one not in failed)
    masked = tuple(one for one in shell.invocations if one in failed)
    return Execution(tuple(shell.invocations), proven, masked, is_followed)


@dataclass()
class Shell:
    """Executes nodes. Each method takes a state and its trace, and returns the ways that lead on."""

    root: str
    resolve: Resolver | None
    invocations: dict[Invocation, None] = field(default_factory=dict)
    steps: int = 0

    def run_script(self, script: Script, state: State, trace: Trace, frame: Frame | None) -> Paths:
        """Run a whole script; ``exit`` ends it."""
        depth = frame.depth + 1 if frame else 0
        tree = parse_syntax_tree(script.text) if depth <= MAX_DEPTH else None
        if tree is None or tree.has_error:
            return {replace(state, is_opaque=True): trace}
        origin = (*(frame.origin if frame else ()), *([script.name] if script.name else []))
        place = script.place or (frame.place if frame else "")
        inner = Frame(script, depth, True, origin, place)
        return self.sequence(tree.children, {state: trace}, inner)

    def run_scripts(self, scripts: Sequence[Script], state: State, trace: Trace, frame: Frame) -> Paths:
        """Run ``scripts``, each in a shell of its own, until one fails."""
        paths: Paths = {replace(state, status="0"): trace}
        for script in scripts:
            following: Paths = {}
            for before, so_far in paths.items():
                if before.status != "0":
                    add_path(following, before, so_far)
                    continue
                if script.is_sourced:
                    add_all_paths(following, self.run_script(script, before, so_far, frame))
                    continue
                variables = tuple(sorted({**dict(before.variables), **dict(script.env)}.items()))
                start = State(script.cwd, errexit=script.errexit, pipefail=script.pipefail, variables=variables,
                              positional=script.arguments)  # fmt: skip
                for end, after in self.run_script(script, start, so_far, frame).items():
                    status = "0" if script.ignores_failure else end.status
                    opaque = before.is_opaque or end.is_opaque
                    add_path(following, replace(before, status=status, is_opaque=opaque), after)
            paths = following
        return paths

    # Statements

    def sequence(self, nodes: Sequence[Node], paths: Paths, frame: Frame) -> Paths:
        """Run statements one after the other."""
        background = {node.prev_named_sibling for node in nodes if node.type == "&"}
        for node in nodes:
            if not node.is_named or node.type in _IGNORED:
                continue
            if node in background:
                paths = self.each(paths, lambda state, trace: self._in_background(node, state, trace, frame))  # noqa: B023
            else:
                paths = self.each(paths, lambda state, trace: self.node(node, state, trace, frame))  # noqa: B023
        return paths

    def each(self, paths: Paths, run: Callable[[State, Trace], Paths]) -> Paths:
        """Run on every way that has not been left."""
        result: Paths = {}
        for state, trace in paths.items():
            add_all_paths(result, {state: trace} if state.control else run(state, trace))
        return result

    def node(self, node: Node, state: State, trace: Trace, frame: Frame) -> Paths:
        """Run one statement."""
        self.steps += 1
        if self.steps > MAX_STEPS:
            raise _TooLong
        handler = _HANDLERS.get(node.type)
        if handler is None:
            return self.checked(either(state, trace), frame)
        return handler(self, node, state, trace, frame)

    def checked(self, paths: Paths, frame: Frame) -> Paths:
        """Leave the shell where a command failed under ``errexit``."""
        if not frame.is_checked:
            return paths
        result: Paths = {}
        for state, trace in paths.items():
            leaves = state.errexit and state.status != "0" and not state.control
            add_path(result, replace(state, control="exit") if leaves else state, trace)
        return result

    def _in_background(self, node: Node, state: State, trace: Trace, frame: Frame) -> Paths:
        ends = self.node(node, state, trace, frame.unchecked())
        if len(state.jobs) < MAX_JOBS:
            result: Paths = {}
            for end, after in ends.items():
                add_path(result, replace(state, status="0", jobs=(*state.jobs, end.status)), after)
            return result
        failed = frozenset.union(trace[1], *(after[1] for after in ends.values()))
        return {replace(state, status="0", jobs=(*state.jobs, UNKNOWN)): (trace[0], failed)}

    def _list(self, node: Node, state: State, trace: Trace, frame: Frame) -> Paths:
        left, right = node.named_children[0], node.named_children[-1]
        operator = next(child.type for child in node.children if child.type in ("&&", "||"))
        return self._chain(
            self.node(left, state, trace, frame.unchecked()),
            operator,
            lambda at, so_far: self.node(right, at, so_far, frame),
        )

    def _chain(self, paths: Paths, operator: str, run: Callable[[State, Trace], Paths]) -> Paths:
        def following(state: State, trace: Trace) -> Paths:
            return run(state, trace) if (state.status == "0") == (operator == "&&") else {state: trace}

        return self.each(paths, following)

    def _pipeline(self, node: Node, state: State, trace: Trace, frame: Frame) -> Paths:
        return self.pipe([child for child in node.children if child.is_named], state, trace, frame)

    def pipe(self, parts: Sequence[Node], state: State, trace: Trace, frame: Frame) -> Paths:
        """Run a pipe. The parser reads ``a && b > f | c`` as ``{ a && b > f; } | c``; the shell does not."""
        first, rest = parts[0], parts[1:]
        body = first
        while body.type == "redirected_statement" and (inner := body.child_by_field_name("body")):
            body = inner
        if body.type == "list" and rest:
            left, right = body.named_children[0], body.named_children[-1]
            operator = next(child.type for child in body.children if child.type in ("&&", "||"))
            before = self.node(left, state, trace, frame.unchecked())
            return self._chain(before, operator, lambda at, so_far: self.pipe((right, *rest), at, so_far, frame))
        is_negated = body.type == "negated_command"
        if is_negated:
            parts = (body.named_children[-1], *rest)
        if len(parts) > MAX_PARTS or any(map(_begins_negated, parts)):
            return {replace(state, is_opaque=True): trace}
        ends = [self.ends_of_subshell(part, state, frame) for part in parts]
        result: Paths = {}
        for combination in product(*(end.items() for end in ends)):
            statuses = tuple(status for (status, _opaque), _ in combination)
            wrong = next((status for status in reversed(statuses) if status != "0"), "0")
            status = wrong if state.pipefail else statuses[-1]
            if is_negated:
                status = FAILED if status == "0" else "0"
            ran = trace[0].union(*(end[0] for _, end in combination))
            failed = trace[1].union(*(end[1] for _, end in combination))
            opaque = state.is_opaque or any(opaque for (_, opaque), _ in combination)
            add_path(result, replace(state, status=status, pipe=statuses, is_opaque=opaque), (ran, failed))
        return result if is_negated else self.checked(result, frame)

    def ends_of_subshell(self, node: Node, state: State, frame: Frame) -> dict[tuple[str, bool], Trace]:
        """Return how ``node`` may end in a shell of its own: the exit code and whether it could be followed."""
        ends: dict[tuple[str, bool], Trace] = {}
        for end, trace in self.node(node, state, NO_TRACE, frame).items():
            key = (end.status, end.is_opaque)
            known = ends.get(key)
            ends[key] = (known[0] & trace[0], known[1] | trace[1]) if known else trace
        return ends

    def _subshell(self, node: Node, state: State, trace: Trace, frame: Frame) -> Paths:
        result: Paths = {}
        for end, after in self.sequence(node.children[1:-1], {state: trace}, frame).items():
            add_path(result, replace(state, status=end.status, is_opaque=end.is_opaque), after)
        return self.checked(result, frame)

    def _negated(self, node: Node, state: State, trace: Trace, frame: Frame) -> Paths:
        result: Paths = {}
        for end, after in self.node(node.named_children[-1], state, trace, frame.unchecked()).items():
            add_path(
                result, replace(end, status=FAILED if end.status == "0" else "0") if not end.control else end, after
            )
        return result

    def _redirected(self, node: Node, state: State, trace: Trace, frame: Frame) -> Paths:
        """A here-document may contain the rest of a pipe."""
        body = node.child_by_field_name("body")
        if body is None:
            return {state: trace}
        for redirect in node.children_by_field_name("redirect"):
            if redirect.type != "heredoc_redirect":
                continue
            inner = [child for child in redirect.named_children if child.type not in _HEREDOC]
            if [child.type for child in inner] == ["pipeline"]:
                return self.pipe((body, *inner[0].named_children), state, trace, frame)
            if inner:
                return {replace(state, is_opaque=True): trace}
        return self.node(body, state, trace, frame)

    def _braces(self, node: Node, state: State, trace: Trace, frame: Frame) -> Paths:
        if node.children[0].type != "{":
            return self.checked(either(state, trace), frame)
        return self.sequence(node.children[1:-1], {state: trace}, frame)

    def _function(self, node: Node, state: State, trace: Trace, _frame: Frame) -> Paths:
        name, body = node_text(node.child_by_field_name("name") or node), node.child_by_field_name("body")
        if body is None:
            return {replace(state, is_opaque=True): trace}
        functions = {**dict(state.functions), name: body}
        return {replace(state, status="0", functions=tuple(functions.items())): trace}

    # Commands

    def values(self, state: State, frame: Frame) -> Values:
        """Return what words are expanded with."""
        script = frame.script.path or frame.script.name
        return Values(dict(state.variables), state.cwd, self.root, state.positional, script, state.status, state.pipe,
                      frame.depth > 0, state.jobs)  # fmt: skip

    def _assignment(self, node: Node, state: State, trace: Trace, frame: Frame) -> Paths:
        """``A=1``, ``export A=1``: a value that is the output of a command has that command's exit code."""
        assigned = [node] if node.type == "variable_assignment" else [
            child for child in node.named_children if child.type == "variable_assignment"
        ]  # fmt: skip
        paths: Paths = {state: trace}
        has_command = False
        for one in assigned:
            value = one.child_by_field_name("value")
            inner = value
            while inner is not None and inner.type == "string" and len(inner.named_children) == 1:
                inner = inner.named_children[0]
            if inner is not None and inner.type == "command_substitution" and node.type != "declaration_command":
                has_command = True
                paths = self.each(paths, lambda at, so_far: self._substitution(inner, at, so_far, frame))  # noqa: B023
            paths = {self._assigned(at, one, state, frame): so_far for at, so_far in paths.items()}
        if not has_command:
            paths = {replace(at, status="0"): so_far for at, so_far in paths.items()}
        return self.checked(paths, frame)

    def _assigned(self, at: State, node: Node, before: State, frame: Frame) -> State:
        name, value = node_text(node.named_children[0]), node.child_by_field_name("value")
        text = expand_text(value, self.values(before, frame)) if value is not None else ""
        return with_variable(at, name, UNKNOWN if "+=" in node_text(node)[: len(name) + 2] else text)

    def _substitution(self, node: Node, state: State, trace: Trace, frame: Frame) -> Paths:
        result: Paths = {}
        for end, after in self.sequence(node.children[1:-1], {state: trace}, frame.unchecked()).items():
            add_path(result, replace(state, status=end.status, is_opaque=end.is_opaque), after)
        return result

    def _test(self, node: Node, state: State, trace: Trace, frame: Frame) -> Paths:
        """``[ … ]``: known where its words are, or where an exit code is compared with 0."""
        inner = node.named_children[0] if node.named_children else None
        words: Words = ()
        if inner is not None and inner.type in ("binary_expression", "unary_expression"):
            values = replace(self.values(state, frame), is_test=True)
            words = tuple(
                expand_text(child, values) if child.is_named and child.type != "test_operator" else node_text(child)
                for child in inner.children
            )
        return self.checked(outcomes(state, trace, compare_status(words)), frame)

    def _command(self, node: Node, state: State, trace: Trace, frame: Frame) -> Paths:
        values = self.values(state, frame)
        assigned = [child for child in node.children if child.type == "variable_assignment"]
        env = {node_text(one.named_children[0]): expand_text(one.named_children[-1], values)
               if len(one.named_children) > 1 else "" for one in assigned}  # fmt: skip
        written = [child for number, child in enumerate(node.children)
                   if child.type == "command_name" or node.field_name_for_child(number) == "argument"]  # fmt: skip
        words = tuple(word for child in written for word in expand_word(
            child.children[0] if child.type == "command_name" and child.children else child, values))  # fmt: skip
        is_shell = posixpath.basename(words[0]) in SHELLS if words else False
        if is_shell and all(word.startswith("-") for word in words[1:]) and (text := _input_text(node)) is not None:
            words = (*words, "-c", text)
        return self.run_words(words, env, state, trace, frame)

    def run_words(
        self,
        words: Words,
        env: Mapping[str, str],
        state: State,
        trace: Trace,
        frame: Frame,
        outer: tuple[Words, Words] = ((), ()),
    ) -> Paths:
        """Run a command of which the words are known; ``outer`` are its wrappers, and its words with them."""
        wrappers, source = outer[0], outer[1] or words
        if not words or words == ("exec",):
            return {replace(state, status="0"): trace}
        program = words[0]
        if program in _RESERVED:  # the parser took the grammar of the shell for a program
            return {replace(state, is_opaque=True): trace}
        body = dict(state.functions).get(program)
        if body is not None and not wrappers:
            return self._call(body, words, state, trace, frame)
        builtin = BUILTINS.get(program)
        if builtin and (not wrappers or wrappers[-1] in ("command", "builtin", "exec", "time")):
            note = self._note(words, env, state, frame, (wrappers, source))
            ends = builtin(self, words, state, mark_run(trace, note), frame)
            if program not in ("eval", "source", "."):
                ends = {replace(end, pipe=(end.status,)): after for end, after in ends.items()}
            return self.checked(ends, frame)
        peeled = peel_wrapper(words)
        if peeled is not None and (peeled.words or peeled.env):
            at = replace(state, cwd=join_path(state.cwd, peeled.cwd)) if peeled.cwd else state
            inner = self.run_words(
                peeled.words, {**env, **dict(peeled.env)}, at, trace, frame, ((*wrappers, program), source)
            )
            ends = {replace(end, cwd=state.cwd): after for end, after in inner.items()} if peeled.cwd else inner
            if program == "exec":
                ends = {replace(end, control="exit"): after for end, after in ends.items()}
            return ends
        return self._program(words, env, state, trace, frame, (wrappers, source))

    def _program(
        self, words: Words, env: Mapping[str, str], state: State, trace: Trace, frame: Frame, outer: tuple[Words, Words]
    ) -> Paths:
        note = self._note(words, env, state, frame, outer)
        scripts: Sequence[Script] | None = self._shell_scripts(words, env, state)
        if scripts is None and self.resolve:
            scripts = self.resolve(note)
        if scripts is None:
            succeeded = (replace(state, status="0", pipe=("0",)), mark_run(trace, note))
            failed = (replace(state, status=FAILED, pipe=(FAILED,)), (trace[0], trace[1] | {note}))
            return self.checked(dict([succeeded, failed]), frame)
        inner = replace(state, variables=tuple(sorted({**dict(state.variables), **env}.items())))
        ends: Paths = {}
        for end, after in self.run_scripts(scripts, inner, trace, frame).items():
            kept = end if scripts and scripts[0].is_sourced else replace(end, variables=state.variables)
            if kept.status == "0":
                add_path(ends, replace(kept, pipe=("0",)), mark_run(after, note))
            else:
                add_path(ends, replace(kept, pipe=(FAILED,)), (after[0], after[1] | {note}))
        return self.checked(ends, frame)

    def _note(
        self, words: Words, env: Mapping[str, str], state: State, frame: Frame, outer: tuple[Words, Words]
    ) -> Invocation:
        known = {name: value for name, value in state.variables if value not in ("0", FAILED)}
        variables = tuple(sorted({**known, **env}.items()))
        note = Invocation(words, outer[1], state.cwd, variables, outer[0], frame.origin, frame.place)
        self.invocations.setdefault(note)
        return note

    def _call(self, body: Node, words: Words, state: State, trace: Trace, frame: Frame) -> Paths:
        if frame.depth > MAX_DEPTH:
            raise _TooLong
        inner = replace(frame, depth=frame.depth + 1)
        result: Paths = {}
        for end, after in self.node(body, replace(state, positional=words[1:]), trace, inner).items():
            control = "" if end.control == "return" else end.control
            add_path(result, replace(end, control=control, positional=state.positional), after)
        return self.checked(result, frame)

    def _shell_scripts(self, words: Words, env: Mapping[str, str], state: State) -> tuple[Script, ...] | None:
        """Return the script of ``bash -c SCRIPT``."""
        if posixpath.basename(words[0]) not in SHELLS:
            return None
        at, options = 1, State("")
        while at < len(words) and words[at].startswith(("-", "+")) and words[at] != "--":
            if re.fullmatch(r"-[a-z]*n[a-z]*", words[at]):
                return ()  # only checks the syntax
            options = apply_set(options, words[at : at + 2])
            if "c" in words[at][1:] and not words[at].startswith("--"):
                rest = [word for word in words[at + 1 :] if word not in ("pipefail", "errexit", "nounset", "--")]
                while rest and rest[0].startswith("-"):
                    options = apply_set(options, tuple(rest[:1]))
                    del rest[0]
                options = apply_set(options, ("-o", "pipefail")) if "pipefail" in words else options
                text = rest[0] if rest else UNKNOWN
                return (
                    Script(text, state.cwd, "", tuple(rest[2:]), tuple(env.items()), options.errexit, options.pipefail),
                )
            at += 2 if words[at].endswith("o") else 1
        return None


def _input_text(node: Node) -> str | None:
    """Return what a here-document or here-string of a command says; None if it has none."""
    outer = node.parent if node.parent and node.parent.type == "redirected_statement" else node
    for redirect in (*node.children_by_field_name("redirect"), *outer.children_by_field_name("redirect")):
        parts = {child.type: child for child in redirect.named_children}
        if redirect.type == "heredoc_redirect" and "heredoc_body" in parts:
            text, is_raw = node_text(parts["heredoc_body"]), node_text(parts["heredoc_start"])[:1] in "'\"\\"
            return text if is_raw or not set("$`") & set(text) else UNKNOWN
        if redirect.type == "herestring_redirect":
            return node_text(parts["raw_string"])[1:-1] if "raw_string" in parts else UNKNOWN
    return None


def _begins_negated(part: Node) -> bool:
    """Return whether a part of a pipe begins with ``!``, which the shell applies to the whole pipe."""
    while part.type in ("redirected_statement", "pipeline", "list") and part.named_children:
        part = part.named_children[0]
    return part.type == "negated_command"


_RESERVED = frozenset(
    "{ } ! if then else elif fi for while until do done case esac select function coproc [[ ]]".split()  # noqa: SIM905
)
_IGNORED = frozenset({"comment", "heredoc_body", "heredoc_end", "heredoc_start"})
_HEREDOC = _IGNORED | {"file_redirect", "herestring_redirect", "file_descriptor"}


_Handler = Callable[[Shell, "Node", State, Trace, Frame], Paths]
_HANDLERS: Mapping[str, _Handler] = {
    "command": Shell._command,
    "list": Shell._list,
    "pipeline": Shell._pipeline,
    "negated_command": Shell._negated,
    "redirected_statement": Shell._redirected,
    "subshell": Shell._subshell,
    "compound_statement": Shell._braces,
    "do_group": Shell._braces,
    "if_statement": run_if,
    "while_statement": run_while,
    "for_statement": run_for,
    "c_style_for_statement": run_for,
    "case_statement": run_case,
    "function_definition": Shell._function,
    "variable_assignment": Shell._assignment,
    "variable_assignments": Shell._assignment,
    "declaration_command": Shell._assignment,
    "test_command": Shell._test,
}
