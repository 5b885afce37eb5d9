"""When the AGENTS.md of a folder is injected."""

from __future__ import annotations

from dataclasses import replace

import pytest
from policy_play import IN_AGENT, IN_CODEX, NONCE, ROOT, Talk, call, finished, said_by, shell, silent

from upbeat.core.contract.effect import InjectContext
from upbeat.core.contract.event import ToolFinished, ToolKind
from upbeat.core.policies.inject_folder_agents_md import POLICY
from upbeat.core.policy.queries import FilesAboveQuery, TextDocument
from upbeat.core.sanitize.frame import frame_untrusted

NAMES = ("AGENTS.md", "CLAUDE.md")
PATH = f"{ROOT}/web/api/a.ts"
LOOK = FilesAboveQuery(f"{ROOT}/web/api/AGENTS.md", NAMES, includes_root=False)
OF_WEB = TextDocument("web/AGENTS.md", "No default exports.\n")
OF_API = TextDocument("web/api/AGENTS.md", "Every route has a test.\n")
READ = finished(call("Read", ToolKind.READ, (PATH,)), "…")
EDIT = finished(call("Edit", ToolKind.EDIT, (PATH,)), "done")
IN_THE_SHELL = finished(shell("sed -n 1,20p web/api/a.ts"), "…", source=IN_CODEX)

SAYS_NOTHING: dict[str, tuple[ToolFinished, tuple[TextDocument, ...]]] = {
    "a folder without": (READ, ()),
    "the file itself": (finished(call("Read", ToolKind.READ, (f"{ROOT}/web/api/AGENTS.md",)), "…"), (OF_API,)),
    "what the CLAUDE.md beside it imports": (READ, (OF_API, TextDocument("web/api/CLAUDE.md", "@AGENTS.md\n"))),
    "what the CLAUDE.md beside it repeats": (READ, (OF_API, TextDocument("web/api/CLAUDE.md", OF_API.text))),
    "a CLAUDE.md": (READ, (TextDocument("web/api/CLAUDE.md", "Short lines."),)),
    "Codex's own folder": (replace(READ, source=replace(IN_CODEX, cwd=f"{ROOT}/web/api")), (OF_API, OF_WEB)),
    "a folder above Codex's own": (replace(READ, source=replace(IN_CODEX, cwd=f"{ROOT}/web/api/v2")), (OF_API,)),
}

SAYS: dict[str, tuple[ToolFinished, tuple[TextDocument, ...]]] = {
    "a file that was read": (READ, (OF_API,)),
    "a file that was edited": (EDIT, (OF_API,)),
    "a file that the shell reads": (IN_THE_SHELL, (OF_API,)),
    "beside a CLAUDE.md of another kind": (READ, (OF_API, TextDocument("web/api/CLAUDE.md", "Short lines."))),
    "beside the CLAUDE.md of another folder": (READ, (OF_API, TextDocument("web/CLAUDE.md", "@AGENTS.md"))),
    "in Codex, what its CLAUDE.md imports": (IN_THE_SHELL, (OF_API, TextDocument("web/api/CLAUDE.md", "@AGENTS.md"))),
    "below Codex's own folder": (replace(READ, source=replace(IN_CODEX, cwd=f"{ROOT}/web")), (OF_API, OF_WEB)),
    "a folder whose name begins alike": (replace(READ, source=replace(IN_CODEX, cwd=f"{ROOT}/web/api2")), (OF_API,)),
}

test_says_nothing_for = silent(SAYS_NOTHING, lambda case: said_by(POLICY, case[0], found={LOOK: case[1]}))


@pytest.mark.parametrize(("event", "found"), SAYS.values(), ids=SAYS)
def test_says(event: ToolFinished, found: tuple[TextDocument, ...]) -> None:
    """The file is injected in a frame of untrusted data, in both languages."""
    body = frame_untrusted("Every route has a test.", NONCE, source="web/api/AGENTS.md")
    heading = (
        "You are now working in web/api/ or below. web/api/AGENTS.md holds this project's instructions for agents "
        "about the files there: follow its conventions as far as they fit the user's request."
    )
    [chinese] = said_by(POLICY, event, language="zh", found={LOOK: found})

    assert (InjectContext(f"{heading}\n{body}"),) == said_by(POLICY, event, found={LOOK: found})
    assert chinese.text.startswith("你正在 web/api/ 或其下级目录中工作。")
    assert chinese.text.endswith(body)


def test_once_for_each_agent() -> None:
    """Each file is shown once to each agent; a subagent has not seen what its caller has."""
    talk = Talk(POLICY, {LOOK: (OF_API, OF_WEB)})
    in_agent = replace(READ, source=IN_AGENT)
    said = [len(talk.say(event)) for event in (READ, EDIT, READ, in_agent, in_agent)]

    assert [2, 0, 0, 2, 0] == said


def test_another_folder_shows_only_what_is_new() -> None:
    """A document that was shown for one folder is not shown for the next."""
    there = FilesAboveQuery(f"{ROOT}/web/ui/AGENTS.md", NAMES, includes_root=False)
    of_ui = TextDocument("web/ui/AGENTS.md", "Components only.")
    talk = Talk(POLICY, {LOOK: (OF_API, OF_WEB), there: (of_ui, OF_WEB)})
    talk.say(READ)
    [effect] = talk.say(finished(call("Read", ToolKind.READ, (f"{ROOT}/web/ui/b.ts",)), "…"))

    assert "web/ui/AGENTS.md" in effect.text
