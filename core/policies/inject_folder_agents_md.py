"""Inject the AGENTS.md of the folders that the agent works in."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence

from upbeat.core.contract.effect import InjectContext
from upbeat.core.contract.event import ToolFinished
from upbeat.core.policy.definition import Handler, Policy, PolicyContext
from upbeat.core.policy.folder_documents import FolderDocumentInjector
from upbeat.core.policy.queries import TextDocument

_NAME = "inject-folder-agents-md"
_CLAUDE_FILE = "CLAUDE.md"
_IMPORT = "@AGENTS.md"


def _should_show(
    document: TextDocument, documents: Sequence[TextDocument], context: PolicyContext, event: ToolFinished
) -> bool:
    folder = posixpath.dirname(document.path)
    if context.client.reads_agents_md:
        cwd = posixpath.normpath(event.source.cwd)
        return not f"{cwd}/".startswith(f"{posixpath.join(context.root, folder)}/")
    sibling = posixpath.join(folder, _CLAUDE_FILE)
    return not any(
        other.path == sibling and (other.text == document.text or _IMPORT in other.text) for other in documents
    )


_INJECTOR = FolderDocumentInjector(
    policy_name=_NAME,
    file_name="AGENTS.md",
    should_show=_should_show,
    companion_names=(_CLAUDE_FILE,),
    includes_root=False,
)

POLICY = Policy(
    name=_NAME,
    handlers={ToolFinished: Handler(_INJECTOR.on_tool_finished, _INJECTOR.queries)},
    effects=(InjectContext,),
    rank=41,
)
