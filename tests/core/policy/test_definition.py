"""The Policy type and its texts."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from policy_play import HERE, IN_AGENT, call, shell, starting

from upbeat.core.contract.event import FILE_CHANGING_KINDS, Event, PromptOrigin, PromptSubmitted, ToolKind
from upbeat.core.policy.definition import NO_RESULT, Handler, PolicyContext, PolicyResult

EDIT = starting(call("Edit", ToolKind.EDIT))
STATUS = starting(shell("git status"))
PROMPT = PromptSubmitted(HERE, "fix the test")


@pytest.mark.parametrize(
    ("language", "text"), [("en", "… and 2 more"), ("zh", "……另有 2 个"), ("fr", "… and 2 more"), ("", "… and 2 more")]
)
def test_a_text_is_localized(language: str, text: str) -> None:
    """A text is Chinese for ``zh`` and English for any other language."""
    assert text == PolicyContext(language=language, policy="changed-files").text("more", count=2)


def handle(_event: Event, _context: PolicyContext) -> PolicyResult:
    return NO_RESULT


GIT = re.compile("git")
APPLIES: dict[str, tuple[Handler, Event, tuple[str, ...], bool]] = {
    "no condition": (Handler(handle), EDIT, (), True),
    "a tool of that kind": (Handler(handle, tools=FILE_CHANGING_KINDS), EDIT, (), True),
    "another tool": (Handler(handle, tools=FILE_CHANGING_KINDS), STATUS, (), False),
    "the user's prompt": (Handler(handle, origins=(PromptOrigin.USER,)), PROMPT, (), True),
    "another prompt": (Handler(handle, origins=(PromptOrigin.SUBAGENT,)), PROMPT, (), False),
    "the main agent": (Handler(handle, is_for_main_agent=True), STATUS, (), True),
    "a subagent": (Handler(handle, is_for_main_agent=True), replace(STATUS, source=IN_AGENT), (), False),
    "a command with the text": (Handler(handle, text=GIT), STATUS, (), True),
    "a call without a command": (Handler(handle, text=GIT), EDIT, (), False),
    "a prompt with the text": (Handler(handle, text=re.compile("fix")), PROMPT, (), True),
    "a prompt without the text": (Handler(handle, text=GIT), PROMPT, (), False),
    "no notes": (Handler(handle, needs_notes=True), STATUS, (), False),
    "notes": (Handler(handle, needs_notes=True), STATUS, ("n",), True),
    "notes instead of the text": (Handler(handle, text=GIT, needs_notes=True), PROMPT, ("n",), True),
    "the text instead of notes": (Handler(handle, text=GIT, needs_notes=True), STATUS, (), True),
    "neither notes nor the text": (Handler(handle, text=GIT, needs_notes=True), PROMPT, (), False),
}


@pytest.mark.parametrize(("handler", "event", "notes", "expected"), APPLIES.values(), ids=APPLIES)
def test_applies_to(handler: Handler, event: Event, notes: tuple[str, ...], expected: bool) -> None:
    """A handler is called only for events that meet every condition; notes and a text are alternatives."""
    assert expected is handler.applies_to(event, notes)


def test_empty_notes_are_a_result() -> None:
    """A result that deletes the notes differs from none, which keeps them."""
    assert NO_RESULT == PolicyResult()
    assert NO_RESULT != PolicyResult(notes=())
