"""The screen of codex-auto at three widths, in two languages, with and without color."""

from __future__ import annotations

import re
from typing import Any

import pytest
from fakes.codex.conversation import CHINESE, ENGLISH
from fakes.codex.terminal import ENTER, Terminal
from fakes.codex.workbench import Turn, Workbench
from wcwidth import wcswidth

from upbeat.adapters.codex_auto.texts import Texts

pytestmark = pytest.mark.terminal

OFF = {"CI_AUTO_TOOLS": "off"}
LANGUAGES = [pytest.param("en_GB.UTF-8", ENGLISH, id="en"), pytest.param("zh_CN.UTF-8", CHINESE, id="zh")]
EVIL = "\x1b]0;title\x07\x1b[5mblink\x1b[0m\u202e \x9b7m"
SEQUENCE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[()][0-9A-B]|[=>78])")
LONG = "检查 every file of the repository, one after the other, until there is nothing left to be looked at " * 2

TURN: Turn = [
    {"think": f"{EVIL} {LONG}"},
    {"warn": f"careful {EVIL}"},
    {"run": f"grep -r {'x' * 200}", "output": f"{EVIL}\n" + f"{LONG}\n" * 9, "code": 1},
    {"change": [["add", f"docs/{'很长' * 60}.md"], ["delete", f"old{EVIL}"]]},
    {"tool": "memory.recall", "error": f"no such {EVIL}"},
    {"say": f"# Result\n\nThe **limit** is in `retry.py`. {EVIL}\n\n- one\n- 二\n\n{LONG}"},
]


def lines_of(raw: str) -> list[str]:
    """What codex-auto wrote beside the prompt, as lines, without colour."""
    return [SEQUENCE.sub("", line) for line in raw.replace("\r", "").split("\n")]


@pytest.mark.parametrize(
    ("columns", "language", "texts", "extra"),
    [
        pytest.param(40, "en_GB.UTF-8", ENGLISH, {}, id="40-en-colour"),
        pytest.param(40, "zh_CN.UTF-8", CHINESE, {"NO_COLOR": "1"}, id="40-zh-no colour"),
        pytest.param(80, "zh_CN.UTF-8", CHINESE, {}, id="80-zh-colour"),
        pytest.param(80, "en_GB.UTF-8", ENGLISH, {"NO_COLOR": "1"}, id="80-en-no colour"),
        pytest.param(160, "en_GB.UTF-8", ENGLISH, {}, id="160-en-colour"),
        pytest.param(160, "zh_CN.UTF-8", CHINESE, {"NO_COLOR": "1"}, id="160-zh-no colour"),
    ],
)
def test_a_turn_fits_the_screen(
    bench: Workbench, columns: int, language: str, texts: Texts, extra: dict[str, str]
) -> None:
    """Lines are clipped to the width, nothing untrusted controls the terminal, and the status line is there."""
    bench.script(TURN)
    with Terminal(bench, columns=columns, LANG=language, **OFF, **extra) as terminal:
        began = len(terminal.raw)
        terminal.send("look" + ENTER)
        terminal.wait_for("token")
        terminal.wait_for(f"店 · {bench.sessions()['default'][:13]}")
        shown, raw = terminal.shown, terminal.raw[began:]
        assert terminal.leave() == 0
    work = [line for line in lines_of(raw) if line.startswith(("$ ", "+ ", "- docs", "  检查"))]

    assert len(work) >= 8
    assert [] == [line for line in work if wcswidth(line) > columns]
    assert [] == [sign for sign in ("\x1b]0", "\x1b[5m", "\u202e", "\x9b") if sign in raw]
    assert texts["exit_code"].format(code=1) in shown
    assert "店" in shown.rstrip("\n").split("\n")[-1]
    if extra:
        assert [] == re.findall(r"\x1b\[(?:[34]\d|9\d|38;5;\d+)m", raw)


