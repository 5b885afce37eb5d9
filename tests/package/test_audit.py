"""A known vulnerability fails the audit, silence does not read as "clean", and what may pass says why.

pip-audit's own answers are looked at by the part ``package`` of the promises; here they are as it printed them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / ".ci"))
from audit import Audit, Vulnerability, answers_in, installed, read_allowed, tell

PACKAGES = {"rich": "15.0.0", "prompt_toolkit": "3.0.53"}
BAD_RICH = Vulnerability("rich", "15.0.0", ("PYSEC-1", "CVE-1"), ("16",))
HOLE = {"id": "PYSEC-1", "fix_versions": ["16"], "aliases": ["CVE-1"], "description": "bad"}


def of(name: str, version: str, holes: Iterable[dict[str, Any]] = ()) -> dict[str, Any]:
    return {"name": name, "version": version, "vulns": list(holes)}


def skipped(name: str) -> dict[str, Any]:
    return {"name": name, "skip_reason": f"Dependency not found on PyPI and could not be audited: {name}"}


CANARY = of("jinja2", "2.10", [HOLE])
CLEAN = [of("rich", "15.0.0"), of("prompt-toolkit", "3.0.53")]


def test_answers_of_a_source_that_knows_something() -> None:
    """A package without a hole counts as looked up, whatever way its name is written."""
    assert ({"rich": [], "prompt_toolkit": []}, "") == answers_in([CANARY, *CLEAN], PACKAGES)
    assert ({"rich": [BAD_RICH], "prompt_toolkit": []}, "") == answers_in(
        [CANARY, of("rich", "15.0.0", [HOLE]), CLEAN[1]], PACKAGES
    )


def test_what_was_skipped_was_not_looked_up() -> None:
    """pip-audit ends with 0 and says "no known vulnerabilities" when it was told nothing; we do not."""
    answers, reason = answers_in([skipped("jinja2"), skipped("rich"), skipped("prompt-toolkit")], PACKAGES)

    assert ({}, "Dependency not found on PyPI") == (answers, reason[:28])


def test_a_source_that_knows_nothing_is_not_believed() -> None:
    """Where even an old hole that everyone knows is unknown, silence about the others means nothing."""
    answers, reason = answers_in([of("jinja2", "2.10"), *CLEAN], PACKAGES)

    assert ({}, "it knows nothing of jinja2 2.10, so its silence means nothing") == (answers, reason)


def test_even_such_a_source_is_heard_when_it_warns() -> None:
    """A hole is a hole, whoever tells of it."""
    answers, _ = answers_in([of("jinja2", "2.10"), of("rich", "15.0.0", [HOLE]), CLEAN[1]], PACKAGES)

    assert {"rich": [BAD_RICH]} == answers


ALL = set(PACKAGES)


@pytest.mark.parametrize(
    ("audit", "allowed", "is_required", "code", "sentence"),
    [
        (Audit(PACKAGES, ALL), {}, True, 0, "audit: 2 packages looked up, 0 allowed, no other known vulnerability"),
        (Audit(PACKAGES, ALL, [BAD_RICH]), {}, False, 1, "VULNERABLE: rich 15.0.0: PYSEC-1 = CVE-1; fixed in 16"),
        (Audit(PACKAGES, ALL, [BAD_RICH]), {"CVE-1": "rich"}, False, 0, "allowed: rich 15.0.0"),
        pytest.param(Audit(PACKAGES, ALL, [BAD_RICH]), {"CVE-1": "x"}, False, 1, "VULNERABLE", id="other-package"),
        (Audit(PACKAGES, {"rich"}), {}, False, 0, "!! audit: NOT AUDITED: 1 of 2 packages (prompt_toolkit)"),
        (Audit(PACKAGES, {"rich"}), {}, True, 2, "This does not say that they are clean"),
        (Audit(PACKAGES, {"rich"}, [BAD_RICH]), {}, False, 1, "NOT AUDITED: 1 of 2"),
        (Audit(PACKAGES, ALL), {"CVE-1": "rich"}, False, 0, "CVE-1 (rich) is not found any more; take it out"),
    ],
)
def test_exit_codes(
    audit: Audit,
    allowed: dict[str, str],
    is_required: bool,
    code: int,
    sentence: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """1 for a hole that nobody allowed, 2 for not knowing where one must know, 0 otherwise; each says what it is."""
    exit_code = tell(audit, allowed, is_required=is_required)
    printed = capsys.readouterr().out

    assert (code, True) == (exit_code, sentence in printed), printed
    assert ("no other known vulnerability" in printed) == (audit.left == [] and exit_code == 0)


def test_what_is_allowed_says_why_and_since_when(tmp_path: Path) -> None:
    """An entry without reason or date is none, and what lacks is named; the file of the checkout is in order."""
    file = tmp_path / "allowed.toml"
    file.write_text('[[allowed]]\nid = "CVE-1"\npackage = "Rich"\nreason = "not called"\ndate = 2026-11-22\n')
    whole = read_allowed(file)
    file.write_text('[[allowed]]\nid = "CVE-1"\npackage = "rich"\nreason = ""\n')

    assert {"CVE-1": "rich"} == whole
    with pytest.raises(SystemExit, match="entry 1: give reason, date"):
        read_allowed(file)
    read_allowed(Path(__file__).parents[2] / ".ci/audit-allowed.toml")


def test_what_is_looked_up() -> None:
    """What upbeat needs, and what that needs; not upbeat itself, whose name is another project's on the index."""
    names = set(installed())

    assert {"pydantic", "pydantic-core", "apsw", "wcwidth"} <= names
    assert set() == names & {"upbeat", "pytest", "ruff", "hatchling"}
