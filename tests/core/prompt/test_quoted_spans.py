"""Which parts of a prompt are the user's own prose."""

from __future__ import annotations

from pathlib import Path

import pytest
from case_files import read_groups
from hypothesis import given
from hypothesis import strategies as st

from upbeat.core.prompt.quoted_spans import (
    HEAD_LENGTH,
    TAIL_LENGTH,
    MaskedPrompt,
    MaskedSpan,
    SpanKind,
    clip_prompt,
    mask_prompt,
)

CASES = read_groups(Path(__file__).with_name("quoted_spans_cases.tsv"))


def test_prose_stays() -> None:
    """Prose has no spans: apostrophes, open quotations, words that code uses, too."""
    texts = [text for (text,) in CASES["prose"]]

    assert {text: MaskedPrompt(text, text, ()) for text in texts} == {text: mask_prompt(text) for text in texts}


def test_spans() -> None:
    """Inline code, quotations, quoted lines, addresses and fences are masked; an open fence reaches to the end."""
    assert {text: expected for text, *expected in CASES["spans"]} == {
        text: [part for span in mask_prompt(text).spans for part in (span.kind.value, text[span.start : span.end])]
        for text, *_ in CASES["spans"]
    }


@pytest.mark.parametrize("kind", [SpanKind.LOG, SpanKind.SOURCE])
def test_pasted_lines(kind: SpanKind) -> None:
    """A line that a program printed, and a line of code without a fence, is masked, and only that line."""
    lines = [line for (line,) in CASES[kind]]

    assert {line: (MaskedSpan(kind, 5, 5 + len(line)),) for line in lines} == {
        line: mask_prompt(f"look\n{line}\nfix it").spans for line in lines
    }


def test_masks_the_lines_of_a_diff() -> None:
    """Changed lines after the header of a hunk belong to the diff; lists elsewhere are prose."""
    text = "- mine\n@@ -1 +1 @@\n-fix\n+change\n same\nmine\n- mine"
    assert mask_prompt("diff --git a b\n-fix\nmine").prose == "              \n    \nmine"
    assert mask_prompt(text).prose == "- mine\n           \n    \n       \n     \nmine\n- mine"


def test_keeps_line_ends() -> None:
    """Line ends stay, so that a masked line still ends a clause."""
    assert mask_prompt("a “b\nc” d").prose == "a   \n   d"


def test_clip_keeps_short_prompts() -> None:
    """A prompt of the maximum length stays unchanged."""
    text = "x" * (HEAD_LENGTH + TAIL_LENGTH)
    assert clip_prompt(text) == text


@pytest.mark.parametrize(
    ("text", "joint"),
    [
        ("a" * HEAD_LENGTH + "b" + "c" * TAIL_LENGTH, "\n"),
        ("```" + "a" * HEAD_LENGTH + "```" + "c" * TAIL_LENGTH, "\n\n```\n"),
        ("```" + "a" * HEAD_LENGTH + "c" * TAIL_LENGTH, "\n\n```\n\n```\n"),
        ("a" * HEAD_LENGTH + "```" + "c" * TAIL_LENGTH, "\n\n```\n"),
        ("a" * HEAD_LENGTH + "b" + "c" * (TAIL_LENGTH - 3) + "```", "\n"),
        ("``` ```" + "a" * HEAD_LENGTH + "c" * TAIL_LENGTH, "\n"),
    ],
)
def test_clip_keeps_both_ends_and_their_fences(text: str, joint: str) -> None:
    """Both ends are kept; a fence that the cut leaves open is closed, one that reaches into the end is reopened."""
    assert clip_prompt(text) == text[:HEAD_LENGTH] + joint + text[-TAIL_LENGTH:]


def test_clip_makes_text_printable() -> None:
    """Lone surrogates and NUL are replaced, character for character."""
    assert clip_prompt("a\ud800b\0c") == "a?b c"


@given(st.text(st.sampled_from("a`~\"'“”「」>+-@ \n.:\ud800\0修/"), max_size=80))
def test_prose_has_the_offsets_of_the_text(text: str) -> None:
    """The prose is as long as the text, equal outside the spans and blank inside; spans are in order."""
    text = clip_prompt(text)
    masked = mask_prompt(text)
    assert len(masked.prose) == len(text)
    done = 0
    for span in masked.spans:
        assert done <= span.start < span.end <= len(text)
        assert masked.prose[done : span.start] == text[done : span.start]
        assert masked.prose[span.start : span.end].strip() == ""
        done = span.end
    assert masked.prose[done:] == text[done:]
