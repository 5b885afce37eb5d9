"""What was put before models and what became of it: counted over records, and compared with what was held out."""

from __future__ import annotations

from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stats_records import Body, body, call, held_out, prompt, report, shell, told

from upbeat.core.journal.fit import original_length, truncate_with_mark
from upbeat.core.journal.stats import (
    MAX_SESSIONS,
    MAX_TRACKED_INJECTIONS,
    MIN_OCCASIONS,
    DropCounts,
    HoldoutComparison,
    Rate,
    Significance,
    SourceStats,
    StatsCollector,
    stats_document,
    wilson_interval,
)


def only(*bodies: Body) -> SourceStats:
    """The one part that they tell of."""
    [found] = report(*bodies).sources
    return found


def used(*bodies: Body) -> tuple[int, int, int]:
    """Occasions at which files were named, at which one was opened, at which one was edited; with the context."""
    found = only(*bodies)
    return found.opened.injected.occasions, found.opened.injected.count, found.edited.injected.count


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
    """A named file that the agent opens before its user's next prompt but one."""
    assert (1, 1, 0) == used(told("a.py"), *after)


@pytest.mark.parametrize("after", NOT_USED.values(), ids=NOT_USED)
def test_what_does_not(after: list[Body]) -> None:
    """Another file, another session, a call that did not come through, too late."""
    assert (1, 0, 0) == used(told("a.py"), *after)


EDITED = {
    "edit": call("edit", "/repo/a.py"),
    "write": call("write", "/repo/a.py"),
    "the shell writes": shell("echo x > a.py"),
    "the shell appends": shell("echo x >> a.py"),
}


@pytest.mark.parametrize("edit", EDITED.values(), ids=EDITED)
def test_an_edit_is_both(edit: Body) -> None:
    """Who edits a file has opened it, whichever name it was told by."""
    assert [(1, 1, 1), (1, 1, 1)] == [used(told(name), edit) for name in ("a.py", "/repo/a.py")]


def test_a_folder_is_used_by_what_is_in_it() -> None:
    """Where a folder was named, any file in it counts, and no folder that begins alike."""
    assert (1, 1, 0) == used(told("specs/one/"), call("read", "/repo/specs/one/tasks.md"))
    assert (1, 0, 0) == used(told("specs/one/"), call("read", "/repo/specs/one-more/tasks.md"))


def test_the_call_itself_is_no_use() -> None:
    """What is said with a call about its own file is not used by that very call, and by the next one it is."""
    with_call = told("a.py", part="policy x") | {"event": "ToolStarting", "event_fields": {"call_id": "c"}}

    assert (1, 0, 0) == used(with_call, call("read", "/repo/a.py"))
    assert (1, 1, 0) == used(with_call, call("read", "/repo/a.py"), call("read", "/repo/a.py", call_id="d"))


def test_times_characters_and_rates() -> None:
    """How often, how much, a turn and a session; parts with most characters first."""
    found = report(
        told("a.py", text="x" * 30),
        call("read", "/repo/a.py"),
        told(text="y" * 100, part="workflow", session="t"),
        prompt("t"),
        body("SessionEnded", "u"),
    )

    assert (3, 3, 2, "2026-01-02") == (found.sessions, found.turns, found.turns_with_context, found.first[:10])
    assert [
        ("workflow", 1, 100, 33.3, 33.3, None),
        ("turn", 1, 30, 10.0, 10.0, 1.0),
    ] == [
        (one.part, one.times, one.chars, one.chars_per_turn, one.chars_per_session, one.calls_to_use)
        for one in found.sources
    ]


def test_two_parts_at_one_event() -> None:
    """Each has its own characters, also where the record was cut."""
    effects = [
        {"kind": "inject_context", "text": truncate_with_mark("x" * 5000, 4000), "part": "turn"},
        {"kind": "inject_context", "text": "y" * 10, "part": "rule r"},
        {"kind": "deny", "text": "no", "part": "rule r"},
    ]
    found = report(told("a.py", effects=effects, injected_chars=5010))

    assert [("turn", 1, 5000), ("rule r", 1, 10)] == [(one.part, one.times, one.chars) for one in found.sources]


