"""What in a prompt speaks for the user."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upbeat.core.prompt.quoted_spans import HEAD_LENGTH, TAIL_LENGTH, MaskedSpan, SpanKind, clip_prompt, mask_prompt

OWN = [
    "don't touch the user's files, it's fine",
    "rock 'n roll",
    '5" pipes and 6 feet',
    'an open " quotation',
    "an open 「 quotation",
    "one ` backtick",
    "two\n`\nlines`",
    "x > y and a -> b",
    "class starts at nine: be there",
    "from here import nothing is duty-free",
    "return to sender",
    "if (and only if) you want",
    "error handling",
    "$ 5 for lunch",
    "index of refraction",
    "--- ",
    "it works (mostly)",
    "- a list item\n+ another one",
]

ASIDE = [
    ("say `fix` now", [(SpanKind.INLINE, "`fix`")]),
    ('say "fix it" now', [(SpanKind.QUOTE, '"fix it"')]),
    ("say 'fix it' now", [(SpanKind.QUOTE, "'fix it'")]),
    ("say 'don't fix' now", [(SpanKind.QUOTE, "'don't fix'")]),
    ("say “fix\nit” now", [(SpanKind.QUOTE, "“fix\nit”")]),
    ("say ‘fix it’ now", [(SpanKind.QUOTE, "‘fix it’")]),
    ("说「修復」和『函數』", [(SpanKind.QUOTE, "「修復」"), (SpanKind.QUOTE, "『函數』")]),
    ("读《重构》吧", [(SpanKind.QUOTE, "《重构》")]),
    ("dire «réparer» ici", [(SpanKind.QUOTE, "«réparer»")]),
    ("see https://a.b/fix?x=1, ok", [(SpanKind.URL, "https://a.b/fix?x=1,")]),
    ("看www.fix.com。好", [(SpanKind.URL, "www.fix.com")]),
    ("git://x/y 和 https://a.b/修复。好", [(SpanKind.URL, "git://x/y"), (SpanKind.URL, "https://a.b/修复")]),
    ("> fix it\nok", [(SpanKind.QUOTE, "> fix it")]),
    ("ok\n  > fix\n>\nit", [(SpanKind.QUOTE, "  > fix"), (SpanKind.QUOTE, ">")]),
]

FENCED = [
    ("a\n```py\nfix()\n```\nb", ["```py\nfix()\n```"]),
    ("a ```fix()``` b", ["```fix()```"]),
    ("a\n```\nfix()", ["```\nfix()"]),
    ("a\n~~~\nfix `x`\n~~~\nb", ["~~~\nfix `x`\n~~~"]),
    ("````\n```\nfix\n```\n````\nb", ["````\n```\nfix\n```\n````"]),
    ("```\n~~~\n```\nfix\n", ["```\n~~~\n```"]),
    ("```a``` and ```b```", ["```a```", "```b```"]),
]

PRINTED = [
    "Traceback (most recent call last):",
    '  File "x.py", line 3, in f',
    "    at render (src/app.js:10:5)",
    "   at Foo.Bar(String s) in C:\\a\\b.cs:12",
    "Caused by: java.io.IOException: gone",
    'Exception in thread "main" java.lang.Error',
    "KeyError: 'fix'",
    "java.lang.NullPointerException: fix",
    "TypeError [ERR_INVALID]: fix",
    "DeprecationWarning: fix",
    "error[E0382]: use of moved value",
    "error TS2345: fix",
    "Error: fix",
    "fatal: not a git repository",
    "panic: runtime error",
    "npm ERR! code ELIFECYCLE",
    "npm error code 1",
    "E   assert 1 == 2",
    "FAILED tests/test_a.py::test_fix - assert",
    "[ERROR] fix",
    "[WARN] fix",
    "WARNING  [root] fix",
    "2024-05-01 10:00:01 fix",
    "[2024-05-01T10:00:01Z] fix",
    "goroutine 1 [running]:",
    "thread 'main' panicked at src/main.rs:2",
    "diff --git a/x b/x",
    "index 0a1b2c3..4d5e6f7 100644",
    "+++ b/x.py",
    "--- a/x.py",
    "@@ -1,3 +1,4 @@ def fix():",
]

SOURCE = [
    "def fix(a):",
    "    async def fix(a):",
    "class Fix(Base):",
    "class Fix {",
    "class Fix:",
    "from fix import me",
    "import fix",
    "import { fix } from './fix'",
    "export const fix = 1",
    "let fix: number",
    "export async function fix(",
    "func (f *Fix) Do(x int) {",
    "pub fn fix(x: i32)",
    "public static void fix(String a) {",
    "#include <fix.h>",
    "return fix(a);",
    "if (fix) {",
    "});",
    "self.fix = fix(1)",
    "a += fix;",
    "SELECT fix FROM bugs;",
    "$ make fix",
    "<Fix prop={1}>",
    "</div>",
    "@fix(",
]


@pytest.mark.parametrize("text", OWN)
def test_masks_nothing(text: str) -> None:
    """mask leaves prose alone: apostrophes, open quotations, words that code uses too."""
    assert mask_prompt(text).spans == ()
    assert mask_prompt(text).prose == text


@pytest.mark.parametrize(("text", "asides"), ASIDE)
def test_masks_asides(text: str, asides: list[tuple[SpanKind, str]]) -> None:
    """mask finds inline code, quotations, quoted lines and addresses."""
    assert [(span.kind, text[span.start : span.end]) for span in mask_prompt(text).spans] == asides


@pytest.mark.parametrize(("text", "fences"), FENCED)
def test_masks_fences(text: str, fences: list[str]) -> None:
    """mask finds fenced blocks; a fence closes with at least as many of the same sign, or at the end."""
    spans = mask_prompt(text).spans
    assert [text[span.start : span.end] for span in spans] == fences
    assert {span.kind for span in spans} == {SpanKind.FENCE}


@pytest.mark.parametrize("line", PRINTED)
def test_masks_printed_lines(line: str) -> None:
    """mask finds what a machine printed, and only the line it is on."""
    assert mask_prompt(f"look\n{line}\nfix it").spans == (MaskedSpan(SpanKind.LOG, 5, 5 + len(line)),)


@pytest.mark.parametrize("line", SOURCE)
def test_masks_source_lines(line: str) -> None:
    """mask finds lines of code without a fence."""
    assert mask_prompt(f"look\n{line}\nfix it").spans == (MaskedSpan(SpanKind.SOURCE, 5, 5 + len(line)),)


def test_masks_the_lines_of_a_diff() -> None:
    """mask takes the changed lines after a hunk's head for the diff's, and lists elsewhere for prose."""
    text = "- mine\n@@ -1 +1 @@\n-fix\n+mend\n same\nmine\n- mine"
    assert mask_prompt("diff --git a b\n-fix\nmine").prose == "              \n    \nmine"
    assert mask_prompt(text).prose == "- mine\n           \n    \n     \n     \nmine\n- mine"


def test_keeps_line_ends() -> None:
    """mask keeps line ends, so that a masked line still ends a clause."""
    assert mask_prompt("a “b\nc” d").prose == "a   \n   d"


def test_clip_reads_short_prompts_whole() -> None:
    """clip leaves a prompt of the most that is read as it is."""
    text = "x" * (HEAD_LENGTH + TAIL_LENGTH)
    assert clip_prompt(text) == text


def test_clip_reads_both_ends() -> None:
    """clip reads the beginning and the end of a long prompt."""
    text = "a" * HEAD_LENGTH + "b" + "c" * TAIL_LENGTH
    assert clip_prompt(text) == "a" * HEAD_LENGTH + "\n" + "c" * TAIL_LENGTH


@pytest.mark.parametrize(
    ("text", "joint"),
    [
        ("```" + "a" * HEAD_LENGTH + "```" + "c" * TAIL_LENGTH, "\n\n```\n"),
        ("```" + "a" * HEAD_LENGTH + "c" * TAIL_LENGTH, "\n\n```\n\n```\n"),
        ("a" * HEAD_LENGTH + "```" + "c" * TAIL_LENGTH, "\n\n```\n"),
        ("a" * HEAD_LENGTH + "b" + "c" * (TAIL_LENGTH - 3) + "```", "\n"),
        ("``` ```" + "a" * HEAD_LENGTH + "c" * TAIL_LENGTH, "\n"),
    ],
)
def test_clip_closes_and_opens_fences(text: str, joint: str) -> None:
    """clip leaves neither half of a fence that it cuts behind."""
    assert clip_prompt(text) == text[:HEAD_LENGTH] + joint + text[-TAIL_LENGTH:]


def test_clip_makes_text_printable() -> None:
    """clip takes out what cannot be written as UTF-8, and NUL, character for character."""
    assert clip_prompt("a\ud800b\0c") == "a?b c"


@given(st.text(st.sampled_from("a`~\"'“”「」>+-@ \n.:\ud800\0修/"), max_size=80))
def test_prose_lies_under_text(text: str) -> None:
    """mask gives prose as long as the text, equal outside its spans, blank inside, and spans in order."""
    text = clip_prompt(text)
    masked = mask_prompt(text)
    assert len(masked.prose) == len(text)
    at = 0
    for span in masked.spans:
        assert at <= span.start < span.end <= len(text)
        assert masked.prose[at : span.start] == text[at : span.start]
        assert masked.prose[span.start : span.end].strip() == ""
        at = span.end
    assert masked.prose[at:] == text[at:]
