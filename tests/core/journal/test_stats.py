"""What was put before models and what became of it: counted over records, and compared with what was held out."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upbeat.core.journal.fit import cut, whole_length
from upbeat.core.journal.stats import (
    LEAST,
    MAX_SESSIONS,
    MAX_WATCHED,
    Comparison,
    Injector,
    LeftOut,
    Rate,
    Report,
    Stats,
    Verdict,
    document,
    wilson,
)
from upbeat.core.journal.stats_texts import TEXTS, lines

Body = dict[str, Any]
ROOT = "/repo"


def body(event: str, session: str = "s", **more: Any) -> Body:
    """A record."""
    return {"at": "2026-01-02T03:04:05.678Z", "event": event, "session_id": session, "root": ROOT, **more}


def prompt(session: str = "s", origin: str = "user") -> Body:
    return body("PromptSubmitted", session, about={"prompt": "p", "origin": origin})


def told(*names: str, part: str = "turn", text: str = "words", session: str = "s", **more: Any) -> Body:
    """A prompt with which ``part`` injects ``text`` about ``names``."""
    said = [{"part": part, "decided": "inject", "looked_at": {"names": list(names)} if names else {}}]
    effects = [{"kind": "inject", "text": text, "part": part}]
    return prompt(session) | {"said": said, "effects": effects, "injected_chars": len(text)} | more


def held_out(*names: str, part: str = "turn", session: str = "s") -> Body:
    """A prompt with which the same was held out."""
    left = {"part": part, "decided": "left out", "because": "Inject: held out"}
    return told(*names, part=part, session=session, effects=[], injected_chars=0) | {
        "said": [*told(*names, part=part)["said"], left]
    }


def call(act: str = "read", *paths: str, session: str = "s", **more: Any) -> Body:
    """A call that has ended."""
    about = {"call_id": "c", "tool": "T", "act": act, "paths": list(paths), "failed": False} | more
    return body("ToolFinished", session, about=about)


def shell(command: str, **more: Any) -> Body:
    return call("shell", command=command, **more)


def report(*bodies: Body) -> Report:
    """The report on records."""
    stats = Stats()
    for one in bodies:
        stats.take(one)
    return stats.report(30)


def only(*bodies: Body) -> Injector:
    """The one part that they tell of."""
    [found] = report(*bodies).injectors
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
    "by a shell line that failed": [shell("grep nothing a.py", failed=True)],
    "by the shell, in bash -c": [shell("bash -lc 'cat /repo/a.py'")],
}
NOT_USED = {
    "nothing": [],
    "another file": [call("read", "/repo/b.py"), call("read", "/elsewhere/a.py")],
    "another file of the same name": [shell("cat x/a.py")],
    "after the prompt after that": [prompt(), prompt(), call("read", "/repo/a.py")],
    "in another session": [call("read", "/repo/a.py", session="t")],
    "by a call that failed": [call("read", "/repo/a.py", failed=True)],
    "by a call that was refused": [call("read", "/repo/a.py", refused=True)],
    "by a call that only began": [call("read", "/repo/a.py") | {"event": "ToolStarting"}],
    "in a message": [shell('git commit -m "mend a.py and others"')],
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
    with_call = told("a.py", part="policy x") | {"event": "ToolStarting", "about": {"call_id": "c"}}

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
        for one in found.injectors
    ]


def test_two_parts_at_one_event() -> None:
    """Each has its own characters, also where the record was cut."""
    effects = [
        {"kind": "inject", "text": cut("x" * 5000, 4000), "part": "turn"},
        {"kind": "inject", "text": "y" * 10, "part": "rule r"},
        {"kind": "deny", "text": "no", "part": "rule r"},
    ]
    found = report(told("a.py", effects=effects, injected_chars=5010))

    assert [("turn", 1, 5000), ("rule r", 1, 10)] == [(one.part, one.times, one.chars) for one in found.injectors]


def test_what_was_left_out_and_why() -> None:
    """For want of room, over the budget, said already, held out: counted for each part; a fault is none of them."""
    because = (
        "Inject: no room in the turn; Inject: the budget for injected text is spent; Inject: somebody was first; "
        "Inject: held out; Ask: overruled by Deny; TellUser: somebody was first"
    )
    said = [{"part": "policy a", "decided": "left out", "because": because}]

    assert LeftOut(1, 1, 1, 1) == only(prompt() | {"said": said}).left_out


def test_with_and_without() -> None:
    """The same files are watched where the context was held out, and the rates stand side by side."""
    reads = [call("read", "/repo/a.py", call_id=str(number)) for number in range(3)]
    bodies = [told("a.py"), reads[0], prompt(), held_out("a.py"), reads[1], prompt(), prompt(), held_out("a.py")]
    found = only(*bodies)

    assert Comparison(wilson(1, 1), wilson(1, 2), Verdict.TOO_FEW) == found.opened
    assert (1, 2) == (found.times, found.left_out.held_out)


VERDICTS = {
    "nothing was held out": (LEAST, LEAST, 0, 0, Verdict.OFF),
    "one too few": (LEAST, LEAST, LEAST - 1, 0, Verdict.TOO_FEW),
    "the same": (LEAST, 10, LEAST, 10, Verdict.CHANCE),
    "clearly more": (LEAST, LEAST, LEAST, 0, Verdict.DIFFERENT),
    "clearly less": (LEAST, 0, LEAST, LEAST, Verdict.DIFFERENT),
}


@pytest.mark.parametrize("numbers", VERDICTS.values(), ids=VERDICTS)
def test_what_can_be_said_of_a_difference(numbers: tuple[int, int, int, int, Verdict]) -> None:
    """Nothing with too few of either; then whether the intervals overlap."""
    injected, of_them, without, of_those, verdict = numbers
    bodies: list[Body] = []
    names = (str(number) for number in count())
    for made, all_of_them, opened in ((told, injected, of_them), (held_out, without, of_those)):
        for number in range(all_of_them):
            session = next(names)
            bodies.append(made("a.py", session=session))
            bodies += [call("read", "/repo/a.py", session=session)] * (number < opened)

    assert verdict is report(*bodies).hold_out.opened.verdict


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
    found = wilson(*of)

    assert expected == (found.share, found.low, found.high)


@given(st.integers(0, 500), st.integers(0, 500))
def test_an_interval_holds_its_share(one: int, other: int) -> None:
    """Between 0 and 1, with the share inside, and narrower with more of the same."""
    few, many = wilson(min(one, other), max(one, other)), wilson(10 * min(one, other), 10 * max(one, other))

    assert 0 <= few.low <= few.share <= few.high <= 1 or not few.occasions
    assert many.high - many.low <= few.high - few.low


def test_memory_has_an_end() -> None:
    """However many sessions and injections there are, each is counted, and only some are watched at a time."""
    stats = Stats()
    for number in range(MAX_SESSIONS + 10):
        stats.take(told("a.py", session=str(number)))
    for _ in range(MAX_WATCHED + 10):
        stats.take(told("a.py") | {"event": "ToolFinished"})
    everything = MAX_SESSIONS + MAX_WATCHED + 20

    assert MAX_SESSIONS >= len(stats._sessions)
    assert MAX_WATCHED >= max(len(one.watched) for one in stats._sessions.values())
    assert everything == stats.report(30).injectors[0].opened.injected.occasions


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
NAMES = ("event", "session_id", "root", "about", "said", "effects", "injected_chars", "at")
EVENT = st.sampled_from(["PromptSubmitted", "ToolFinished", "ToolStarting"])


@given(st.lists(st.fixed_dictionaries({"event": EVENT}, optional=dict.fromkeys(NAMES[1:], JSON)), max_size=5))
def test_any_record_can_be_counted(bodies: list[Body]) -> None:
    """What another version or a damaged file left in a record never ends the count."""
    found = report(told("a.py"), *bodies)

    assert "1.0" == document(found)["schema_version"]


@given(st.text(max_size=300), st.integers(60, 200))
def test_the_length_of_what_was_cut_is_known(text: str, most: int) -> None:
    """A text that was cut for the journal tells how long it was."""
    shown = cut(text, most)

    assert shown == text or whole_length(shown) == len(text)


SAID = {
    "en": [
        "all repositories, the last 30 days: 1 sessions, 2 turns, 1 of them with context (2026-01-02 to 2026-01-02)",
        "",
        "turn: 1 times, 5 characters (2 a turn, 5 a session)",
        "  left out: 1 held out",
        (
            "  a file that it named was opened in 1 of 1 (100 %, 21 to 100), edited in 0 of 1 (0 %, 0 to 79);"
            " after 1 calls (median)"
        ),
        "",
        "hold-out (0 per cent): a file that was named, or would have been, was",
        (
            "  opened in 1 of 1 (100 %, 21 to 100) with the context, in 0 of 1 (0 %, 0 to 79) without:"
            " too few to say anything; it takes 30 of each"
        ),
        (
            "  edited in 0 of 1 (0 %, 0 to 79) with the context, in 0 of 1 (0 %, 0 to 79) without:"
            " too few to say anything; it takes 30 of each"
        ),
    ],
    "zh": [
        "所有仓库，最近 30 天：1 个会话，2 个回合，其中 1 个带有上下文（2026-01-02 至 2026-01-02）",
        "",
        "turn：1 次，5 个字符（每回合 2，每会话 5）",
        "  未注入：1 次留作对照",
        (
            "  它提到的文件被打开：1 次中的 1 次（100%，21 至 100）；被修改：1 次中的 0 次（0%，0 至 79）"
            "；第 1 次调用时（中位数）"
        ),
        "",
        "对照（0%）：提到的（或本会提到的）文件",
        (
            "  被打开：有上下文时 1 次中的 1 次（100%，21 至 100），没有时 1 次中的 0 次（0%，0 至 79）："
            "数量太少，无法判断；两边各需 30 次"
        ),
        (
            "  被修改：有上下文时 1 次中的 0 次（0%，0 至 79），没有时 1 次中的 0 次（0%，0 至 79）："
            "数量太少，无法判断；两边各需 30 次"
        ),
    ],
}


@pytest.mark.parametrize("language", SAID)
def test_for_people(language: str) -> None:
    """The same numbers in sentences, in both languages."""
    found = report(told("a.py"), call("read", "/repo/a.py"), held_out("a.py"))

    assert SAID[language] == list(lines(found, TEXTS[language]))


def test_nothing_to_tell() -> None:
    """An empty journal, and one in which nothing was injected, are one line more or less."""
    empty, silent = (list(lines(report(*bodies), TEXTS["en"])) for bodies in ((), (prompt(),)))

    assert ["all repositories, the last 30 days: the journal has no record of this time"] == empty
    assert ["  nothing was injected"] == silent[1:]


def test_rates_without_occasions() -> None:
    """Nothing was counted: no share, and the widest interval."""
    assert Rate(0, 0, 0.0, 0.0, 1.0) == wilson(0, 0)
