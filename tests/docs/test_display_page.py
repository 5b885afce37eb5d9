"""The page about what the clients display agrees with the recorded screens."""

from __future__ import annotations

from pathlib import Path

import pytest

RECORDED = Path(__file__).parents[1] / "recorded" / "display"
CLAUDES = ("claude-code-2.1.197", "claude-code-2.1.329")
CODEX = "codex-0.169.0"


@pytest.mark.parametrize(
    ("client", "file", "text", "is_shown"),
    [
        *((one, "terminal-prompt.txt", "SessionStart:startup says: SAID-SessionStart", True) for one in CLAUDES),
        *((one, "terminal-prompt.txt", "UserPromptSubmit says: SAID-UPS 3 files", True) for one in CLAUDES),
        *((one, "terminal-prompt.txt", "Stop says: SAID-Stop", True) for one in CLAUDES),
        *((one, "terminal-block.txt", "by hook:\n  REASON line one\n    REASON", True) for one in CLAUDES),
        *((one, "terminal-context.txt", "--- model requests: 0", True) for one in CLAUDES),
        *((one, "terminal-suppress.txt", "Original prompt", False) for one in CLAUDES),
        *((one, "print-text-prompt.txt", "SAID", False) for one in CLAUDES),
        *((one, "print-text-block.txt", "by hook:\nREASON line one\n  REASON", True) for one in CLAUDES),
        (CLAUDES[1], "print-stream-prompt.jsonl", "UserPromptSubmit says: SAID-UPS", True),
        (CODEX, "terminal-prompt.txt", "↳ Hook · SAID-UPS 3 files", True),
        (CODEX, "terminal-block.txt", "• Blocked by hook\n  └ REASON line one\n      REASON line two", True),
        (CODEX, "terminal-block.txt", "--- model requests made by this prompt: 0", True),
        (CODEX, "exec-text-prompt.txt", "SAID", False),
        (CODEX, "exec-text-block.txt", "REASON", False),
        (CODEX, "exec-json-block.txt", "REASON", False),
    ],
)  # fmt: skip
def test_the_recorded_screens_show(client: str, file: str, text: str, is_shown: bool) -> None:
    """Each row of the table is what a real client displayed."""
    assert is_shown == (text in (RECORDED / client / file).read_text(encoding="utf-8"))
