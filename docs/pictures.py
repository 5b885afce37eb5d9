"""Draws the terminal pictures of the README: a real program on a real screen, as SVG. ``python docs/pictures.py``.

The screen is pyte's; nothing is typed in by hand. Needs the test extra (pexpect, pyte) and, for codex-auto, what
the end-to-end tests need (npm and unshare), because it is the real Codex that answers to it.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from html import escape
from itertools import groupby
from pathlib import Path

import pexpect
import pyte
from wcwidth import wcwidth

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))
PICTURES = ROOT / "docs" / "pictures"
CELL_WIDTH, LINE_HEIGHT, MARGIN = 8.4, 18, 16

COLORS = {
    "default": "#d8dee9",
    "black": "#4c566a",
    "red": "#e06c75",
    "green": "#98c379",
    "brown": "#e5c07b",
    "blue": "#61afef",
    "magenta": "#c678dd",
    "cyan": "#56b6c2",
    "white": "#eceff4",
    "brightblack": "#8b94a7",
}


@dataclass(frozen=True, slots=True)
class Style:
    """How a run of cells looks."""

    color: str
    bold: bool
    reverse: bool


def svg(screen: pyte.Screen, title: str) -> str:
    """The screen as a picture, empty lines at the end left out."""
    lines = [[screen.buffer[row][column] for column in range(screen.columns)] for row in range(screen.lines)]
    while lines and not "".join(cell.data for cell in lines[-1]).strip():
        lines.pop()
    width = screen.columns * CELL_WIDTH + 2 * MARGIN
    height = (len(lines) + 1) * LINE_HEIGHT + 2 * MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" role="img">',
        f"<title>{escape(title)}</title>",
        '<rect width="100%" height="100%" rx="8" fill="#20242c"/>',
        '<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="14">',
    ]
    for row, cells in enumerate(lines):
        parts += _line(cells, MARGIN + (row + 1) * LINE_HEIGHT)
    return "\n".join([*parts, "</g>", "</svg>", ""])


def _line(cells: list[pyte.screens.Char], y: float) -> list[str]:
    drawn = []
    column = 0
    for style, run in groupby(cells, key=_style):
        text = "".join(cell.data for cell in run)
        cell_count = sum(max(wcwidth(char), 0) for char in text)
        x = MARGIN + column * CELL_WIDTH
        column += cell_count
        if style.reverse:
            box = f'x="{x:.1f}" y="{y - LINE_HEIGHT + 4:.1f}" width="{cell_count * CELL_WIDTH:.1f}" height="{LINE_HEIGHT}"'
            drawn.append(f'<rect {box} fill="{style.color}"/>')
        if text.strip():
            fill = "#20242c" if style.reverse else style.color
            weight = ' font-weight="bold"' if style.bold else ""
            length = f'textLength="{cell_count * CELL_WIDTH:.1f}" lengthAdjust="spacingAndGlyphs"'
            drawn.append(
                f'<text x="{x:.1f}" y="{y:.1f}" fill="{fill}"{weight} xml:space="preserve" {length}>{escape(text)}</text>'
            )
    return drawn


def _style(cell: pyte.screens.Char) -> Style:
    color = COLORS.get(cell.fg) or COLORS.get(
        cell.fg.removeprefix("bright"), f"#{cell.fg}" if len(cell.fg) == 6 else COLORS["default"]
    )
    return Style(color, cell.bold, cell.reverse)


def draw(name: str, title: str, screen: pyte.Screen) -> None:
    """Write one picture."""
    PICTURES.mkdir(exist_ok=True)
    (PICTURES / f"{name}.svg").write_text(svg(screen, title), encoding="utf-8")
    print(f"drew docs/pictures/{name}.svg")


def prepared_turn() -> None:
    """`upbeat prepare --text` on a small repository."""
    from e2e.sample_repository import make_sample_repository

    with tempfile.TemporaryDirectory() as folder:
        repository = make_sample_repository(Path(folder) / "shop")
        screen = pyte.Screen(80, 40)
        stream = pyte.Stream(screen)
        question = "where does total_price apply the discount?"
        stream.feed(f"$ upbeat prepare --text --prompt '{question}'\r\n")
        program = str(ROOT / ".venv" / "bin" / "upbeat")
        spawned = pexpect.spawn(
            program, ["prepare", "--text", "--prompt", question], cwd=str(repository), dimensions=(40, 80)
        )
        stream.feed(spawned.read().decode())
        spawned.close()
        assert spawned.exitstatus == 0, "\n".join(screen.display)
        draw("prepare", "A prepared turn", screen)


PATCH = """\
*** Begin Patch
*** Update File: shop/discounts.py
@@
 def discount_for(total):
     \"\"\"Ten per cent off above a hundred.\"\"\"
