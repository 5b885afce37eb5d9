"""What a prompt names: files, symbols, errors and stack frames."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from case_files import read_groups
from hypothesis import given
from hypothesis import strategies as st

from upbeat.core.prompt import entities
from upbeat.core.prompt.analysis import Targets
from upbeat.core.prompt.quoted_spans import SpanKind, mask_prompt

CASES = read_groups(Path(__file__).with_name("entities_cases.tsv"))
TRACES = {language: (text, frames) for language, text, *frames in CASES["trace"]}
FRAME_PIECES = ('  File "a", line 1', "\tat a.b(", "#0 ", " at ", "x.go:1", "(", ":", "1", "\n")


def targets(text: str) -> Targets:
    return entities.collect_targets(entities.find_mentions(mask_prompt(text)), text)


@pytest.mark.parametrize("kind", ["file", "symbol", "error"])
def test_targets(kind: str) -> None:
    """Files are kept as written without lines, symbols have no call brackets, errors are names and messages."""
    named = {text: getattr(targets(text), f"{kind}s") for text, *_ in CASES[kind]}

    assert {text: tuple(names) for text, *names in CASES[kind]} == named


def test_targets_are_true_when_there_are_any() -> None:
    """Targets are false only when nothing is named."""
    assert [bool(targets(text)) for text in ("a.py", "a_b", "KeyError", "hello")] == [True, True, True, False]


def test_a_message_contains_mentions() -> None:
    """A file and a symbol in an error message are named, too."""
    assert targets("TypeError: load_all() failed in app.py") == Targets(
        ("app.py",), ("load_all",), ("TypeError", "TypeError: load_all() failed in app.py")
    )


def test_targets_are_bounded() -> None:
    """There are at most ten names of a kind, each of at most 200 characters."""
    many = targets(" ".join(f"file_{i}.py name_{i}() Nr{i}Error" for i in range(11)))
    assert [len(many.files), len(many.symbols), len(many.errors)] == [10, 10, 10]
    assert many.files[-1] == "file_9.py"
    assert [len(name) for name in targets("Error: " + "x" * 300).errors] == [200]


def test_mentions_have_the_kind_of_their_span() -> None:
    """Mentions have offsets, and the kind of the span that contains them."""
    assert entities.find_mentions(mask_prompt('a.py "b.py" `c_d`\n```\ne.py\n```')) == (
        entities.Mention(entities.MentionKind.FILE, "a.py", 0, 4, 4),
        entities.Mention(entities.MentionKind.FILE, "b.py", 6, 10, 4, SpanKind.QUOTE),
        entities.Mention(entities.MentionKind.SYMBOL, "c_d", 12, 17, 3, SpanKind.INLINE),
        entities.Mention(entities.MentionKind.FILE, "e.py", 22, 26, 4, SpanKind.FENCE),
    )


@pytest.mark.parametrize(("run", "after", "kind", "name", "length", "weight"), CASES["shape"])
def test_recognize_name(run: str, after: str, kind: str, name: str, length: str, weight: str) -> None:
    """The shape of a run tells its kind and weight; Chinese prose, closing marks and @ are not part of the name."""
    assert entities.recognize_name(run, after) == entities.RecognizedName(
        entities.MentionKind(kind), name, int(length), int(weight)
    )


def test_ordinary_words_name_nothing() -> None:
    """Ordinary words, abbreviations, products and domains are no names."""
    runs = [(run, after) for after, run in [*CASES["nothing"], ("()", "")]]

    assert {} == {run: name for run, after in runs if (name := entities.recognize_name(run, after))}


def test_identifier_weight() -> None:
    """The weight is 4 for what nobody writes in prose, and 2 for CamelCase, which brands use, too."""
    assert dict(CASES["identifier"]) == {word: str(entities.identifier_weight(word)) for word, _ in CASES["identifier"]}


@pytest.mark.parametrize("language", TRACES)
def test_stack_frames(language: str) -> None:
    """The innermost frame of a trace comes first, and a printed frame is parsed again."""
    text, expected = TRACES[language]
    frames = entities.parse_stack_frames(text)

    assert expected == [str(frame) for frame in frames]
    assert frames == entities.parse_stack_frames("\n".join(expected))
    assert tuple(expected) == targets(text).stack_frames


def test_prose_has_no_stack_frames() -> None:
    """Prose and code have no frames."""
    texts = ["", *(text for (text,) in CASES["no trace"])]

    assert {} == {text: frames for text in texts if (frames := entities.parse_stack_frames(text))}


@given(st.one_of(st.text(max_size=400), st.lists(st.sampled_from(FRAME_PIECES), max_size=60).map("".join)))
def test_any_text_has_bounded_frames(text: str) -> None:
    """Any text gives frames with a path and no negative line, at most ``MAX_FRAMES``."""
    frames = entities.parse_stack_frames(text)

    assert all(isinstance(frame, entities.StackFrame) and frame.path and frame.line >= 0 for frame in frames)
    assert len(frames) <= entities.MAX_FRAMES


@pytest.mark.parametrize("piece", ["at " * 300, "#0 in " * 200, "a::" * 300, "(" * 900, "\\" * 900, "/a" * 450])
def test_stack_frames_take_linear_time(piece: str) -> None:
    """Two thousand hostile lines are parsed in well under a second."""
    started = time.process_time()
    entities.parse_stack_frames(("    at " + piece + "\n") * 2000)

    assert time.process_time() - started < 2
