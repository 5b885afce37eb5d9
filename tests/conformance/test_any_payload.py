"""Whatever a client sends, every policy gives a decision that the client takes, and none fails.

The recorded payloads of both clients are bent in every way, in sequences of one to five.
``UPBEAT_EXAMPLES=100000`` with ``--timeout 0`` looks at so many sequences.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jsonschema_rs
from fakes.context import repo_context
from fakes.runtime import FakeWorld, fake_world
from hypothesis import given
from hypothesis import strategies as st

from upbeat.adapters.claude.codec import CLAUDE_CODEC
from upbeat.adapters.codex.codec import CODEX_CODEC
from upbeat.adapters.hooks.codec import HookCodec
from upbeat.core.contract.event import EventSource
from upbeat.core.engine.handle import handle_event
from upbeat.core.errors import ClientError
from upbeat.core.policies import POLICIES_BY_NAME
from upbeat.core.policy import queries
from upbeat.core.policy.definition import SideEffect
from upbeat.core.sanitize.truncate import LengthUnit, measure_text

RECORDED = Path(__file__).parents[1] / "recorded"
Payload = dict[str, Any]


def _of_claude() -> list[Payload]:
    paths = sorted((RECORDED / "claude-code/hooks").glob("*.json"))
    return [json.loads(path.read_text(encoding="utf-8"))["payload"] for path in paths]


def _of_codex() -> list[Payload]:
    lines = (
        line
        for path in sorted((RECORDED / "codex/hooks").glob("*.jsonl"))
        for line in path.read_text(encoding="utf-8").split("\n")
    )
    return [json.loads(line)["stdin"] for line in lines if line]


PAYLOADS: Mapping[HookCodec, list[Payload]] = {CLAUDE_CODEC: _of_claude(), CODEX_CODEC: _of_codex()}
SCHEMAS = {
    path.name.partition(".")[0]: jsonschema_rs.validator_for(json.loads(path.read_text(encoding="utf-8")))
    for path in (RECORDED / "codex/hook_schemas").glob("*.output.json")
}
LIMIT = 10_000
"""Units of a client's cap (UTF-16 for Claude Code, bytes for Codex) that it takes whole."""

WORDS: tuple[str, ...] = (
    *json.loads(Path(__file__).with_name("payload_words.json").read_text(encoding="utf-8")),
    *("x" * 3000, "仓库" * 3000, "y\n" * 200_000),
)
"""Words that mean something to a policy or a codec, and texts that are hard to handle."""
VALUES = st.one_of(
    st.sampled_from(WORDS),
    st.text(max_size=40),
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.lists(st.sampled_from(WORDS), max_size=3),
    st.dictionaries(
        st.sampled_from(("content", "status", "todos", "command", "prompt", "stdout")), st.sampled_from(WORDS)
    ),
    st.lists(
        st.fixed_dictionaries({"content": st.sampled_from(WORDS), "status": st.sampled_from(("pending", "completed"))})
    ),
)


@st.composite
def bent(draw: st.DrawFn, codec: HookCodec) -> Payload:
    """A recorded payload with some of its values changed or gone, in any depth, all of one session."""
    payload = copy.deepcopy(draw(st.sampled_from(PAYLOADS[codec])))
    for _ in range(draw(st.integers(0, 4))):
        place: Any = payload
        while True:
            names = list(place) if isinstance(place, dict) else list(range(len(place)))
            if not names:
                break
            name = draw(st.sampled_from(names))
            if isinstance(place[name], dict | list) and place[name] and draw(st.booleans()):
                place = place[name]
                continue
            place[name] = draw(VALUES)
            break
    return payload | {"session_id": "s", "cwd": "/repo"}


COURSES = st.sampled_from(list(PAYLOADS)).flatmap(
    lambda codec: st.tuples(st.just(codec), st.lists(bent(codec), min_size=1, max_size=5))
)


@dataclass
class AnyWorldQueries:
    """World queries that answer everything."""

    share: float = 0.8
    side_effects: list[SideEffect] = field(default_factory=list)

    def query(self, query: queries.Query, source: EventSource, root: str) -> object | None:
        match query:
            case queries.ExistingPathsQuery():
                return frozenset(query.paths)
            case queries.ContextUsageQuery():
                return queries.ContextUsage(int(self.share * 200_000), 200_000)
            case queries.ChangedFilesQuery():
                return (queries.ChangedFile("a.py", 3, 1), queries.ChangedFile("b.bin"))
            case queries.FilesAboveQuery():
                return (
                    queries.TextDocument("a/AGENTS.md", "Use tabs.\n"),
                    queries.TextDocument("AGENTS.md", "x" * 30_000),
                )
            case queries.FolderFilesQuery():
                return (queries.TextDocument("notes/a.md", "text"),)
            case _:
                return None

    def perform(self, side_effect: SideEffect, root: str) -> None:
        self.side_effects.append(side_effect)


def world() -> FakeWorld:
    made = fake_world(repo_context(policies_on=tuple(POLICIES_BY_NAME)))
    made.world_queries = AnyWorldQueries()  # type: ignore[assignment]
    return made


@given(course=COURSES)
def test_no_policy_fails_and_no_answer_is_too_much(course: tuple[HookCodec, list[Payload]]) -> None:
    """Every decision is one that the client takes whole, and no policy could not be evaluated."""
    codec, payloads = course
    here = world()
    for payload in payloads:
        try:
            event = codec.decode(payload)
        except ClientError:
            continue
        decision = handle_event(event, here.runtime, codec.cap, codec.degradations)
        answer = codec.encode(event, decision)
        assert_taken(codec, answer, payload["hook_event_name"])
    failures = [
        said for record in here.journal.records for said in record.explanations if said.decision == "could not evaluate"
    ]
    assert [] == failures


def assert_taken(codec: HookCodec, answer: Payload, name: str) -> None:
    """The answer is JSON, in the client's form, and each of its texts is below the client's cap."""
    assert answer == json.loads(json.dumps(answer))
    specific = answer.get("hookSpecificOutput", {})
    for text in (answer.get("systemMessage", ""), specific.get("additionalContext", ""), answer.get("reason", "")):
        assert measure_text(text, LengthUnit.UTF16 if codec is CLAUDE_CODEC else LengthUnit.UTF8) <= LIMIT
    if codec is CODEX_CODEC and answer:
        SCHEMAS[re.sub(r"(?<!^)(?=[A-Z])", "-", name).lower()].validate(answer)
