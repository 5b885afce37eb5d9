"""Turns in a repository and a session full of planted secrets; then everything that upbeat wrote or said is read.

Left out is what a client must get as its user gave it: the prompt that Codex reads, and a call's own arguments where
an answer hands them back changed.
"""

from __future__ import annotations

import contextlib
import io
import json
import random
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from unittest import mock

from fakes.codex.workbench import Workbench, make_workbench
from own_servers import settings, table
from planted.contexts import PLACINGS
from planted.formats import RUN, Planted, issue, templates, without_marks
from processes import BIN, ROOT, SHIM, run, upbeat
from repositories import git, write

from upbeat.adapters.cli import prepare
from upbeat.adapters.hook_entry.answer import answer_event
from upbeat.adapters.system.environment import read_environment
from upbeat.adapters.system.workspace import side_effects
from upbeat.adapters.wiring import build_application
from upbeat.core.policies import POLICIES
from upbeat.core.policy.definition import Notify

RECORDED = ROOT / "tests" / "recorded" / "claude-code" / "hooks"
FILES = {"py": "python", "yaml": "yaml", "js": "javascript", "md": "markdown", "json": "json", "sh": "shell header"} | {
    "txt": "split by unseen",
    "log": "wrapped",
    "rb": "added strings",
    "env": "split by sequences",
}
"""Ending of a file -> how secrets are placed in it."""
FREE_TEXT = frozenset({"prompt", "command", "stdout", "stderr", "content", "last_assistant_message", "message", "text"})
NOTIFIER = '#!/bin/sh\nprintf "%s\\n" "$@" >> "$HOME/notified"\n'
OWN_SERVER = """
import json, sys
from mcp.server.mcpserver import MCPServer
from mcp.types import ToolAnnotations
secrets = json.load(open(sys.argv[1]))
server = MCPServer("docs")
@server.tool(description="Searches.", annotations=ToolAnnotations(read_only_hint=True), structured_output=False)
def search(q: str) -> str:
    return "send_with_retry: " + "\\n".join(secrets)
@server.tool(description="Fails.", annotations=ToolAnnotations(read_only_hint=True), structured_output=False)
def fail(q: str) -> str:
    raise ValueError(" ".join(secrets[:3]))
server.run("stdio")
"""


@dataclass(slots=True)
class Sinks:
    """What was planted, what was read afterwards, and where a secret was in it."""

    planted: list[Planted]
    texts: dict[str, bytes] = field(default_factory=dict)

    def note(self, sink: str, text: bytes | str) -> None:
        """Take note of what was said, to be read."""
        data = text.encode() if isinstance(text, str) else text
        self.texts[sink] = self.texts.get(sink, b"") + b"\n" + data

    def leaked(self) -> list[str]:
        """Return where a planted secret was seen: eight characters of it in a row."""
        secrets = {
            planted.secret[start : start + RUN]: planted.secret
            for planted in self.planted
            for start in range(len(planted.secret) - RUN + 1)
        }
        leaks: dict[str, None] = {}
        for sink, data in self.texts.items():
            text = without_marks(data.decode("utf-8", "replace"))
            for start in range(len(text) - RUN + 1):
                if secret := secrets.get(text[start : start + RUN]):
                    leaks[f"{sink}: {secret[:4]}…"] = None
        return list(leaks)


def run_turns(folder: Path, is_whole: bool) -> Sinks:
    """Run everything there is: hooks, reports, codex-auto, own tools, crashes, and what the commands show of it."""
    rng = random.Random(5)
    sinks = Sinks([issue(rng, template) for template in templates()])
    bench = make_workbench(folder)
    _plant(bench, rng, sinks.planted)
    _hooks(bench, rng, sinks, is_whole)
    _crashes(bench, rng, sinks)
    _commands(bench, rng, sinks, is_whole)
    for path in sorted(bench.home.rglob("*")):
        if path.is_file() and bench.codex_home not in path.parents and path.name != "secrets.json":
            sinks.note(_sink_of(path), path.read_bytes())
    for path in sorted((bench.repository / ".upbeat").rglob("*")):
        if path.is_file():
            sinks.note("files in the repository", path.read_bytes())
    return sinks


def _plant(bench: Workbench, rng: random.Random, planted: list[Planted]) -> None:
    """Secrets in every file, in commit messages, in the answers of the user's own tools; a notifier that tells."""
    files = {}
    for number, secret in enumerate(planted):
        ending, place = rng.choice(list(FILES.items()))
        body = PLACINGS[place](rng, secret.text)
        files[f"shop/part{number}.{ending}"] = (
            f"# send_with_retry and Cart, part {number}\n{body}\n# checkout retries\n"
        )
    write(bench.repository, files)
    git(bench.repository, "add", "-A")
    git(bench.repository, "commit", "-q", "-m", f"send_with_retry: use {planted[51].text} and {planted[90].text}")
    (bench.home / "secrets.json").write_text(json.dumps([secret.text for secret in planted]))
    (bench.home / "server.py").write_text(OWN_SERVER)
    names = json.dumps([policy.name for policy in POLICIES])
    tools = dict.fromkeys(("search", "fail"), 'query_argument = "q"')
    server = table("docs", [str(bench.home / "server.py"), str(bench.home / "secrets.json")], tools=tools)
    settings(bench.home, f"[policies]\non = {names}\n{server}")
    write(bench.home, {"bin/notify-send": NOTIFIER})
    (bench.home / "bin/notify-send").chmod(0o755)


