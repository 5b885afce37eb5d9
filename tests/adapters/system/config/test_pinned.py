"""What a turn began with holds until the user's next prompt."""

from __future__ import annotations

from pathlib import Path

from repositories import make_repository

from upbeat.adapters.system.config.pinned import PinnedConfiguration
from upbeat.adapters.system.config.resolver import LocalContextResolver
from upbeat.adapters.system.config.rules import RuleFiles
from upbeat.adapters.system.config.workflows import LocalWorkflows
from upbeat.adapters.system.environment import read_environment
from upbeat.core.contract.event import ClientName, EventSource

RULE = "---\nevent: before-tool\ntool: shell\npattern: git push\naction: deny\n---\nNo.\n"


def test_a_turn_keeps_its_configuration(tmp_path: Path) -> None:
    """Settings, rules and workflows that change meanwhile apply from the user's next prompt on, and are named once."""
    repo = make_repository(tmp_path / "repo")
    environment = read_environment({"HOME": str(tmp_path)})
    pin = PinnedConfiguration(LocalContextResolver(environment), RuleFiles(environment), LocalWorkflows(environment))
    source = EventSource(ClientName.CLAUDE_CODE, str(repo), "s")
    own = tmp_path / ".config" / "upbeat"

    def seen() -> tuple[tuple[str, ...], int, bool]:
        context = pin.resolve(source, None, is_plan=False)
        registry, _problems = pin.workflows.load(str(repo))
        return context.settings.policies_off, len(pin.rules.load(str(repo)).rules), "mine" in registry.workflows

    before = seen()
    (own / "rules").mkdir(parents=True)
    (own / "auto-tools.toml").write_text('[policies]\noff = ["block-destructive-commands"]\n')
    (own / "rules" / "no-push.md").write_text(RULE)
    (own / "workflows.toml").write_text('[workflows.mine]\nstages = ["DEV"]\ntext.en = "Mine."\n')
    assert ((), 0, False) == before == seen()
    assert "" == pin.take_notice("en")

    pin.renew()
    after = seen()
    notice = pin.take_notice("en")
    assert (("block-destructive-commands",), 1, True) == after
    changes = notice.removeprefix("upbeat: changed since your last prompt, and in effect from now on: ")
    assert ["policies.off", "rules", "workflows"] == sorted(changes.split(", "))
    assert "" == pin.take_notice("en")
