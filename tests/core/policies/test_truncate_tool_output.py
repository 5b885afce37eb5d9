"""When long tool output is truncated, and what is kept."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from policy_play import IN_CODEX, call, finished, queried, said_by, silent

from upbeat.core.contract.effect import RewriteOutput
from upbeat.core.contract.event import ToolFinished, ToolKind
from upbeat.core.policies.truncate_tool_output import BYTES_PER_TOKEN, MIN_TOKENS, POLICY, TOKEN_LIMITS, token_limit
from upbeat.core.policy.queries import ContextUsage, ContextUsageQuery
from upbeat.core.sanitize.truncate import LengthUnit, measure_text
from upbeat.core.workflow.state import SessionState

FETCH, SEARCH, MCP = call("WebFetch", ToolKind.FETCH), call("Grep", ToolKind.SEARCH), call("mcp__a__b", ToolKind.OTHER)


def of(tokens: int, line: str = "some words of a page\n") -> str:
    """A text of that many tokens, in lines."""
    return (line * (tokens * BYTES_PER_TOKEN // len(line) + 1))[: tokens * BYTES_PER_TOKEN]


SAYS_NOTHING = {
    "a page of the limit": finished(FETCH, of(TOKEN_LIMITS[ToolKind.FETCH])),
    "a search of the limit": finished(SEARCH, of(TOKEN_LIMITS[ToolKind.SEARCH])),
    "an MCP tool at the limit": finished(MCP, of(TOKEN_LIMITS[ToolKind.OTHER])),
    "a command": finished(call("Bash", ToolKind.SHELL), of(200_000)),
    "a file": finished(call("Read", ToolKind.READ), of(200_000)),
    "an edit": finished(call("Edit", ToolKind.EDIT), of(200_000)),
    "an agent's plan": finished(call("TodoWrite", ToolKind.TASK_LIST), of(200_000)),
    "an error": finished(FETCH, of(200_000), failed=True),
    "an MCP tool in Codex, which cuts it itself": finished(MCP, of(200_000), source=IN_CODEX),
    "nothing": finished(FETCH),
}

SAYS = {
    "a page above it": finished(FETCH, of(TOKEN_LIMITS[ToolKind.FETCH] + 1)),
    "a search above it": finished(SEARCH, of(TOKEN_LIMITS[ToolKind.SEARCH] + 1)),
    "an MCP tool above it": finished(MCP, of(TOKEN_LIMITS[ToolKind.OTHER] + 1)),
    "a page in one line": finished(FETCH, "x" * 200_000),
    "a page of Chinese": finished(FETCH, "页面文字\n" * 20_000),
}

test_says_nothing_for = silent(SAYS_NOTHING, lambda event: said_by(POLICY, event))


@pytest.mark.parametrize("event", SAYS.values(), ids=SAYS)
@pytest.mark.parametrize(("language", "words"), [("en", "to save context"), ("zh", "此处省略了")])
def test_says(event: ToolFinished, language: str, words: str) -> None:
    """Head and tail are kept within the limit, with a note about the omitted part, in both languages."""
    [effect] = said_by(POLICY, event, language=language)
    head, _, rest = effect.text.partition("\n\n[…")
    note, _, tail = rest.rpartition("…]\n\n")

    assert isinstance(effect, RewriteOutput)
    assert words in note
    assert event.output.startswith(head)
    assert event.output.endswith(tail)
    assert head
    assert tail
    kept = measure_text(head + tail, LengthUnit.UTF8)
    assert (
        0.8 * TOKEN_LIMITS[event.call.kind] * BYTES_PER_TOKEN <= kept <= TOKEN_LIMITS[event.call.kind] * BYTES_PER_TOKEN
    )


@pytest.mark.parametrize(
    ("use", "tokens"),
    [
        (None, 10_000),
        (ContextUsage(150_000), 10_000),
        (ContextUsage(150_000, 200_000), 10_000),
        (ContextUsage(180_000, 200_000), 10_000),
        (ContextUsage(190_000, 200_000), 5_000),
        (ContextUsage(199_000, 200_000), MIN_TOKENS),
        (ContextUsage(250_000, 200_000), MIN_TOKENS),
    ],
)
def test_token_limit(use: ContextUsage | None, tokens: int) -> None:
    """The limit is half of the free window if that is less than the fixed limit, down to a minimum."""
    assert tokens == token_limit(ToolKind.FETCH, use)


@pytest.mark.parametrize(("tokens", "is_cut"), [(5_000, False), (5_001, True)])
def test_a_full_window_lowers_the_limit(tokens: int, is_cut: bool) -> None:
    """Output within the fixed limit is truncated if the window is nearly full."""
    event = finished(FETCH, of(tokens))

    assert is_cut == bool(said_by(POLICY, event, found={ContextUsageQuery(): ContextUsage(190_000, 200_000)}))
    assert queried(POLICY, event, SessionState()) == (ContextUsageQuery(),)


@pytest.mark.parametrize("event", [finished(FETCH, of(MIN_TOKENS)), finished(call("Bash", ToolKind.SHELL), of(90_000))])
def test_queries_nothing_for_short_output(event: ToolFinished) -> None:
    """The usage is not queried for output that is never truncated."""
    assert queried(POLICY, event, SessionState()) == ()


@given(st.text(min_size=1, max_size=40), st.integers(1, 4))
def test_any_output(line: str, times: int) -> None:
    """For any text, head and tail are parts of it within the limit."""
    text = (line * (MIN_TOKENS * BYTES_PER_TOKEN * times // len(line.encode("utf-8", "surrogatepass")) + 3))[
        : MIN_TOKENS * BYTES_PER_TOKEN * 5
    ]
    for effect in said_by(POLICY, finished(FETCH, text), found={ContextUsageQuery(): ContextUsage(9, 10)}):
        head, _, rest = effect.text.partition("\n\n[… omitted about")
        tail = rest.rpartition(". …]\n\n")[2]
        assert text.startswith(head)
        assert text.endswith(tail)
        assert measure_text(head + tail, LengthUnit.UTF8) <= MIN_TOKENS * BYTES_PER_TOKEN
