"""Plan mode only says what a turn would do: the same bytes everywhere, no write, no process, no socket."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from processes import UPBEAT, environment, run, upbeat
from repositories import PROMPT, git, make_repository
from turns import turn

AUDIT = """
import os, sys
seen = []
def hook(event, args):
    if event in ("subprocess.Popen", "os.fork", "os.forkpty", "os.exec", "os.posix_spawn", "os.system"):
        seen.append(event)
    if event.startswith("socket."):
        seen.append(event)
    if event == "open" and args[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND):
        seen.append(f"open {args[0]}")
    if event in ("os.mkdir", "os.remove", "os.rename", "os.link", "os.symlink", "os.truncate", "shutil.move"):
        seen.append(f"{event} {args[0]}")
sys.addaudithook(hook)
from upbeat.adapters.cli.main import main
for prompt in sys.argv[1:]:
    main(["prepare", "--plan", "--prompt", prompt])
sys.stderr.write("SEEN " + repr(seen))
"""
CALLS = (
    "execve,execveat,fork,vfork,clone,clone3,socket,connect,open,openat,openat2,creat,mkdir,mkdirat,unlink,unlinkat,"
    "rename,renameat,renameat2,link,linkat,symlink,symlinkat,truncate,ftruncate,chmod,fchmodat"
)
HARMLESS = re.compile(r"/dev/(?:null|tty)|ENOENT|__pycache__")
TOUCHES = re.compile(
    r"O_WRONLY|O_RDWR|O_CREAT|O_TRUNC|O_APPEND|\b(?:mkdir|unlink|rename|link|symlink|truncate|chmod|creat)"
)


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_repository(tmp_path_factory.mktemp("r") / "repo")


def plan(cwd: Path, home: Path, *arguments: str, **extra: str) -> bytes:
    return upbeat("prepare", "--plan", "--prompt", PROMPT, *arguments, cwd=cwd, home=home, **extra).stdout


def test_the_same_bytes_everywhere(repo: Path, tmp_path: Path) -> None:
    """Hash seed, time zone, locale, home, time and place of the checkout leave no trace in a plan."""
    clone = tmp_path / "another place 别处" / "clone"
    git(tmp_path, "clone", "-q", str(repo), str(clone))
    plans = {
        plan(repo, tmp_path),
        plan(repo / "shop", tmp_path / "no home", PYTHONHASHSEED="1", TZ="Asia/Shanghai", LC_ALL="zh_CN.UTF-8"),
        plan(clone / "shop", clone, PYTHONHASHSEED="2", TZ="America/New_York", PYTHONUTF8="0", LC_ALL="C", TERM="dumb"),
    }

    assert 1 == len(plans)
    assert str(tmp_path).encode() not in next(iter(plans))


def test_an_ascii_locale_reads_the_same_prompt(repo: Path, tmp_path: Path) -> None:
    """A Chinese prompt on the command line is read correctly even if Python assumes ASCII."""
    prompt = ["--prompt", "为什么 shop/cart.py 里的 total_price 算错了？"]
    ascii_only = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    here, there = (upbeat("prepare", "--plan", *prompt, cwd=repo, home=tmp_path, **more) for more in ({}, ascii_only))

    assert (0, 0, here.stdout) == (here.code, there.code, there.stdout)
    assert prompt[1] == here.report["inputs"]["prompt"]


def test_other_inputs_give_another_plan(repo: Path, tmp_path: Path) -> None:
    """The run ID depends on the prompt, the repository's history and the configuration."""
    other = make_repository(tmp_path / "other", {"x.py": "x = 1\n"})

    def run_id(cwd: Path, prompt: str = PROMPT, **variables: str) -> str:
        return turn(prompt, cwd, request={"is_plan": True}, home=tmp_path, **variables).run_id

    assert 4 == len(
        {run_id(repo), run_id(other), run_id(repo, PROMPT + "!"), run_id(repo, CI_AUTO_TOOLS_BUDGET_WALL_MS="1234")}
    )


def test_nothing_is_written_run_or_connected(repo: Path, tmp_path: Path) -> None:
    """By the interpreter's own account a plan opens nothing for writing, and starts and connects nothing."""
    prompts = [PROMPT, "hello", "fix the bug in shop/retry.py"]
    done = run([sys.executable, "-B", "-c", AUDIT, *prompts], repo, home=tmp_path)

    assert "SEEN []" == done.stderr[done.stderr.index("SEEN") :]
    assert len(prompts) == done.stdout.count(b'"run_id": "plan-')
    assert [] == list(tmp_path.iterdir())


@pytest.mark.skipif(not shutil.which("strace"), reason="strace is not installed; the audit hook above stands in")
def test_nothing_by_the_kernels_account(repo: Path, tmp_path: Path) -> None:
    """Under strace, after its own start the process writes no file, starts no process, opens no socket."""
    trace = tmp_path / "trace"
    strace = ["strace", "-f", "-qq", "-e", f"trace={CALLS}", "-o", str(trace)]
    command = [*strace, sys.executable, "-I", "-B", "-m", "upbeat", "prepare", "--plan", "--prompt", PROMPT]
    done = subprocess.run(command, cwd=repo, env=environment(tmp_path), capture_output=True, check=False)
    if done.returncode and not trace.exists():
        pytest.skip(f"strace may not trace here: {done.stderr.decode()[:80]}")
    calls = [line.split(None, 1)[1] for line in trace.read_text(errors="replace").splitlines()]
    started = [call for call in calls if re.match(r"(?:execve|v?fork|clone3?)\(", call)]
    sockets = [call for call in calls if re.match(r"(?:socket|connect)\(", call)]
    written = [call for call in calls if TOUCHES.search(call) and not HARMLESS.search(call)]

    assert (0, 1, [], []) == (done.returncode, len(started), sockets, written)
    assert len(calls) > 50


def test_no_git_is_started(repo: Path, tmp_path: Path) -> None:
    """Git is not run for a plan but is for a turn, as the mark of a fake git on PATH shows."""
    (tmp_path / "git").write_text(f"#!/bin/sh\necho run >> '{tmp_path}/mark'\nexit 1\n")
    (tmp_path / "git").chmod(0o755)
    path = {"PATH": f"{tmp_path}:{os.path.dirname(UPBEAT)}:/usr/bin:/bin"}
    plan(repo, tmp_path, **path)
    after_plan = (tmp_path / "mark").exists()
    upbeat("prepare", "--prompt", PROMPT, cwd=repo, home=tmp_path, **path)

    assert (False, True) == (after_plan, (tmp_path / "mark").exists())