-    return total // 10 if total > 100 else 0
+    return total // 10 if total >= 100 else 0
*** End Patch
"""

ANSWER = """\
A cart of exactly 100 got no discount: `discount_for` asked for more than 100. It takes 100 now, and
`total_price` in `shop/cart.py` takes the discount off as before.
"""


def conversation() -> None:
    """codex-auto with the real Codex; only the model behind it is scripted."""
    from e2e.clients import CLIENTS, install
    from e2e.sandbox import make_sandbox
    from e2e.terminal import Terminal

    script = [
        {"when": "hello", "reply": [{"text": "Hello."}]},
        {"kind": "any", "reply": [{"tool": "exec_command", "input": {"cmd": "grep -n discount_for -r shop"}}]},
        {"kind": "any", "reply": [{"tool": "apply_patch", "input": PATCH}]},
        {"kind": "any", "reply": [{"text": ANSWER, "every": 0.01}]},
    ]
    with tempfile.TemporaryDirectory() as folder:
        sandbox = make_sandbox(Path(folder) / "s", {name: install(name) for name in CLIENTS})
        with Terminal(sandbox, ["codex-auto"], script, columns=100, lines=26, answers=True) as terminal:
            terminal.wait_for("mode: run")
            terminal.submit("hello")  # so that what is said once, at the beginning, has been said
            terminal.wait_for("tokens", patience=60)
            terminal.send("\x0c")  # Ctrl-L clears the screen
            terminal.submit("total_price gives no discount on a cart of exactly 100, fix it")
            terminal.wait_for("tokens", patience=60)
            terminal.wait_for("mode: run")
            draw("codex-auto", "A turn of codex-auto", terminal.screen)


def delegated(agent: str, call: str) -> dict[str, object]:
    """Claude Code is about to hand work to an agent."""
    work = {"description": agent, "prompt": "Do your step.", "subagent_type": f"upbeat:{agent}"}
    return {"hook_event_name": "PreToolUse", "tool_name": "Agent", "tool_use_id": call, "tool_input": work}


def returned(agent: str, call: str, message: str) -> dict[str, object]:
    """And has its answer."""
    answer = {"status": "completed", "agentId": f"a-{call}", "content": [{"type": "text", "text": message}]}
    return delegated(agent, call) | {"hook_event_name": "PostToolUse", "tool_response": answer}


SESSION = [
    {"hook_event_name": "UserPromptSubmit", "prompt": "/upbeat:quick rename the retry limit"},
    delegated("tester", "c0"),
    delegated("developer", "c1"),
    returned("developer", "c1", "**Findings** renamed in three places."),
    delegated("code-reviewer", "c2"),
    delegated("tester", "c3"),
    returned("code-reviewer", "c2", 'Clean.\n<!-- VERDICT: {"result": "PASS"} -->'),
    returned("tester", "c3", 'All green.\n<!-- VERDICT: {"result": "PASS"} -->'),
    {"hook_event_name": "Stop", "last_assistant_message": "All done.", "background_tasks": []},
]
"""What a client tells while a quick workflow runs: the tester says that all is green, and has run nothing."""


def workflow() -> None:
    """The shell's view of a workflow, after the payloads of ``SESSION`` went through the hook."""
    with tempfile.TemporaryDirectory() as folder:
        repository = Path(folder) / "shop"
        (repository / ".git").mkdir(parents=True)
        screen = pyte.Screen(80, 70)
        stream = pyte.Stream(screen)
        environment = {"HOME": folder, "LANG": "en_GB.UTF-8", "TERM": "xterm", "PATH": "/usr/bin:/bin", "TZ": "UTC"}
        program = str(ROOT / ".venv" / "bin" / "upbeat")
        for fields in SESSION:
            payload = json.dumps({"session_id": "7c1f0e52", "cwd": str(repository)} | fields)
            done = subprocess.run(
                [program, "hook", "claude"], input=payload, env=environment, text=True, capture_output=True
            )
            assert (0, "") == (done.returncode, done.stderr)
        for words in (["status"], ["log", "--last", "9"], ["why", "--last"]):
            stream.feed(f"$ upbeat {' '.join(words)}\r\n")
            spawned = pexpect.spawn(program, words, cwd=str(repository), env=environment, dimensions=(70, 80))
            stream.feed(spawned.read().decode().replace(folder, "/home/dev") + "\r\n")
            spawned.close()
            assert spawned.exitstatus in (0, 3), "\n".join(screen.display)
        draw("workflow", "A workflow, seen from a shell", screen)


def main() -> None:
    prepared_turn()
    workflow()
    conversation()


if __name__ == "__main__":
    main()
