"""When the README.md of a folder is shown: as the AGENTS.md, the root's own included, and only on request."""

from __future__ import annotations

from dataclasses import replace

import pytest
from policy_play import IN_AGENT, IN_CODEX, NONCE, ROOT, Talk, call, finished, said_by, shell

from upbeat.core.contract.effect import Inject
from upbeat.core.contract.event import Act, ToolFinished
from upbeat.core.policies.look import Document, FilesAbove
from upbeat.core.policies.show_readme_of_folder import POLICY
from upbeat.core.turn.frame import frame

PATH = f"{ROOT}/web/a.ts"
LOOK = FilesAbove(f"{ROOT}/web/README.md", ("README.md",))
OF_ROOT = Document("README.md", "A shop.\n")
OF_WEB = Document("web/README.md", "Its pages.\n")
READ = finished(call("Read", Act.READ, (PATH,)), "…")

SAYS_NOTHING: dict[str, tuple[ToolFinished, tuple[Document, ...]]] = {
    "a folder without": (READ, ()),
    "a read that failed": (replace(READ, failed=True), (OF_WEB,)),
    "a call that touches no file": (finished(call("Grep", Act.SEARCH), "…"), (OF_WEB,)),
    "the file itself": (finished(call("Read", Act.READ, (f"{ROOT}/web/README.md",)), "…"), (OF_WEB,)),
    "another file": (READ, (Document("web/AGENTS.md", "Use tabs."),)),
}

SAYS: dict[str, ToolFinished] = {
    "a file that was read": READ,
    "a file that was edited": finished(call("Edit", Act.EDIT, (PATH,)), "done"),
    "a file that the shell reads": finished(shell("cat web/a.ts"), "…", source=replace(IN_CODEX, cwd=ROOT)),
}


@pytest.mark.parametrize(("event", "found"), SAYS_NOTHING.values(), ids=SAYS_NOTHING)
def test_says_nothing_for(event: ToolFinished, found: tuple[Document, ...]) -> None:
    """Says nothing where no file was touched, or there is none."""
    assert () == said_by(POLICY, event, found={LOOK: found})


@pytest.mark.parametrize("event", SAYS.values(), ids=SAYS)
def test_says(event: ToolFinished) -> None:
    """Shows the files in frames, the nearest first, the root's own as well, in both languages."""
    first, second = said_by(POLICY, event, found={LOOK: (OF_WEB, OF_ROOT)})
    [chinese] = said_by(POLICY, event, language="zh", found={LOOK: (OF_WEB,)})
    body = frame("Its pages.", NONCE, source="web/README.md")

    assert Inject(f"You work in web/ or below it now. This is what web/README.md says.\n{body}") == first
    assert second.text.startswith("You work in ./ or below it now. This is what README.md says.\n")
    assert chinese.text == f"你正在 web/ 或其下级目录中工作。以下是 web/README.md 的内容。\n{body}"


def test_once_for_each_agent_and_on_request() -> None:
    """Each is shown once to each agent, and to nobody by default."""
    talk = Talk(POLICY, {LOOK: (OF_WEB,)})
    in_agent = replace(READ, source=IN_AGENT)

    assert ([1, 0, 1, 0], False) == ([len(talk.say(event)) for event in (READ, READ, in_agent, in_agent)], POLICY.is_on)
