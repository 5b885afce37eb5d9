"""A side effect starts programs on the search path with the texts as arguments, never the repository's."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from processes import wait_until

from upbeat.adapters.system.workspace.side_effects import MAX_SECONDS, MAX_TEXT_CHARS, perform_side_effect
from upbeat.adapters.system.workspace.world_queries import LocalWorldQueries
from upbeat.core.policy.definition import KillTmuxSessions, Notify, SideEffect, TmuxSession

RECORDS = '#!/bin/sh\nfor word in "$@"; do printf "%s\\n" "$word"; done > {log}.part\nmv {log}.part {log}\n'
LISTS = """#!/bin/sh
printf '%s\\n' "$*" >> {log}
[ "$1" = list-sessions ] && printf '$1 1000 0 work\\n$2 500 0 mine\\n$3 1000 1 watched\\n$4 1000 0 a b\\njunk\\n'
exit 0
"""


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder of the search path."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


def program(folder: Path, name: str, text: str) -> Path:
    """Create a program that writes its arguments to a file; return the path of the file."""
    log = folder.parent / f"{name}.log"
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text.format(log=log).replace("mv ", f"{shutil.which('mv', path='/bin:/usr/bin')} "))
    (folder / name).chmod(0o755)
    return log


def arguments(log: Path) -> list[str]:
    """What the program was given, once it has run."""
    wait_until(log.exists, 20)
    return log.read_text(encoding="utf-8").splitlines()


def test_a_notification(path: Path) -> None:
    """notify-send gets title and text as arguments: no control, no markup, no option, no shell."""
    log = program(path, "notify-send", RECORDS)

    LocalWorldQueries().perform(Notify("-u", "$(id) <b>a\\n\x1b[31mb\u202e\n'c'" + " xxx" * 5000), "/repo")

    *options, title, text = arguments(log)
    assert ["--app-name=upbeat", "--", "-u"] == [*options, title]
    assert text.startswith("$(id) &lt;b&gt;a\\\\nb 'c' xxx")
    assert len(text) < 2 * MAX_TEXT_CHARS


def test_a_notification_on_a_mac(path: Path) -> None:
    """For osascript the texts are no part of the script."""
    log = program(path, "osascript", RECORDS)

    perform_side_effect(Notify("upbeat", '" & (do shell script "id") & "'), "/repo")

    assert ["upbeat", "upbeat", '" & (do shell script "id") & "'] == arguments(log)[-3:]


def test_nobody_waits_for_a_notification(path: Path) -> None:
    """A slow notification program does not delay the caller."""
    program(path, "notify-send", "#!/bin/sh\nexec /bin/sleep 15\n# {log}\n")
    start = time.monotonic()

    perform_side_effect(Notify("upbeat", "done"), "/repo")

    assert time.monotonic() - start < 10


@pytest.mark.parametrize("side_effect", [Notify("a", "b"), KillTmuxSessions((TmuxSession("work", 1000, 1000),))])
def test_programs_of_the_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, side_effect: SideEffect) -> None:
    """A program inside the repository is not started, whether PATH leads there directly or by a link."""
    inside = tmp_path / "repo" / "bin"
    inside.parent.mkdir()
    linked = tmp_path / "linked"
    linked.symlink_to(inside)
    logs = [program(inside, name, RECORDS) for name in ("notify-send", "osascript", "tmux")]
    monkeypatch.setenv("PATH", f"{inside}:{linked}")

    perform_side_effect(side_effect, str(tmp_path / "repo"))
    time.sleep(0.1)

    assert [False] * 3 == [log.exists() for log in logs]


@pytest.mark.parametrize("side_effect", [Notify("a", "b"), KillTmuxSessions((TmuxSession("work", 1000, 1000),))])
def test_nothing_is_there(path: Path, side_effect: SideEffect) -> None:
    """Without the program, or with one that cannot be started, nothing happens."""
    perform_side_effect(side_effect, "/repo")
    for name in ("notify-send", "tmux"):
        program(path, name, "#!/nowhere/sh {log}\n")
    perform_side_effect(side_effect, "/repo")


def test_only_the_agents_sessions_are_ended(path: Path) -> None:
    """A session with another time or name, or with an attached client, stays."""
    log = program(path, "tmux", LISTS)
    wanted = tuple(TmuxSession(name, 990, 1000) for name in ("work", "mine", "watched", "gone"))

    perform_side_effect(KillTmuxSessions(wanted), "/repo")

    assert ["list-sessions", "kill-session -t $1"] == [line.partition(" -F")[0] for line in arguments(log)]


def test_ending_is_bounded(path: Path) -> None:
    """A tmux that hangs is left alone."""
    program(path, "tmux", "#!/bin/sh\nexec /bin/sleep 30\n# {log}\n")
    start = time.monotonic()

    perform_side_effect(KillTmuxSessions((TmuxSession("work", 0, 1),)), "/repo")

    assert time.monotonic() - start < MAX_SECONDS + 15


@pytest.fixture
def tmux(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A tmux server of its own."""
    program = shutil.which("tmux")
    if program is None:
        pytest.skip("no tmux here")
    monkeypatch.setenv("TMUX_TMPDIR", str(tmp_path))
    monkeypatch.delenv("TMUX", raising=False)
    yield program
    subprocess.run([program, "kill-server"], check=False, capture_output=True)


def test_a_real_tmux(tmux: str) -> None:
    """The session of this moment is ended, another one is not."""
    for name in ("ours", "theirs"):
        subprocess.run([tmux, "new-session", "-d", "-s", name, "sleep 60"], check=True)
    now = int(time.time())

    perform_side_effect(
        KillTmuxSessions((TmuxSession("ours", now - 60, now), TmuxSession("theirs", now - 900, now - 600))), "/repo"
    )

    left = subprocess.run([tmux, "list-sessions", "-F", "#{session_name}"], capture_output=True, check=True).stdout
    assert b"theirs\n" == left
