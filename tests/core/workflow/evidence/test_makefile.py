"""Which commands a target of a Makefile runs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from project_files import proven_programs

from upbeat.core.workflow.evidence.makefile import parse_makefile, scripts_of_target


@pytest.mark.parametrize(
    ("makefile", "command", "expected"),
    [
        ("test:\n\tpytest -q\n", "make test", ["pytest -q"]),
        ("P ?= pytest\ntest: lint\n\t@$(P) $(A)\nlint:\n\truff .\n", "make A=-x test", ["ruff .", "pytest -x"]),
        ("test:\n\tcd a && \\\n\tpytest\n", "make test", ["cd a", "pytest"]),
        ("test: ; pytest\n", "make test", ["pytest"]),
        ("test:\n\t-pytest\n\ttrue\n", "make test", ["true"]),
        (".IGNORE:\ntest:\n\tpytest\n", "make test", []),
        ("SHELL = /bin/true\ntest:\n\tpytest\n", "make test", []),
        (".ONESHELL:\ntest:\n\tpytest\n\ttrue\n", "make test", ["true"]),
        (
            "SHELL = /bin/bash\n.SHELLFLAGS = -o pipefail -c\ntest:\n\tpytest | tee x\n",
            "make test",
            ["pytest", "tee x"],
        ),
        ("test:\n\tpytest $$X $@\n", "X=1 make test", ["pytest 1 test"]),
        ("test:\n\tpytest\n", "make -n test", []),
        ("a:\n\tpytest\n", "make", ["pytest"]),
    ],
)
def test_a_target(makefile: str, command: str, expected: list[str]) -> None:
    """Exit code 0 of make proves what the recipe runs, as far as make itself stops at a failure."""
    programs = proven_programs(command, {"Makefile": makefile})

    assert expected == [one for one in programs if not one.startswith("make")]


@given(st.text("abt:=$()\n\t \\#", max_size=60))
def test_any_text(text: str) -> None:
    """Any text can be read."""
    parsed = parse_makefile(text)
    for target in parsed.rules:
        scripts_of_target(parsed, target, "/repo", {}, {})
