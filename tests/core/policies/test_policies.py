"""All policies together: they are what the list says, they never fail, and they cost next to nothing."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest

from upbeat.core import policies
from upbeat.core.contract.event import ClientName
from upbeat.core.policies import BY_NAME, POLICIES
from upbeat.core.policies.absent import ABSENT
from upbeat.core.policies.policy import Carries, Policy, Words

FOLDER = Path(policies.__file__).parent
CHINESE = re.compile(r"[\u4e00-\u9fff]")
BEHAVIOURS = 43


def test_every_behaviour_is_there_once() -> None:
    """Each number of the list is one policy, or is told as absent."""
    numbers = [one.number for one in (*POLICIES, *ABSENT) if one.number]

    assert list(range(1, BEHAVIOURS + 1)) == sorted(numbers)


def test_policies_are_sorted_and_named_as_their_files() -> None:
    """The list is sorted by name, and each file that has a policy is in it."""
    files = [
        path.stem for path in FOLDER.glob("*.py") if re.search(r"^POLICY = ", path.read_text(encoding="utf-8"), re.M)
    ]

    assert sorted(BY_NAME) == [policy.name for policy in POLICIES]
    assert sorted(name.replace("_", "-") for name in files) == list(BY_NAME)
    assert all(import_module(f"upbeat.core.policies.{n.replace('-', '_')}").POLICY is one for n, one in BY_NAME.items())


def test_originals_are_told_once() -> None:
    """The original's name stands in the docstring of the one file that has its behaviour."""
    for policy in POLICIES:
        if policy.original:
            assert policy.original in (
                import_module(f"upbeat.core.policies.{policy.name.replace('-', '_')}").__doc__ or ""
            )


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.name)
def test_texts_are_in_both_languages(policy: Policy) -> None:
    """What a policy says of itself is there in English and in Chinese, in one or two short sentences."""
    for words in (policy.what, policy.why, policy.silent):
        assert isinstance(words, Words)
        assert 10 < len(words.en) < 320
        assert CHINESE.search(words.zh)
        assert not CHINESE.search(words.en)


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.name)
def test_every_client_has_a_standing(policy: Policy) -> None:
    """It is told for both clients how far they carry a policy, and why where they do not."""
    assert {ClientName.CLAUDE_CODE, ClientName.CODEX_CLI} == set(policy.clients)
    assert all(one.why for one in policy.clients.values() if one.carries is not Carries.WORKS)
