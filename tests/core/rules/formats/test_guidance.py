"""Rules of other programs are for the same files as in their program."""

from __future__ import annotations

import pytest

from upbeat.core.rules.formats.guidance import GUIDANCE_FORMATS, Guidance, parse_guidance


def of(kind: str, text: str, base: str = "") -> Guidance | None:
    return parse_guidance(
        text, GUIDANCE_FORMATS[kind] if kind != "copilot file" else None, "r.md", "/repo/r.md", "d", base
    )


ABOUT = [
    ("cursor", "---\ndescription: x\nglobs: **/*.ts, *.tsx\nalwaysApply: false\n---\nWords.", "src/a.ts"),
    ("cursor", "---\nglobs: [src/**, lib/**]\n---\nWords.", "lib/a.py"),
    ("cursor", "---\nglobs:\nalwaysApply: true\n---\nWords.", "a.py"),
    ("claude", '---\npaths:\n  - "src/**/*.{ts,tsx}"\n---\nWords.', "src/x/a.tsx"),
    ("claude", "Words.", "a.py"),
    ("copilot", '---\napplyTo: "**/*.ts,**/*.tsx"\n---\nWords.', "a/b.ts"),
    ("copilot", "---\napplyTo: **\n---\nWords.", "a"),
    ("copilot file", "Words.", "a.py"),
]
ABOUT_NOT = [
    ("cursor", "---\nglobs: *.ts\n---\nWords.", "a.py"),
    ("claude", "---\npaths: src/**\n---\nWords.", "lib/a.py"),
    ("copilot", "---\napplyTo: docs/**\n---\nWords.", "a.py"),
]
NONE = [
    ("cursor", "---\ndescription: only when asked for\nalwaysApply: false\n---\nWords."),
    ("cursor", "Words without front matter."),
    ("copilot", "---\ndescription: x\n---\nWords."),
    ("claude", "---\npaths: src/**\n---\n"),
    ("claude", "---\npaths: '{1..99999}'\n---\nWords."),
]


@pytest.mark.parametrize(("kind", "text", "path"), ABOUT)
def test_is_about(kind: str, text: str, path: str) -> None:
    """The rule applies to the file."""
    rule = of(kind, text)

    assert rule is not None
    assert (True, "Words.") == (rule.applies_to(path), rule.text)


@pytest.mark.parametrize(("kind", "text", "path"), ABOUT_NOT)
def test_is_not_about(kind: str, text: str, path: str) -> None:
    """The rule does not apply to the file."""
    rule = of(kind, text)

    assert rule is not None
    assert not rule.applies_to(path)


@pytest.mark.parametrize(("kind", "text"), NONE)
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