def test_what_was_left_out_and_why() -> None:
    """For want of room, over the budget, duplicates, held out: counted for each part; a fault is none of them."""
    because = (
        "InjectContext: client limit reached; InjectContext: injection budget exhausted; InjectContext: duplicate; "
        "InjectContext: held out; Ask: overruled by Deny; TellUser: duplicate"
    )
    said = [{"component": "policy a", "decision": "dropped", "reason": because}]

    assert DropCounts(1, 1, 1, 1) == only(prompt() | {"explanations": said}).dropped


def test_with_and_without() -> None:
    """The same files are watched where the context was held out, and the rates stand side by side."""
    reads = [call("read", "/repo/a.py", call_id=str(number)) for number in range(3)]
    bodies = [told("a.py"), reads[0], prompt(), held_out("a.py"), reads[1], prompt(), prompt(), held_out("a.py")]
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
def test_what_can_be_said_of_a_difference(numbers: tuple[int, int, int, int, Significance]) -> None:
    """Nothing with too few of either; then whether the intervals overlap."""
    injected, of_them, without, of_those, verdict = numbers
    bodies: list[Body] = []
    names = (str(number) for number in count())
    for made, all_of_them, opened in ((told, injected, of_them), (held_out, without, of_those)):
        for number in range(all_of_them):
            session = next(names)
            bodies.append(made("a.py", session=session))
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
    """The numbers that the books have."""
    found = wilson_interval(*of)

    assert expected == (found.share, found.low, found.high)


@given(st.integers(0, 500), st.integers(0, 500))
def test_an_interval_holds_its_share(one: int, other: int) -> None:
    """Between 0 and 1, with the share inside, and narrower with more of the same."""
    few, many = (
        wilson_interval(min(one, other), max(one, other)),
        wilson_interval(10 * min(one, other), 10 * max(one, other)),
    )

    assert 0 <= few.low <= few.share <= few.high <= 1 or not few.occasions
    assert many.high - many.low <= few.high - few.low


def test_memory_has_an_end() -> None:
    """However many sessions and injections there are, each is counted, and only some are watched at a time."""
    stats = StatsCollector()
    for number in range(MAX_SESSIONS + 10):
        stats.add(told("a.py", session=str(number)))
    for _ in range(MAX_TRACKED_INJECTIONS + 10):
        stats.add(told("a.py") | {"event": "ToolFinished"})
    everything = MAX_SESSIONS + MAX_TRACKED_INJECTIONS + 20

    assert MAX_SESSIONS >= len(stats._sessions)
    assert MAX_TRACKED_INJECTIONS >= max(len(one.tracked) for one in stats._sessions.values())
    assert everything == stats.build_report(30).sources[0].opened.injected.occasions


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
NAMES = ("event", "session_id", "root", "event_fields", "explanations", "effects", "injected_chars", "at")
EVENT = st.sampled_from(["PromptSubmitted", "ToolFinished", "ToolStarting"])


@given(st.lists(st.fixed_dictionaries({"event": EVENT}, optional=dict.fromkeys(NAMES[1:], JSON)), max_size=5))
def test_any_record_can_be_counted(bodies: list[Body]) -> None:
    """What another version or a damaged file left in a record never ends the count."""
    found = report(told("a.py"), *bodies)

    assert "1.0" == stats_document(found)["schema_version"]


@given(st.text(max_size=300), st.integers(60, 200))
def test_the_length_of_what_was_cut_is_known(text: str, most: int) -> None:
    """A text that was cut for the journal tells how long it was."""
    shown = truncate_with_mark(text, most)

    assert shown == text or original_length(shown) == len(text)


def test_rates_without_occasions() -> None:
    """Nothing was counted: no share, and the widest interval."""
    assert Rate(0, 0, 0.0, 0.0, 1.0) == wilson_interval(0, 0)
