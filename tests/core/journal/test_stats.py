"""Injected context is counted over records, with its use, and compared with what was held out."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from journal_values import JSON

from upbeat.core.journal.codec import truncate_with_mark
from upbeat.core.journal.stats import (
    MAX_SESSIONS,
    MAX_TRACKED_INJECTIONS,
    MIN_OCCASIONS,
    DropCounts,
    HoldoutComparison,
    Significance,
    SourceStats,
    StatsCollector,
    StatsReport,
    stats_document,
    wilson_interval,
)

Body = dict[str, Any]


def body(event: str, session: str = "s", **more: Any) -> Body:
    """A record."""
    return {"at": "2026-01-02T03:04:05.678Z", "event": event, "session_id": session, "root": "/repo", **more}


def prompt(session: str = "s", origin: str = "user") -> Body:
    return body("PromptSubmitted", session, event_fields={"prompt": "p", "origin": origin})


def injected(*names: str, part: str = "turn", text: str = "words", session: str = "s", **more: Any) -> Body:
    """A prompt with which ``part`` injects ``text`` about ``names``."""
    explanations = [{"component": part, "decision": "inject", "inputs": {"names": list(names)} if names else {}}]
    effects = [{"kind": "inject_context", "text": text, "part": part}]
    return prompt(session) | {"explanations": explanations, "effects": effects, "injected_chars": len(text)} | more


def held_out(*names: str, part: str = "turn", session: str = "s") -> Body:
    """A prompt with which the same was held out."""
    left = {"component": part, "decision": "dropped", "reason": "InjectContext: held out"}
    return injected(*names, part=part, session=session, effects=[], injected_chars=0) | {
        "explanations": [*injected(*names, part=part)["explanations"], left]
    }


def call(act: str = "read", *paths: str, session: str = "s", **more: Any) -> Body:
    """A call that has ended."""
    about = {"call_id": "c", "tool": "T", "tool_kind": act, "paths": list(paths), "has_failed": False} | more
    return body("ToolFinished", session, event_fields=about)


def shell(command: str, **more: Any) -> Body:
    return call("shell", command=command, **more)


def report(*bodies: Body) -> StatsReport:
    """The report on records."""
    stats = StatsCollector()
    for record in bodies:
        stats.add(record)
    return stats.build_report(30)


def only(*bodies: Body) -> SourceStats:
    """The statistics of the only source."""
    [source] = report(*bodies).sources
    return source


def usage(*bodies: Body) -> tuple[int, int, int]:
    """Occasions at which files were named, at which one was opened, at which one was edited; with the context."""
    source = only(*bodies)
    return source.opened.injected.occasions, source.opened.injected.count, source.edited.injected.count


USED = {
    "read": [call("read", "/repo/a.py")],
    "after another call": [call("read", "/repo/b.py"), call("read", "/repo/a.py")],
    "after the next prompt": [prompt(), call("read", "/repo/a.py")],
    "a prompt of a task is none of the user's": [
        prompt(),
        prompt(origin="task_notification"),
        call("read", "/repo/a.py"),
    ],
    "by the shell": [shell("sed -n 1,20p a.py")],
    "by the shell, from a folder": [shell("cd x && cat ../a.py")],
    "by a shell line that failed": [shell("grep nothing a.py", has_failed=True)],
    "by the shell, in bash -c": [shell("bash -lc 'cat /repo/a.py'")],
}
NOT_USED = {
    "nothing": [],
    "another file": [call("read", "/repo/b.py"), call("read", "/elsewhere/a.py")],
    "another file of the same name": [shell("cat x/a.py")],
    "after the prompt after that": [prompt(), prompt(), call("read", "/repo/a.py")],
    "in another session": [call("read", "/repo/a.py", session="t")],
    "by a call that failed": [call("read", "/repo/a.py", has_failed=True)],
    "by a call that was refused": [call("read", "/repo/a.py", was_rejected=True)],
    "by a call that only began": [call("read", "/repo/a.py") | {"event": "ToolStarting"}],
    "in a message": [shell('git commit -m "fix a.py and others"')],
    "by a tool that opens nothing": [call("fetch", "/repo/a.py")],
}


@pytest.mark.parametrize("after", USED.values(), ids=USED)
def test_what_counts_as_opened(after: list[Body]) -> None:
    """A named file counts if the agent opens it within the next two prompts."""
    assert (1, 1, 0) == usage(injected("a.py"), *after)


@pytest.mark.parametrize("after", NOT_USED.values(), ids=NOT_USED)
def test_what_does_not_count_as_opened(after: list[Body]) -> None:
    """Another file, another session, a call that failed, and a call that comes too late do not count."""
    assert (1, 0, 0) == usage(injected("a.py"), *after)


EDITED = {
    "edit": call("edit", "/repo/a.py"),
    "write": call("write", "/repo/a.py"),
    "the shell writes": shell("echo x > a.py"),
    "the shell appends": shell("echo x >> a.py"),
}


@pytest.mark.parametrize("edit", EDITED.values(), ids=EDITED)
def test_an_edit_counts_as_opened_and_edited(edit: Body) -> None:
    """An edit of a named file counts as opened and edited, for relative and absolute names."""
    assert [(1, 1, 1), (1, 1, 1)] == [usage(injected(name), edit) for name in ("a.py", "/repo/a.py")]


def test_a_folder_is_used_by_what_is_in_it() -> None:
    """Any file in a named folder counts, and a folder with a longer name does not."""
    assert (1, 1, 0) == usage(injected("specs/one/"), call("read", "/repo/specs/one/tasks.md"))
    assert (1, 0, 0) == usage(injected("specs/one/"), call("read", "/repo/specs/one-more/tasks.md"))


def test_the_call_of_the_injection_does_not_count() -> None:
    """Context injected with a call is not used by that call, but may be by the next one."""
    with_call = injected("a.py", part="policy x") | {"event": "ToolStarting", "event_fields": {"call_id": "c"}}

    assert (1, 0, 0) == usage(with_call, call("read", "/repo/a.py"))
    assert (1, 1, 0) == usage(with_call, call("read", "/repo/a.py"), call("read", "/repo/a.py", call_id="d"))


def test_times_characters_and_rates() -> None:
    """Each part has its times and characters, per turn and per session; the largest part comes first."""
    found = report(
        injected("a.py", text="x" * 30),
        call("read", "/repo/a.py"),
        injected(text="y" * 100, part="workflow", session="t"),
        prompt("t"),
        body("SessionEnded", "u"),
    )

    assert (3, 3, 2, "2026-01-02") == (found.sessions, found.turns, found.turns_with_context, found.first[:10])
    assert [("workflow", 1, 100, 33.3, 33.3, None), ("turn", 1, 30, 10.0, 10.0, 1.0)] == [
        (one.part, one.times, one.chars, one.chars_per_turn, one.chars_per_session, one.calls_to_use)
        for one in found.sources
    ]


def test_two_parts_at_one_event() -> None:
    """Each part has its own characters, also if its text was cut in the record."""
    effects = [
        {"kind": "inject_context", "text": truncate_with_mark("x" * 5000, 4000), "part": "turn"},
        {"kind": "inject_context", "text": "y" * 10, "part": "rule r"},
        {"kind": "deny", "text": "no", "part": "rule r"},
    ]
    found = report(injected("a.py", effects=effects, injected_chars=5010))

    assert [("turn", 1, 5000), ("rule r", 1, 10)] == [(one.part, one.times, one.chars) for one in found.sources]


def test_drop_reasons() -> None:
    """Dropped context is counted by reason; other dropped effects are not."""
    because = (
        "InjectContext: client limit reached; InjectContext: injection budget exhausted; InjectContext: duplicate; "
        "InjectContext: held out; Ask: overruled by Deny; TellUser: duplicate"
    )
    said = [{"component": "policy a", "decision": "dropped", "reason": because}]

    assert DropCounts(1, 1, 1, 1) == only(prompt() | {"explanations": said}).dropped


def test_held_out_context() -> None:
    """The same files are tracked where the context was held out, and the rates are compared."""
    reads = [call("read", "/repo/a.py", call_id=str(number)) for number in range(3)]
    bodies = [injected("a.py"), reads[0], prompt(), held_out("a.py"), reads[1], prompt(), prompt(), held_out("a.py")]
    found = only(*bodies)

    assert HoldoutComparison(wilson_interval(1, 1), wilson_interval(1, 2), Significance.TOO_FEW) == found.opened
    assert (1, 2) == (found.times, found.dropped.held_out)


VERDICTS = {
    "nothing was held out": (MIN_OCCASIONS, MIN_OCCASIONS, 0, 0, Significance.NO_HOLDOUT),
    "one too few": (MIN_OCCASIONS, MIN_OCCASIONS, MIN_OCCASIONS - 1, 0, Significance.TOO_FEW),
    "the same": (MIN_OCCASIONS, 10, MIN_OCCASIONS, 10, Significance.NOT_SIGNIFICANT),
    "clearly more": (MIN_OCCASIONS, MIN_OCCASIONS, MIN_OCCASIONS, 0, Significance.SIGNIFICANT),
    "clearly less": (MIN_OCCASIONS, 0, MIN_OCCASIONS, MIN_OCCASIONS, Significance.SIGNIFICANT),
}


@pytest.mark.parametrize("numbers", VERDICTS.values(), ids=VERDICTS)
def test_the_significance_of_a_difference(numbers: tuple[int, int, int, int, Significance]) -> None:
    """Too few occasions allow no comparison; otherwise it depends on whether the intervals overlap."""
    with_context, opened_with, without_context, opened_without, verdict = numbers
    bodies: list[Body] = []
    sides = ((injected, with_context, opened_with), (held_out, without_context, opened_without))
    for inject, total, opened in sides:
        for number in range(total):
            session = f"{inject.__name__} {number}"
            bodies.append(inject("a.py", session=session))
            bodies += [call("read", "/repo/a.py", session=session)] * (number < opened)

    assert verdict is report(*bodies).holdout.opened.verdict


@pytest.mark.parametrize(
    ("of", "expected"),
    [
        ((0, 0), (0.0, 0.0, 1.0)),
        ((0, 10), (0.0, 0.0, 0.2775)),
        ((10, 10), (1.0, 0.7225, 1.0)),
        ((5, 10), (0.5, 0.2366, 0.7634)),
        ((50, 100), (0.5, 0.4038, 0.5962)),
    ],
)
def test_intervals_of_wilson(of: tuple[int, int], expected: tuple[float, float, float]) -> None:
    """The intervals have the published values."""
    found = wilson_interval(*of)

    assert expected == (found.share, found.low, found.high)


@given(st.integers(0, 500), st.integers(0, 500))
def test_an_interval_contains_its_share(one: int, other: int) -> None:
    """An interval lies between 0 and 1, contains the share, and is narrower with more occasions."""
    few, many = (
        wilson_interval(min(one, other), max(one, other)),
        wilson_interval(10 * min(one, other), 10 * max(one, other)),
    )

    assert 0 <= few.low <= few.share <= few.high <= 1 or not few.occasions
    assert many.high - many.low <= few.high - few.low


def test_memory_is_bounded() -> None:
    """Every injection is counted, and only a limited number is tracked at a time."""
    stats = StatsCollector()
    for number in range(MAX_SESSIONS + 10):
        stats.add(injected("a.py", session=str(number)))
    for _ in range(MAX_TRACKED_INJECTIONS + 10):
        stats.add(injected("a.py") | {"event": "ToolFinished"})
    everything = MAX_SESSIONS + MAX_TRACKED_INJECTIONS + 20

    assert MAX_SESSIONS >= len(stats._tracked)
    assert MAX_TRACKED_INJECTIONS >= max(map(len, stats._tracked.values()))
    assert everything == stats.build_report(30).sources[0].opened.injected.occasions


NAMES = ("event", "session_id", "root", "event_fields", "explanations", "effects", "injected_chars", "at")
EVENT = st.sampled_from(["PromptSubmitted", "ToolFinished", "ToolStarting"])


@given(st.lists(st.fixed_dictionaries({"event": EVENT}, optional=dict.fromkeys(NAMES[1:], JSON)), max_size=5))
def test_any_record_can_be_counted(bodies: list[Body]) -> None:
    """A record in any form is counted without an error."""
    found = report(injected("a.py"), *bodies)

    assert "1.1" == stats_document(found)["schema_version"]
