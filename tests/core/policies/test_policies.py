"""The list of policies, their texts and their documentation."""

from __future__ import annotations

import re
import sys
from dataclasses import fields
from importlib import import_module
from pathlib import Path

import pytest

from upbeat.core import policies
from upbeat.core.contract.client import ClientTraits
from upbeat.core.contract.event import ToolStarting
from upbeat.core.package_data import load_toml
from upbeat.core.policies import POLICIES, POLICIES_BY_NAME, policies_handling
from upbeat.core.policy.definition import Policy

sys.path.append(str(Path(__file__).parents[3] / "docs"))
from policies_page import CAPABILITIES, DATA, client_support, describe

FOLDER = Path(policies.__file__).parent
CHINESE = re.compile(r"[\u4e00-\u9fff]")
BEHAVIOURS = 43
KEPT_NOTES = {
    *("enforce-todo-completion", "kill-tmux-sessions", "notify-when-done", "pursue-goal", "remind-about-stale-todos"),
    *("restore-context-after-compaction", "restore-todos-after-compaction", "restrict-planner-writes"),
    *("suspend-continuation", "warn-about-silent-subagents"),
}


def test_every_upstream_hook_is_listed_once() -> None:
    """Each hook of oh-my-opencode is one policy, or is listed as not ported."""
    numbers = [number for number, _name in DATA["upstream"].values()] + [hook["number"] for hook in DATA["unported"]]

    assert list(range(1, BEHAVIOURS + 1)) == sorted(numbers)
    assert set(DATA["upstream"]) | set(DATA["limitations"]) <= set(POLICIES_BY_NAME)


def test_policies_are_sorted_and_named_as_their_files() -> None:
    """The list is sorted by name, and each file that has a policy is in it."""
    files = [
        path.stem for path in FOLDER.glob("*.py") if re.search(r"^POLICY = ", path.read_text(encoding="utf-8"), re.M)
    ]

    assert sorted(POLICIES_BY_NAME) == [policy.name for policy in POLICIES]
    assert sorted(name.replace("_", "-") for name in files) == list(POLICIES_BY_NAME)
    assert all(
        import_module(f"upbeat.core.policies.{n.replace('-', '_')}").POLICY is one
        for n, one in POLICIES_BY_NAME.items()
    )


def test_a_policy_is_listed_with_the_events_that_it_handles() -> None:
    """A hook imports no other policies, so an event that is not listed would not reach the policy."""
    handled = {policy.name: {kind.__name__ for kind in policy.handlers} for policy in POLICIES}
    listed = {name.replace("_", "-"): set(events.split()) for name, events in policies.EVENTS_BY_MODULE.items()}

    assert handled == listed
    assert [policy for policy in POLICIES if ToolStarting in policy.handlers] == [*policies_handling("ToolStarting")]


def test_notes_that_survive_a_compaction() -> None:
    """A compaction keeps notes about the work, and forgets those about what the model has seen."""
    assert KEPT_NOTES == {policy.name for policy in POLICIES if policy.survives_compaction}


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.name)
def test_texts_are_in_both_languages(policy: Policy) -> None:
    """A policy is described in English and Chinese, in one or two short sentences."""
    english, chinese = describe(policy, "en"), describe(policy, "zh")
    assert ["summary", "rationale", "silent_when"] == list(english) == list(chinese)
    assert all(10 < len(text) < 320 and not CHINESE.search(text) for text in english.values())
    assert all(map(CHINESE.search, chinese.values()))


@pytest.mark.parametrize("name", load_toml("upbeat.core.messages", "en/policies.toml"))
def test_every_text_is_used(name: str) -> None:
    """The table of a policy has exactly the keys that its file names, some of them by their beginning."""
    stem = name.replace("-", "_")
    path = next(path for folder in (FOLDER, FOLDER.parent / "policy") if (path := folder / f"{stem}.py").exists())
    source = path.read_text(encoding="utf-8")
    keys = load_toml("upbeat.core.messages", "en/policies.toml")[name]
    causes = load_toml("upbeat.core.policies", "errors.toml").get(name, {})

    of_each_policy = {"heading"} if name == "folder-documents" else set()

    assert set(re.findall(r'context\.text\(\s*"(\w+)"', source)) <= set(keys) | of_each_policy
    assert [] == [
        key
        for key in keys
        if f'"{key}"' not in source and f'f"{key.partition("_")[0]}_{{' not in source
        if key not in {"heading", *causes}
    ]


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.name)
def test_support_follows_from_traits_and_effects(policy: Policy) -> None:
    """Named traits exist, and where a client does not fully support a policy the page says why."""
    assert {policy.native_trait, policy.required_trait} - {""} <= {field.name for field in fields(ClientTraits)}
    for client in CAPABILITIES:
        level, reason = client_support(policy, client)
        assert reason or level in ("full", "native")
