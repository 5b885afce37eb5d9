"""When a failed call of another tool is explained."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from case_files import read_groups
from policy_play import finished_row, said_by, says, silent

from upbeat.core.policies.recover_from_failed_tool import POLICY

CASES = read_groups(Path(__file__).with_name("tool_errors.tsv"))
SAYS = {name: (finished_row(*row), words) for name, *row, words in CASES["says"]}
SAYS_NOTHING = {name: finished_row(*row) for name, *row in CASES["none"]} | {
    "a call that its user broke off": replace(SAYS["a request that took too long"][0], was_interrupted=True)
}

test_says_nothing_for = silent(SAYS_NOTHING, lambda event: said_by(POLICY, event))

test_says = says(SAYS, lambda event, language: said_by(POLICY, event, language))
