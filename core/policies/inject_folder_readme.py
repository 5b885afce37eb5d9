"""Inject the README.md of the folders that the agent works in."""

from __future__ import annotations

from upbeat.core.contract.effect import InjectContext
from upbeat.core.contract.event import ToolFinished
from upbeat.core.policy.definition import Handler, Policy
from upbeat.core.policy.folder_documents import FolderDocumentInjector

_NAME = "inject-folder-readme"
_INJECTOR = FolderDocumentInjector(
    policy_name=_NAME,
    file_name="README.md",
    should_show=lambda _document, _documents, _context, _event: True,
)

POLICY = Policy(
    name=_NAME,
    handlers={ToolFinished: Handler(_INJECTOR.on_tool_finished, _INJECTOR.queries)},
    effects=(InjectContext,),
    is_enabled_by_default=False,
    rank=85,
)
