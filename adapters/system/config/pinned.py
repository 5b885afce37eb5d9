"""Hold the configuration that a turn began with until the user's next prompt.

What supervises a turn is not changed from inside of it: settings, rules and workflows that change meanwhile apply with
the user's next prompt, and the user is told then. Implements the loaders of ``core.engine.ports`` around others.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from upbeat.core.contract.event import EventSource
    from upbeat.core.engine.ports import ContextResolver, RepoContext, RuleLoader, WorkflowLoader

SETTINGS, RULES, WORKFLOWS = "settings", "rules", "workflows"


class PinnedConfiguration:
    """The configuration of each repository as the turn has first seen it."""

    def __init__(self, resolver: ContextResolver, rules: RuleLoader, workflows: WorkflowLoader) -> None:
        self._resolver = resolver
        self.rules = _PinnedLoader(self, RULES, rules)
        self.workflows = _PinnedLoader(self, WORKFLOWS, workflows)
        self._pinned: dict[tuple[str, str], Any] = {}
        """(what, repository) -> the value of this turn."""
        self._previous: dict[tuple[str, str], Any] = {}
        self._changes: dict[str, None] = {}

    def renew(self) -> None:
        """Take the configuration as it is now: the user has sent a prompt, or nothing proves who sends events."""
        self._previous, self._pinned = self._pinned, {}

    def take_notice(self, language: str) -> str:
        """Return once a sentence with what the last ``renew`` has changed; empty for nothing."""
        changes, self._changes = self._changes, {}
        if not changes:
            return ""
        from upbeat.core.messages.catalogue import load_messages

        return load_messages("workflow", language)["configuration_changed"].format(changes=", ".join(changes))

    def resolve(self, source: EventSource, repo_root: str | None, *, is_plan: bool) -> RepoContext:
        found = self._resolver.resolve(source, repo_root, is_plan=is_plan)
        pinned: RepoContext = self.pin(SETTINGS, found.repository.root, found)
        if pinned is found:
            return found
        return replace(found, settings=pinned.settings, limits=pinned.limits, problems=pinned.problems)

    def pin(self, what: str, root: str, present: Any) -> Any:
        """Return the value of this turn; the first one is it, and is compared with that of the turn before."""
        key = (what, root)
        if key not in self._pinned:
            self._pinned[key] = present
            before = self._previous.get(key)
            if before is not None and before != present:
                self._changes |= dict.fromkeys(_changed_keys(before, present) if what == SETTINGS else (what,))
        return self._pinned[key]


class _PinnedLoader:
    """Loads rules or workflows through the configuration that holds them."""

    def __init__(self, configuration: PinnedConfiguration, what: str, loader: RuleLoader | WorkflowLoader) -> None:
        self._configuration, self._what, self._loader = configuration, what, loader

    def load(self, root: str) -> Any:
        return self._configuration.pin(self._what, root, self._loader.load(root))


def _changed_keys(before: RepoContext, present: RepoContext) -> list[str]:
    from upbeat.core.settings import KEYS

    return [
        key.name
        for key in KEYS
        if key.name != "off.repositories"  # here it shows as ``enabled``
        and getattr(before.settings, key.attribute) != getattr(present.settings, key.attribute)
    ]
