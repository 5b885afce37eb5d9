"""When the README.md of a folder is injected."""

from __future__ import annotations

from dataclasses import replace

import pytest
from policy_play import IN_CODEX, NONCE, ROOT, call, finished, said_by, shell, silent

from upbeat.core.contract.effect import InjectContext
from upbeat.core.contract.event import ToolFinished, ToolKind
from upbeat.core.policies.inject_folder_readme import POLICY
from upbeat.core.policy.queries import FilesAboveQuery, TextDocument
from upbeat.core.sanitize.frame import frame_untrusted

PATH = f"{ROOT}/web/a.ts"
LOOK = FilesAboveQuery(f"{ROOT}/web/README.md", ("README.md",))
OF_ROOT = TextDocument("README.md", "A shop.\n")
OF_WEB = TextDocument("web/README.md", "Its pages.\n")
READ = finished(call("Read", ToolKind.READ, (PATH,)), "…")

SAYS_NOTHING: dict[str, tuple[ToolFinished, tuple[TextDocument, ...]]] = {
    "a folder without": (READ, ()),
    "the file itself": (finished(call("Read", ToolKind.READ, (f"{ROOT}/web/README.md",)), "…"), (OF_WEB,)),
    "another file": (READ, (TextDocument("web/AGENTS.md", "Use tabs."),)),
}

SAYS: dict[str, ToolFinished] = {
    "a file that was read": READ,
    "a file that was edited": finished(call("Edit", ToolKind.EDIT, (PATH,)), "done"),
    "a file that the shell reads": finished(shell("cat web/a.ts"), "…", source=replace(IN_CODEX, cwd=ROOT)),
}

test_says_nothing_for = silent(SAYS_NOTHING, lambda case: said_by(POLICY, case[0], found={LOOK: case[1]}))


@pytest.mark.parametrize("event", SAYS.values(), ids=SAYS)
def test_says(event: ToolFinished) -> None:
    """The files are injected in frames, the nearest first, including that of the root, in both languages."""
    first, second = said_by(POLICY, event, found={LOOK: (OF_WEB, OF_ROOT)})
    [chinese] = said_by(POLICY, event, language="zh", found={LOOK: (OF_WEB,)})
    body = frame_untrusted("Its pages.", NONCE, source="web/README.md")

    assert InjectContext(f"You are now working in web/ or below. This is web/README.md.\n{body}") == first
    assert second.text.startswith("You are now working in ./ or below. This is README.md.\n")
    assert chinese.text == f"你正在 web/ 或其下级目录中工作。以下是 web/README.md 的内容。\n{body}"