def _prompt(rng: random.Random, planted: list[Planted]) -> str:
    secrets = " and ".join(secret.text for secret in rng.sample(planted, 4))
    return f"where does send_with_retry in shop/retry.py use {secrets}? also fix the failing test"


def _path(bench: Workbench) -> str:
    return f"{bench.home / 'bin'}:{BIN}:/usr/local/bin:/usr/bin:/bin"


def _hooks(bench: Workbench, rng: random.Random, sinks: Sinks, is_whole: bool) -> None:
    """Every recorded event of Claude Code with secrets in its texts, in one session; the journal is the real one."""
    home = str(bench.home)
    application = build_application(read_environment({"HOME": home, "PATH": _path(bench)}))
    names = sorted(RECORDED.glob("*.json"))
    with mock.patch.dict("os.environ", {"HOME": home, "PATH": _path(bench)}):
        for name in names if is_whole else names[::6]:
            payload = json.loads(name.read_text())["payload"]
            fields = _infected(payload, rng, sinks.planted) | {"cwd": str(bench.repository), "session_id": "s-1"}
            answer = _without_arguments(answer_event("claude-code", fields, application))
            sinks.note("answers of hooks", json.dumps(answer))
        for _ in range(3):
            side_effects.perform_side_effect(Notify("upbeat", _prompt(rng, sinks.planted)), str(bench.repository))
        deadline = time.monotonic() + 10
        while not (bench.home / "notified").exists() and time.monotonic() < deadline:
            time.sleep(0.02)  # the notifier is another process
    command = [str(BIN / "python"), "-I", "-S", str(SHIM), "claude-code"]
    event = {"hook_event_name": "UserPromptSubmit", "session_id": "s-1", "cwd": str(bench.repository)}
    event["prompt"] = _prompt(rng, sinks.planted)
    done = run(command, bench.repository, json.dumps(event).encode(), bench.home)
    sinks.note("answers of hooks", done.stdout)
    sinks.note("stderr", done.stderr)


def _infected(value: Any, rng: random.Random, planted: list[Planted], name: str = "") -> Any:
    """``value`` with a secret in each of its texts."""
    if isinstance(value, Mapping):
        return {key: _infected(inner, rng, planted, key) for key, inner in value.items()}
    if isinstance(value, list):
        return [_infected(inner, rng, planted, name) for inner in value]
    if isinstance(value, str) and name in FREE_TEXT:
        return f"{value} # {rng.choice(planted).text}\nkey {rng.choice(planted).text} done"
    return value


def _without_arguments(output: Any) -> Any:
    """An answer without the call that it hands back to the client."""
    if isinstance(output, Mapping):
        return {name: _without_arguments(inner) for name, inner in output.items() if name != "updatedInput"}
    return [_without_arguments(inner) for inner in output] if isinstance(output, list) else output


def _crashes(bench: Workbench, rng: random.Random, sinks: Sinks) -> None:
    """Faults of ours whose messages have secrets in them: in a hook, and in ``upbeat prepare``."""
    home = str(bench.home)
    application = build_application(read_environment({"HOME": home}))
    for number in range(5):
        fault = RuntimeError(_prompt(rng, sinks.planted))
        broken = replace(
            application, runtime=replace(application.runtime, runner=mock.Mock(run=mock.Mock(side_effect=fault)))
        )
        fields = {"hook_event_name": "UserPromptSubmit", "session_id": f"crash-{number}", "cwd": str(bench.repository)}
        answer = answer_event("claude-code", fields | {"prompt": "fix send_with_retry in shop/retry.py"}, broken)
        sinks.note("crash reports", json.dumps(answer))
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO()
    with (
        mock.patch.object(prepare, "prepare_report", side_effect=RuntimeError(_prompt(rng, sinks.planted))),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        prepare.run(["--prompt", "x"])
    out.flush()
    sinks.note("crash reports", out.buffer.getvalue() + err.getvalue().encode())  # type: ignore[attr-defined]


def _commands(bench: Workbench, rng: random.Random, sinks: Sinks, is_whole: bool) -> None:
    """Reports, codex-auto with the fake Codex, and everything that shows what was stored."""

    def show(sink: str, *arguments: str) -> None:
        done = upbeat(*arguments, cwd=bench.repository, home=bench.home, PATH=_path(bench))
        sinks.note(sink, done.stdout)
        sinks.note("stderr", done.stderr)

    for _ in range(3 if is_whole else 1):
        show("reports", "prepare", "--prompt", _prompt(rng, sinks.planted))
    if is_whole:
        show("reports", "prepare", "--prompt", _prompt(rng, sinks.planted), "--text")
        show("reports", "index")
        show("reports", "prepare", "--prompt", _prompt(rng, sinks.planted))
        show("answers of own tools", "tools", "call", "docs.search", "--args", json.dumps({"q": sinks.planted[3].text}))
        show("answers of own tools", "tools", "call", "docs.fail", "--args", '{"q": "x"}')
    for name in ("why", "log", "status", "stats", "learned", "backtest", "rules") if is_whole else ("why", "log"):
        show("commands", name)
    done = bench.run(_prompt(rng, sinks.planted))
    for text in (done.stdout, done.stderr):
        sinks.note("codex-auto", text)


def _sink_of(path: Path) -> str:
    if "journal" in path.name:
        return "journal"
    if path.name == "notified":
        return "notifications"
    return "index and history" if "index" in str(path) or "history" in str(path) else "other files of upbeat"
