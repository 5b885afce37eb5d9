"""A secret that is detected stands in no file that upbeat writes, whatever event of a session brings it."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.secret_corpus import SAMPLES, Sample, read_corpus, remains

from upbeat.adapters.hook_entry.answer import answer_event
from upbeat.adapters.system.environment import read_environment
from upbeat.adapters.wiring import build_application
from upbeat.core.sanitize.redact import redact

pytestmark = pytest.mark.timeout(300)


def one_of_each_class() -> list[tuple[Sample, list[str]]]:
    """The first sample of each class, and those of its secrets that are detected."""
    samples: dict[str, tuple[Sample, list[str]]] = {}
    for sample in read_corpus(SAMPLES):
        redacted = redact(sample.text).text
        if detected := [secret for secret in sample.secrets if not remains(secret, redacted)]:
            samples.setdefault(sample.name, (sample, detected))
    return list(samples.values())


def events(text: str, path: str) -> list[dict[str, object]]:
    """Events of a session with ``text`` in their prompts, inputs, outputs, errors, questions, tasks and answers."""
    questions = [{"question": text, "header": "x", "options": [{"label": text, "description": text}]}]
    call = {"hook_event_name": "PreToolUse", "tool_use_id": "t"}
    done = {"hook_event_name": "PostToolUse", "tool_use_id": "t"}
    change = {"file_path": path, "old_string": text, "new_string": f"{text}\n"}
    return [
        {"hook_event_name": "UserPromptSubmit", "prompt": f"fix the test in a.py\n{text}\n"},
        call | {"tool_name": "Bash", "tool_input": {"command": f"pytest -q\n{text}"}},
        done
        | {"tool_name": "Bash", "tool_input": {"command": text}, "tool_response": {"stdout": text, "stderr": text}},
        done | {"tool_name": "Edit", "tool_input": change, "tool_response": {"filePath": path, "newString": text}},
        call | {"tool_name": "AskUserQuestion", "tool_input": {"questions": questions}},
        call | {"tool_name": "Agent", "tool_input": {"description": text, "prompt": text}},
        call | {"tool_name": "TodoWrite", "tool_input": {"todos": [{"content": text, "status": "pending"}]}},
        {
            "hook_event_name": "PostToolUseFailure",
            "tool_name": "Bash",
            "tool_input": {"command": text},
            "error": text,
        },
        {"hook_event_name": "Stop", "stop_hook_active": False, "last_assistant_message": f"done:\n{text}"},
    ]


def test_no_file_has_a_secret(tmp_path: Path) -> None:
    """Journal, spool, index, logs and receipts are read as bytes after a session for each class of secrets."""
    repository = tmp_path / "repository"
    repository.mkdir()
    application = build_application(read_environment({"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}))
    planted = one_of_each_class()
    for number, (sample, _) in enumerate(planted):
        session = {"session_id": f"s{number}", "cwd": str(repository), "transcript_path": "/none"}
        for event in events(sample.text, str(repository / "a.py")):
            answer_event("claude-code", session | event, application)

    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    written = {path.name: path.read_bytes().decode("utf-8", "replace") for path in files}

    assert "journal.db" in written
    assert [] == [
        (name, sample.name)
        for name, text in written.items()
        for sample, secrets in planted
        if any(remains(secret, text) for secret in secrets)
    ]
