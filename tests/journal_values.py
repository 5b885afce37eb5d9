"""Examples of everything that the journal stores, for hypothesis, and the records that its tests tell of."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from enum import Enum
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from hypothesis import strategies as st

from upbeat.core.contract.effect import Explanation
from upbeat.core.journal.codec import FACT_KINDS, encode_record
from upbeat.core.journal.record import JournalEntry, Record
from upbeat.core.workflow.facts import Fact, TurnContinued, WorkflowStarted, apply_facts
from upbeat.core.workflow.state import SessionState, WorkflowRun, WorkflowStep

HARMLESS = "abcXYZ019 _-.:/ü仓库測試"
"""Letters that no text is changed for when it is stored."""
_PLAIN: dict[Any, st.SearchStrategy[Any]] = {
    str: st.text(HARMLESS, max_size=20),
    int: st.integers(0, 2**53),
    float: st.floats(0, 1e12, allow_nan=False),
    bool: st.booleans(),
    NoneType: st.none(),
}


def examples(kind: Any) -> st.SearchStrategy[Any]:
    """Values of a type that states and facts are made of."""
    if kind in _PLAIN:
        return _PLAIN[kind]
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Literal:
        return st.sampled_from(inner)
    if origin in (Union, UnionType):
        return st.one_of(*map(examples, inner))
    if origin is tuple:
        return st.lists(examples(inner[0]), max_size=3).map(tuple)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return st.sampled_from(list(kind))
    assert is_dataclass(kind), kind
    hints = get_type_hints(kind)
    return st.builds(kind, **{each.name: examples(hints[each.name]) for each in fields(kind)})


FACTS = st.lists(st.one_of(*map(examples, FACT_KINDS)), max_size=4).map(tuple)
STATES = examples(SessionState)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**60), 2**60)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)

RUN = WorkflowRun(
    "r", "standard", tuple(WorkflowStep(key, key, group) for group, key in enumerate(("PLAN", "DEV", "TEST")))
)
STARTED = WorkflowStarted(RUN, 1.0)


def record(session_id: str = "s-1", root: str = "/repo", event: str = "TurnEnding", **more: Any) -> Record:
    """A record in which the loop sent the turn on."""
    explanations = (
        Explanation(
            "loop", "continue_turn", "PLAN is not done", {"step": "PLAN", "n": 1}, "/home/auto-tools.toml:3", 1.25
        ),
    )
    given: dict[str, Any] = {
        "at": "2026-01-02T03:04:05.678Z",
        "client": "claude-code",
        "event_fields": {"stop_hook_active": False},
        "explanations": explanations,
        "effects": ({"kind": "continue_turn", "text": "go on\nwith PLAN"},),
        "duration_ms": 3.2,
    }
    return Record(event=event, session_id=session_id, root=root, **{**given, **more})


def step(state: SessionState, number: int) -> tuple[tuple[Fact, ...], SessionState]:
    """What the event with this number does to a session: the first starts a workflow, the others send it on."""
    facts: tuple[Fact, ...] = (TurnContinued(f"f{number}", 0),) if state.run else (STARTED,)
    return facts, apply_facts(facts, state)


ENTRY = JournalEntry(
    7, encode_record(record(facts=(STARTED,), turn={"run_id": "r", "tools": ["ci_search:ok"]})), "0" * 64, "f" * 64
)
"""A stored record with every part."""
BARE = JournalEntry(8, encode_record(Record("2026-01-02T03:04:05.678Z", "Tea")), "f" * 64, "e" * 64)
"""A stored record of an unknown event."""
