"""When an edit that did not apply is explained."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from case_files import read_groups
from policy_play import finished_row, said_by, says, silent

from upbeat.core.policies.recover_from_failed_edit import POLICY

CASES = read_groups(Path(__file__).with_name("edit_errors.tsv"))
SAYS = {name: (finished_row(*row), words) for name, *row, words in CASES["says"]}
SAYS_NOTHING = {name: finished_row(*row) for name, *row in CASES["none"]} | {
    "an edit that its user broke off": replace(SAYS["both texts are the same"][0], was_interrupted=True)
}

test_says_nothing_for = silent(SAYS_NOTHING, lambda event: said_by(POLICY, event))

test_says = says(SAYS, lambda event, language: said_by(POLICY, event, language))