@pytest.mark.parametrize(("language", "texts"), LANGUAGES)
def test_the_status_line_is_clipped_at_the_right(bench: Workbench, language: str, texts: Texts) -> None:
    """A narrow terminal shows the repository and the session, a wide one also mode, lookup and budget."""
    for columns, parts in ((40, 2), (160, 5)):
        with Terminal(bench, columns=columns, LANG=language, **OFF) as terminal:
            terminal.wait_for(f"店 · {texts['session_new']}")
            line = terminal.shown.rstrip("\n").split("\n")[-1]

        assert wcswidth(line) <= columns
        assert len(line.split(" · ")) >= parts
        assert line.endswith("…") == (columns == 40)


@pytest.mark.parametrize("extra", [{"TERM": "dumb"}, {"TERM": "vt100"}, {"TERM": "nonsense"}], ids=lambda e: e["TERM"])
def test_simple_and_unknown_terminals_work(bench: Workbench, extra: dict[str, str]) -> None:
    """A turn can be run on a simple or unknown terminal."""
    with Terminal(bench, **OFF, **extra) as terminal:
        terminal.send("hello" + ENTER)
        terminal.wait_for("plain answer")
        terminal.wait_for_prompt()
        assert terminal.leave() == 0

    assert ["hello"] == bench.prompts()


def test_files_are_completed(bench: Workbench) -> None:
    """Files of the repository are completed after an @ while the user types."""
    with Terminal(bench, **OFF) as terminal:
        terminal.wait_for("mode: run · lookup: off")
        terminal.send("see @retr")
        terminal.wait_for("shop/retry.py")
        terminal.send("\t")
        terminal.wait_for("› see shop/retry.py")
        terminal.send(ENTER)
        terminal.wait_for("plain answer")

    assert ["see shop/retry.py"] == bench.prompts()


def test_plan_mode_lists_no_files(bench: Workbench) -> None:
    """Plan mode starts no process, so Git lists no files."""
    with Terminal(bench, "--plan", **OFF) as terminal:
        terminal.wait_for("mode: plan · lookup: off")
        terminal.send("see @retr\t")
        terminal.wait_for("see @retr")

        assert "shop/retry.py" not in terminal.shown


@pytest.mark.parametrize(
    ("version", "says"), [("0.149.0", "0.149.0 is older than 0.150.0"), ("broken", "Codex does not run")]
)
def test_an_unusable_codex_is_reported(bench: Workbench, version: str, says: str) -> None:
    """The warning with the remedy is shown once, and the turn is tried."""
    (bench.codex_home / "version").write_text(version)
    bench.script([{"sleep": 0.7}, {"say": "one"}], [{"say": "two"}])
    with Terminal(bench, **OFF) as terminal:
        terminal.ask("x", "one")
        terminal.wait_for(says)
        terminal.ask("y", "two")

        assert (1, 1) == (terminal.shown.count(says), terminal.shown.count("npm i -g"))


@pytest.mark.parametrize(("language", "texts"), LANGUAGES)
@pytest.mark.parametrize(
    ("failure", "why"),
    [
        ("unexpected status 401 Unauthorized: no, url: http://127.0.0.1/", "unauthorized"),
        ("Codex ran out of room in the model's context window. Start a new thread.", "context_full"),
    ],
)
def test_a_failure_is_one_sentence(bench: Workbench, language: str, texts: Texts, failure: str, why: Any) -> None:
    """The sentence names the remedy in the user's language; with upbeat off, nothing else is tried."""
    bench.script([{"fail": failure}])
    with Terminal(bench, columns=160, LANG=language, **OFF) as terminal:
        terminal.send("x" + ENTER)
        terminal.wait_for(texts["failed"].format(reason=texts.group("failure_reasons")[why]))
        terminal.wait_for_prompt()

    assert ["x"] == bench.prompts()


@pytest.mark.parametrize(("language", "texts"), LANGUAGES)
def test_a_full_context_is_announced_and_recovered_from(bench: Workbench, language: str, texts: Texts) -> None:
    """The retry is announced before it is made, and the turn completes."""
    bench.script(
        [{"fail": "Codex ran out of room in the model's context window. Start a new thread."}, {"say": "There."}]
    )
    with Terminal(bench, columns=160, LANG=language) as terminal:
        terminal.send("x" + ENTER)
        terminal.wait_for(texts["context_full"].format(seconds=2.0, attempt=1, most=2))
        terminal.wait_for_prompt()

    assert 2 == len(bench.prompts())
    assert "x" == bench.prompts()[0]
