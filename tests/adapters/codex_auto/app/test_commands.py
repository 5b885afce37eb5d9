"""Slash commands: what counts as one, what each prints, and that none of them sends a prompt."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from case_files import read_groups
from fakes.codex.conversation import CHINESE, ENGLISH, FakeTransport, open_scene
from hypothesis import given
from hypothesis import strategies as st

from upbeat.adapters.codex.transport.base import Completed, Message, ThreadStarted, TokenUsage, TurnEvent
from upbeat.adapters.codex_auto.app import commands
from upbeat.adapters.codex_auto.conversation.conversation import Conversation
from upbeat.adapters.codex_auto.texts import Texts
from upbeat.core.contract.finding import Finding, ToolOutput

CASES = read_groups(Path(__file__).with_name("commands_cases.tsv"))
THREAD = "01a1fbb9-4f32-7d63-9e7f-2b9d3fbd401a"
PROMPT = "where is RETRY_LIMIT used in retry.py?"
ANSWER = [ThreadStarted(THREAD), Message("answer"), Completed(TokenUsage(100, 0, 0))]


@dataclass
class Scene:
    """A desk, and what is behind it."""

    desk: commands.CommandContext
    transport: FakeTransport
    out: StringIO

    def run(self, text: str) -> str:
        """What the command ``text`` answers."""
        command = commands.parse_slash_command(text)
        assert command
        begin = len(self.out.getvalue())
        commands.execute_command(self.desk, *command)
        return self.out.getvalue()[begin:]


def make_scene(
    root: Path, *turns: Sequence[TurnEvent], texts: Texts = ENGLISH, is_plan: bool = False, **settings: Any
) -> Scene:
    finding = Finding(
        "shop/retry.py",
        symbol="RETRY_LIMIT",
        kind="constant",
        start_line=1,
        end_line=3,
        score=0.91,
        why="names it",
        text="x",
    )
    scene = open_scene(root, *turns, answers={"ci_search": ToolOutput("1 file", (finding,))}, texts=texts, **settings)
    out = StringIO()
    scene.printer.answer_stream = scene.printer.status_stream = out
    opening: Future[Conversation] = Future()
    opening.set_result(scene.conversation)
    return Scene(commands.CommandContext(opening, scene.printer, texts, is_plan), scene.transport, out)


def test_a_prompt_is_no_command() -> None:
    """Paths, and text that does not begin with a slash and a word, are prompts."""
    assert [] == [text for (text,) in CASES["prompt"] if commands.parse_slash_command(text)]


@pytest.mark.parametrize(("text", "name", "argument"), CASES["command"])
def test_a_slash_and_a_word_is_a_command(text: str, name: str, argument: str) -> None:
    """A slash and a word are a command, known or not; the rest is its argument."""
    assert (name, argument) == commands.parse_slash_command(text)


@given(st.text())
def test_parse_is_total(text: str) -> None:
    """Whatever is typed is a prompt or a command."""
    assert commands.parse_slash_command(text) is None or text.startswith("/")


@pytest.mark.parametrize("texts", [ENGLISH, CHINESE], ids=["en", "zh"])
def test_every_command_has_its_help(texts: Texts) -> None:
    """Each command has a description in both languages, and no description is without a command."""
    assert list(commands.SLASH_COMMANDS) == [name for name, does in commands.command_help(texts) if does]
    assert set(commands.SLASH_COMMANDS) == set(texts.group("command_help"))


@pytest.mark.parametrize("texts", [ENGLISH, CHINESE], ids=["en", "zh"])
@pytest.mark.parametrize("name", [name for name in commands.SLASH_COMMANDS if name != "quit"])
def test_every_command_prints_something(tmp_path: Path, name: str, texts: Texts) -> None:
    """Each command prints text without an unfilled placeholder, and sends nothing."""
    scene = make_scene(tmp_path, texts=texts)
    output = scene.run(f"/{name}")

    assert output.strip()
    assert ("{" in output, scene.transport.asked) == (False, [])


@pytest.mark.parametrize(
    ("word", "near"), [("/contxt", "/context"), ("/stat", "/status"), ("/wf", ""), ("/HELPP", "/help"), ("/", "")]
)
def test_an_unknown_command_suggests_the_closest_one(tmp_path: Path, word: str, near: str) -> None:
    """The message names the closest command, and how to send such a prompt."""
    output = make_scene(tmp_path).run(word)

    assert (f"did you mean {near}?" in output) == bool(near)
    assert "put a space before it" in output


def test_context_shows_what_was_added_to_the_prompt(tmp_path: Path) -> None:
    """After a turn, each result is shown with its location, score, reason and tool."""
    scene = make_scene(tmp_path, ANSWER)
    scene.desk.conversation.run_turn(PROMPT, scene.desk.conversation.resolve_context())
    first, place, about, *_ = scene.run("/context").split("\n")

    assert first.startswith("added to the prompt: 1 results, ")
    assert ["  1. shop/retry.py:1-3  0.91", "     constant RETRY_LIMIT: names it (ci_search)"] == [place, about]


def test_context_previews_a_prompt(tmp_path: Path) -> None:
    """With a prompt, /context looks it up and sends nothing; /why still explains the last turn."""
    scene = make_scene(tmp_path)
    output = scene.run(f"/context {PROMPT}")

    assert "shop/retry.py:1-3" in output
    assert ENGLISH["context_preview"] in output
    assert ([], None) == (scene.transport.asked, scene.desk.printer.report)


def test_a_preview_keeps_pending_limits(tmp_path: Path) -> None:
    """A limit that the next turn must report is not lost to a preview."""
    (tmp_path / ".upbeat").mkdir()
    (tmp_path / ".upbeat/codex-session.json").write_text("{")
    scene = make_scene(tmp_path, ANSWER)
    scene.run(f"/context {PROMPT}")
    begin = len(scene.out.getvalue())
    scene.desk.conversation.run_turn(PROMPT, scene.desk.conversation.resolve_context())

    assert "session continuity unavailable" in scene.out.getvalue()[begin:]


@pytest.mark.parametrize("prompt", ["", " ", "thanks"])
def test_context_without_results_says_so(tmp_path: Path, prompt: str) -> None:
    """Without a turn, and for a prompt that is not about code, /context says that there is nothing."""
    output = make_scene(tmp_path).run(f"/context {prompt}")

    assert (ENGLISH["context_nothing"] if prompt.strip() else ENGLISH["no_turn_yet"]) in output


def test_plan_mode_looks_nothing_up(tmp_path: Path) -> None:
    """Plan mode starts no tool, so there is nothing to preview."""
    assert ENGLISH["context_in_plan"] + "\n" == make_scene(tmp_path, is_plan=True).run(f"/context {PROMPT}")


def test_why_explains_the_preparation(tmp_path: Path) -> None:
    """/why shows intent, signals, plan, results, limits, and changed settings with their origin."""
    origins = {"budget.wall_ms": "/home/x/auto-tools.toml:3"}
    scene = make_scene(tmp_path, ANSWER, budget_wall_ms=900, origins=origins)
    scene.desk.conversation.run_turn(PROMPT, scene.desk.conversation.resolve_context())
    output = scene.run("/why")

    assert output.startswith("intent: ")
    assert "  explicit 0.8  retry.py\n" in output
    assert "  ci_search  tier 1 · 2000 ms · files, symbols and lines for the prompt's words\n" in output
    assert "    → ok, " in output
    assert "  budget.wall_ms = 900  (/home/x/auto-tools.toml:3)\n" in output


def test_why_before_a_turn_shows_the_settings(tmp_path: Path) -> None:
    """The settings are known without a turn."""
    assert f"{ENGLISH['no_turn_yet']}\n{ENGLISH['why_defaults']}\n" == make_scene(tmp_path).run("/why")


def test_tools_shows_which_tools_are_ready(tmp_path: Path) -> None:
    """Each tool is shown with its tier, its timeout, and why it is not ready."""
    origins = {"tools.disabled": ".upbeat/auto-tools.toml:2"}
    rows = make_scene(tmp_path, tools_disabled=("ci_search",), origins=origins).run("/tools").split("\n")

    assert "ci_index_status  tier 0   500 ms  ready" in rows
    assert "ci_search        tier 1  2000 ms  off (.upbeat/auto-tools.toml:2)" in rows
    assert [row for row in rows if row.startswith("ci_impact        tier 2  2000 ms  ")]


def test_plan_is_a_toggle(tmp_path: Path) -> None:
    """/plan switches dry runs on and off, and says which."""
    scene = make_scene(tmp_path)

    assert [f"{ENGLISH['plan_on']}\n", f"{ENGLISH['plan_off']}\n"] == [scene.run("/plan"), scene.run("/plan")]


def test_sessions_are_listed_and_resumed(tmp_path: Path) -> None:
    """/new keeps the former session, /resume lists it with a number, and the number resumes it."""
    scene = make_scene(tmp_path, ANSWER)
    scene.desk.conversation.run_turn(PROMPT, scene.desk.conversation.resolve_context())
    scene.run("/new")
    listed_now = scene.run("/resume")
    scene.run("/resume 1")

    assert THREAD[:13] in listed_now
    assert ENGLISH["resume_usage"] in listed_now
    assert scene.desk.conversation.session
    assert THREAD == scene.desk.conversation.session.thread_id


def test_without_a_session_there_is_nothing_to_resume(tmp_path: Path) -> None:
    """/resume says that there is no session."""
    assert f"{ENGLISH['resume_none']}\n" == make_scene(tmp_path).run("/resume")


# --- the workflow ---

BEGUN = [ThreadStarted(THREAD), Message("Which one?"), Completed(TokenUsage(100, 0, 0))]


@pytest.mark.parametrize(("text", "prompt"), CASES["expanded"])
def test_two_commands_stand_for_a_prompt(text: str, prompt: str) -> None:
    """Starting and continuing a workflow sends a prompt; all other commands do not."""
    command = commands.parse_slash_command(text)

    assert command
    assert prompt == commands.expand_to_prompt(*command)


def test_workflow_shows_its_progress(tmp_path: Path) -> None:
    """/workflow shows progress, goal and next steps, or how to start one."""
    scene = make_scene(tmp_path, BEGUN)
    before = scene.run("/workflow")
    scene.desk.conversation.run_turn("/upbeat:quick add retries", scene.desk.conversation.resolve_context())
    output = scene.run("/workflow").split("\n")

    assert f"{ENGLISH['workflow_none']}\n" == before
    assert [
        "quick: DEV → [REVIEW, TEST] → RETRO",
        "goal       add retries",
        "next       DEV",
        ENGLISH["workflow_usage"],
        "",
    ] == output


def test_workflow_stop_stops_it(tmp_path: Path) -> None:
    """/workflow stop takes effect without a turn, and says how to resume."""
    scene = make_scene(tmp_path, BEGUN)
    scene.desk.conversation.run_turn("/upbeat:quick add retries", scene.desk.conversation.resolve_context())
    output = scene.run("/workflow stop")

    assert "upbeat: stopped workflow quick. Say continue to resume it.\n" == output
    assert "state      stopped; /workflow continue resumes\n" in scene.run("/workflow")
    assert 1 == len(scene.transport.asked)


def test_workflow_list_describes_each_workflow(tmp_path: Path) -> None:
    """Each workflow is listed with its description."""
    rows = make_scene(tmp_path).run("/workflow list").split("\n")

    assert [row for row in rows if row.startswith("single  ") and row.endswith("A single, self-contained change.")]


def test_an_unknown_workflow_verb_prints_the_usage(tmp_path: Path) -> None:
    """An unknown verb changes nothing, and plan mode stops nothing."""
    output = [make_scene(tmp_path).run("/workflow halt"), make_scene(tmp_path, is_plan=True).run("/workflow stop")]

    assert [f"{ENGLISH['workflow_usage']}\n"] * 2 == output


def test_why_ends_with_the_explanation_of_the_journal(tmp_path: Path) -> None:
    """After a turn, the last record of the session is explained."""
    scene = make_scene(tmp_path, ANSWER)
    asked: list[str] = []
    scene.desk.explain_session = lambda session_id: asked.append(session_id) or "record 7\n  loop: let go"  # type: ignore[func-returns-value]
    before = scene.run("/why")
    scene.desk.conversation.run_turn(PROMPT, scene.desk.conversation.resolve_context())

    assert "record 7" not in before
    assert scene.run("/why").endswith("\n\nrecord 7\n  loop: let go\n")
    assert [THREAD] == asked
