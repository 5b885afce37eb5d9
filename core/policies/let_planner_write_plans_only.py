"""Let an agent that plans write plans, and nothing else (prometheus-md-only of oh-my-opencode)."""

from __future__ import annotations

import re

from ..contract.effect import Deny
from ..contract.event import CHANGES_FILES, AgentStarted, ToolStarting
from .policy import SILENT, Policy, View, Word, Words

KINDS = frozenset({"planner", "product-manager", "architect", "designer"})
"""upbeat's agents that only write down what is to be done."""

FOLDERS = ("specs/", ".upbeat/", "docs/")
"""Where plans lie, relative to the repository."""

_ENDINGS = (".md", ".mdx", ".markdown")
_KIND = re.compile(r"upbeat[:_-]([a-z_-]{1,40})")
_MOST = 40
_TEXT = Words(
    "`{path}` is not written by the {kind}: it plans, and writes Markdown below {folders} only. Write down there what "
    "is to be changed, or put it into your handoff; a later step makes the change.",
    "{kind} 只做规划，只写 {folders} 下的 Markdown，不写 `{path}`。请把要改的内容写在那里或写进交接，由后续步骤修改。",
)


def _started(event: AgentStarted, view: View) -> Word:
    found = _KIND.fullmatch(event.agent.strip().lower()[:60])
    kind = found[1].replace("_", "-") if found else ""
    if kind not in KINDS or not event.agent_id or len(event.agent_id) > 100 or " " in event.agent_id:
        return SILENT
    return Word(notes=(*view.notes, f"{event.agent_id} {kind}")[-_MOST:])


def _starting(event: ToolStarting, view: View) -> Word:
    if event.call.act not in CHANGES_FILES or not view.notes or not event.source.agent_id:
        return SILENT
    kinds = dict(note.split(" ", 1) for note in view.notes if " " in note)
    kind = kinds.get(event.source.agent_id)
    path = next((path for path in event.call.paths if not _is_plan(path, view.root)), "") if kind else ""
    if not path:
        return SILENT
    shown = path.removeprefix(f"{view.root}/")[:120]
    text = _TEXT.of(view.language).format(path=shown, kind=kind, folders=", ".join(f"`{one}`" for one in FOLDERS))
    return Word((Deny(text),), f"the {kind} writes plans only", names=(path,))


def _is_plan(path: str, root: str) -> bool:
    inside = path.removeprefix(f"{root}/")
    return inside != path and inside.startswith(FOLDERS) and inside.lower().endswith(_ENDINGS)


POLICY = Policy(
    name="let-planner-write-plans-only",
    original="prometheus-md-only",
    number=37,
    what=Words(
        "upbeat's planner, product manager, architect and designer write Markdown in `specs/`, `docs/` and `.upbeat/` "
        "only; any other change of a file by them is refused.",
        "upbeat 的规划、产品经理、架构与设计代理只能写 `specs/`、`docs/` 和 `.upbeat/` 下的 Markdown；"
        "其他文件改动会被拒绝。",
    ),
    why=Words(
        "Who plans and builds at once checks the plan against what is built already.",
        "边规划边动手，计划就会迁就已经写好的东西。",
    ),
    silent=Words(
        "for the main agent, for all other agents, those of the client and your own included, and for what they do in "
        "the shell",
        "主代理、其他所有代理（包括客户端自带和你自己的），以及它们在终端中的操作",
    ),
    on={AgentStarted: _started, ToolStarting: _starting},
    stays=True,
    rank=20,
)
