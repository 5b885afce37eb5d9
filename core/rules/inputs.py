"""The inputs of rules for one event, read once. Invariant: what could not be read is reported as a gap."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from upbeat.core.contract.event import (
    FILE_CHANGING_KINDS,
    Call,
    Event,
    PromptSubmitted,
    SubagentEnding,
    SubagentRequested,
    SubagentReturned,
    ToolFinished,
    ToolKind,
    TurnEnding,
)
from upbeat.core.rules.pattern import MAX_TEXT_BYTES
from upbeat.core.rules.rule import MatchTarget
from upbeat.core.shell import ParsedCommands, parse_commands
from upbeat.core.shell.commands import SIZE_GAP, SYNTAX_GAP
from upbeat.core.shell.touched_paths import touched_paths


@dataclass(frozen=True, slots=True)
class TextInputs:
    """UTF-8 texts to match patterns against, and what is missing."""

    texts: tuple[bytes, ...] = ()
    gap: str = ""


@dataclass(frozen=True, slots=True)
class PathInputs:
    """Paths of a call to match globs against, and what is missing."""

    paths: tuple[str, ...] = ()
    gap: str = ""


NO_TEXTS = TextInputs()
_NEEDS_EXPANSION = re.compile(r"[$`*?\[{]|^~")
"""A shell expands such a name."""
MAX_FILES = 1000
"""Maximum files per call."""
MAX_PATH = 4096
MAX_STEPS = 2_000_000_000
"""Matching steps that all rules may take per event: at worst 1.5 seconds, typically a tenth of that."""
MAX_UNTRUSTED_STEPS = 200_000_000
OVERHEAD = 64
"""Extra bytes that each text counts for."""
BUDGET_EXCEEDED = "too much to look at in one event"


@dataclass(slots=True)
class MatchInputs:
    """The inputs of one event in the repository at ``root``."""

    event: Event
    root: str
    _cached_texts: dict[MatchTarget, TextInputs] = field(default_factory=dict)
    _files: PathInputs | None = None
    _spent: int = 0
    _spent_untrusted: int = 0

    @property
    def call(self) -> Call | None:
        """The call of the event, if any."""
        return getattr(self.event, "call", None)

    def texts(self, target: MatchTarget) -> TextInputs:
        """Return the texts at ``target``."""
        known = self._cached_texts.get(target)
        if known is None:
            known = self._cached_texts[target] = _READERS[target](self)
        return known

    def files(self) -> PathInputs:
        """Return the paths of the call; for a shell line those that it reads or redirects to."""
        if self._files is None:
            self._files = _path_inputs(self)
        return self._files

    def try_spend(self, program_size: int, length: int, *, is_untrusted: bool) -> bool:
        """Spend the steps of matching ``length`` bytes, and return whether the budget allowed them.

        Untrusted rules have a budget of their own, so that they leave the user's rules the time that they need.
        """
        steps = program_size * (length + OVERHEAD)
        if is_untrusted:
            self._spent_untrusted += steps
            return self._spent_untrusted <= MAX_UNTRUSTED_STEPS
        self._spent += steps
        return self._spent <= MAX_STEPS

    def relative_path(self, path: str) -> str:
        """Return ``path`` as globs see it: relative to the root, or without the leading slash if it is outside."""
        return path.removeprefix(self.root.rstrip("/") + "/").lstrip("/")


def _text_inputs(texts: Iterable[str], gap: str = "") -> TextInputs:
    """Return ``texts`` without empty and duplicate ones, each truncated to ``MAX_TEXT_BYTES``."""
    truncated = []
    for text in texts:
        data = text[:MAX_TEXT_BYTES].encode("utf-8", "replace")
        if len(text) > MAX_TEXT_BYTES or len(data) > MAX_TEXT_BYTES:
            gap = gap or f"only the first {MAX_TEXT_BYTES} bytes of a text were looked at"
        if data:
            truncated.append(data[:MAX_TEXT_BYTES])
    return TextInputs(tuple(dict.fromkeys(truncated)), gap)


def _command_texts(inputs: MatchInputs) -> TextInputs:
    """Return each simple command without its wrappers and from each wrapper on, joined by spaces."""
    line = getattr(inputs.event, "command", "")
    if not line.strip():
        return NO_TEXTS
    parsed = parse_commands(line)
    forms = (
        (*command.wrappers[start:], *command.words)
        for command in parsed.items
        for start in range(len(command.wrappers), -1, -1)
    )
    gap = "the shell line: " + "; ".join(parsed.gaps) if parsed.gaps else ""
    return _text_inputs((" ".join(form) for form in forms), gap)


def _path_inputs(inputs: MatchInputs) -> PathInputs:
    call = inputs.call
    if call is None:
        return PathInputs()
    gap = "the call does not tell which files it changes" if call.kind in FILE_CHANGING_KINDS and not call.paths else ""
    paths = call.paths
    if call.kind is ToolKind.SHELL and not paths:
        paths, gap = _paths_in_line(inputs.event, getattr(inputs.event, "command", ""))
    if len(paths) > MAX_FILES or any(len(path) > MAX_PATH for path in paths):
        gap = gap or "too many files, or too long a name"
    return PathInputs(tuple(inputs.relative_path(path)[:MAX_PATH] for path in paths[:MAX_FILES]), gap)


def _paths_in_line(event: Event, line: str) -> tuple[tuple[str, ...], str]:
    """Return the files that a shell line reads or redirects to, and what the line does not show of them.

    A file that a program or a script opens by itself is no gap.
    """
    parsed = parse_commands(line) if line.strip() else ParsedCommands()
    paths, gaps = list(touched_paths(event)), [gap for gap in parsed.gaps if gap in (SYNTAX_GAP, SIZE_GAP)]
    for command in parsed.items:
        for redirect in command.redirects:
            if redirect.target.isdecimal() or redirect.target in ("-", "/dev/null", ""):
                continue
            if command.working_dir == "?" or _NEEDS_EXPANSION.search(redirect.target + command.working_dir):
                gaps.append("a file whose name is not in the line")
            else:
                folder = posixpath.join(event.source.cwd, command.working_dir)
                paths.append(posixpath.normpath(posixpath.join(folder, redirect.target)))
    return tuple(dict.fromkeys(paths)), "the shell line: " + "; ".join(dict.fromkeys(gaps)) if gaps else ""


def _change_texts(pick: Callable[[Any], str]) -> Callable[[MatchInputs], TextInputs]:
    def read(inputs: MatchInputs) -> TextInputs:
        call = inputs.call
        if call is None or call.kind not in FILE_CHANGING_KINDS:
            return NO_TEXTS
        return _text_inputs(map(pick, call.edits), "" if call.paths else "the call does not tell what it writes")

    return read


def _prompt_texts(inputs: MatchInputs) -> TextInputs:
    match inputs.event:
        case PromptSubmitted(prompt=prompt):
            return _text_inputs([prompt])
        case SubagentRequested(is_prompt_hidden=True):
            return TextInputs(gap="the client hides the prompt")
        case SubagentRequested(prompt=prompt):
            return _text_inputs([prompt])
    return NO_TEXTS


def _output_texts(inputs: MatchInputs) -> TextInputs:
    match inputs.event:
        case ToolFinished(output=output):
            return _text_inputs([output])
        case TurnEnding(message=message) | SubagentEnding(message=message):
            return _text_inputs([message])
        case SubagentReturned(message=str(message)):
            return _text_inputs([message])
    return NO_TEXTS


_READERS: Mapping[MatchTarget, Callable[[MatchInputs], TextInputs]] = {
    MatchTarget.COMMAND: _command_texts,
    MatchTarget.PATH: lambda inputs: _text_inputs(inputs.files().paths, inputs.files().gap),
    MatchTarget.CONTENT: _change_texts(lambda edit: edit.new_text),
    MatchTarget.OLD_CONTENT: _change_texts(lambda edit: edit.old_text),
    MatchTarget.PROMPT: _prompt_texts,
    MatchTarget.OUTPUT: _output_texts,
    MatchTarget.RAW_COMMAND: lambda inputs: _text_inputs([getattr(inputs.event, "command", "")]),
}
