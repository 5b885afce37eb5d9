"""The line that tells the user what was added to a turn."""

from __future__ import annotations

from typing import Any

import pytest
from fakes.context import repo_context
from fakes.runtime import FakeWorld, fake_world
from fakes.shop import ANSWERS, CLAUDE, PROMPT
from hypothesis import given
from hypothesis import strategies as st

from upbeat.core.contract.effect import NotifyUser
from upbeat.core.contract.event import Event, PromptOrigin, PromptSubmitted, SessionStarted
from upbeat.core.contract.report import Item
from upbeat.core.engine.handle import handle_event
from upbeat.core.engine.runtime import TurnRequest
from upbeat.core.engine.turn_line import PART, format_turn_line
from upbeat.core.settings import Activation, Toggle

ASK = PromptSubmitted(CLAUDE, PROMPT)
LINE = "upbeat: 1 file · retry.py:4 send_with_retry · 0 ms"


def item(path: str = "shop/cart.py", line: int = 17, symbol: str = "total_price") -> Item:
    return Item(kind="function", path=path, symbol=symbol, start_line=line, end_line=line, score=1, why="", tool="t")


def said(event: Event, world: FakeWorld, **more: Any) -> list[str]:
    """What the user is told."""
    decision = handle_event(event, world.runtime, **more)
    return [effect.text for effect in decision.effects if isinstance(effect, NotifyUser)]


def shop(**settings: Any) -> FakeWorld:
    return fake_world(repo_context(**settings), ANSWERS)


def test_a_turn_with_context_has_a_line() -> None:
    """A prompt that something was added to has one line, which the record ascribes to the display."""
    world = shop()

    assert [LINE] == said(ASK, world)
    assert ["turn", PART] == [effect["part"] for effect in world.journal.records[-1].effects]


@pytest.mark.parametrize(
    ("event", "world", "more"),
    [
        (PromptSubmitted(CLAUDE, "thanks"), shop(), {}),
        (ASK, shop(display_turn_line=Toggle.OFF), {}),
        (ASK, shop(enabled=Activation.OFF), {}),
        (ASK, shop(inject_holdout_percent=100), {}),
        (PromptSubmitted(CLAUDE, PROMPT, PromptOrigin.TASK_NOTIFICATION), shop(), {}),
        (SessionStarted(CLAUDE, "startup"), shop(), {}),
        (ASK, shop(), {"request": TurnRequest(CLAUDE, PROMPT)}),
    ],
    ids=["nothing added", "line off", "switched off", "held out", "not the user's", "no prompt", "own display"],
)
def test_there_is_no_line(event: Event, world: FakeWorld, more: dict[str, Any]) -> None:
    """Without added context, where it is off, and where a program shows its turns itself, nothing is said."""
    assert [] == said(event, world, **more)


PLACES = [item(), item("shop/cart.py", 40, "checkout"), item("docs/cart.md", 0, "")]


@pytest.mark.parametrize(
    ("sources", "items", "language", "line"),
    [
        (["turn"], PLACES, "en", "upbeat: 2 files · cart.py:17 total_price … · 46 ms"),
        (["turn"], PLACES, "zh", "upbeat：2 个文件 · cart.py:17 total_price … · 46 毫秒"),
        (["turn"], PLACES[2:], "en", "upbeat: 1 file · cart.md · 46 ms"),
        (["turn"], [item("", 0, "")], "en", "upbeat: 1 result · 46 ms"),
        (["workflow", "rule use-decimal"], PLACES, "en", "upbeat: workflow · rule use-decimal · 46 ms"),
        (["turn", "policy a", "policy b", "rule c"], PLACES[:1], "zh",
         "upbeat：1 个文件 · cart.py:17 total_price · a · b · … · 46 毫秒"),
    ],
)  # fmt: skip
def test_the_line_says(sources: list[str], items: list[Item], language: str, line: str) -> None:
    """The files and the first place of a search, else what was added by which part, and the time it took."""
    assert line == format_turn_line(sources, items, 46.3, language)


@given(st.text(), st.text(), st.text())
def test_names_do_not_leave_the_line(path: str, symbol: str, rule: str) -> None:
    """Whatever files, symbols and rules are called, the line is one line of limited length without controls."""
    line = format_turn_line(["turn", f"rule {rule}"], [item(path, 1, symbol)] * 2, 5, "en")

    assert line.isprintable() or not line.isascii()
    assert 1 == len(line.splitlines())
    assert len(line) < 200
