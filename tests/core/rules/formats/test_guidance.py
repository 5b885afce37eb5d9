"""Rules of other programs are for the same files as in their program."""

from __future__ import annotations

from pathlib import Path

import pytest
from case_files import read_json_groups

from upbeat.core.rules.formats.guidance import GUIDANCE_FORMATS, Guidance, parse_guidance

CASES = read_json_groups(Path(__file__).with_name("cases.jsonl"))


def of(kind: str, text: str, base: str = "") -> Guidance | None:
    return parse_guidance(
        text, GUIDANCE_FORMATS[kind] if kind != "copilot file" else None, "r.md", "/repo/r.md", "d", base
    )


@pytest.mark.parametrize(("kind", "text", "path"), CASES["about"])
def test_is_about(kind: str, text: str, path: str) -> None:
    """The rule applies to the file."""
    rule = of(kind, text)

    assert rule is not None
    assert (True, "Words.") == (rule.applies_to(path), rule.text)


@pytest.mark.parametrize(("kind", "text", "path"), CASES["not about"])
def test_is_not_about(kind: str, text: str, path: str) -> None:
    """The rule does not apply to the file."""
    rule = of(kind, text)

    assert rule is not None
    assert not rule.applies_to(path)


@pytest.mark.parametrize(("kind", "text"), CASES["ignored"])
def test_none(kind: str, text: str) -> None:
    """A rule that its program shows only on request, that is for no file or has no text is ignored."""
    assert of(kind, text) is None


def test_globs_are_relative_to_the_rules_folder() -> None:
    """A rule in a folder is for the files of that folder."""
    rule = of("cursor", "---\nglobs: *.ts\n---\nWords.", base="web/app")

    assert rule is not None
    assert (2, [True, False, False]) == (
        rule.depth,
        [rule.applies_to(path) for path in ("web/app/src/a.ts", "web/a.ts", "web/application/a.ts")],
    )
