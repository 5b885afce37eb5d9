"""Whether an installation restores every byte, whatever the home is like, and wherever it is killed."""

from __future__ import annotations

import io
import os
import random
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from unittest.mock import patch

from processes import Finished

from upbeat.adapters.cli.main import main
from upbeat.adapters.install.byte_code import CompileResult
from upbeat.adapters.install.receipt import receipt_path
from upbeat.adapters.system.environment import read_environment
from upbeat.adapters.system.files.atomic import DRAFT_NAME
from upbeat.adapters.system.files.settings_edit import SettingsEntry, insert_entries, parse_settings
from upbeat.adapters.system.files.toml_edit import is_same_value

from .homes import Home, Picture, make_home, picture
from .killing import kills, require_strace
from .promise import Scenario, Seen, none_of

PART = "Install and uninstall"
CLIENTS = ("claude", "codex")
COMPILES = "upbeat.adapters.cli.install.compile_missing"
"""Byte code is beside the package and in no home; the part of packaging looks after it."""
XDG_FOLDERS = {".local", ".local/share", "data"}
"""Empty ones are left by an install that was killed before it had a receipt, and removed by uninstall."""


def upbeat(home: Home, *arguments: str) -> Finished:
    """Run ``upbeat`` in this process, with the environment of ``home`` and nothing else."""
    out, err = io.StringIO(), io.StringIO()
    with (
        patch.dict(os.environ, {"PATH": os.environ["PATH"], **home.variables}, clear=True),
        redirect_stdout(out),
        redirect_stderr(err),
        patch(COMPILES, lambda _draw: CompileResult(0)),
    ):
        code = main(arguments)
    return Finished(code, out.getvalue().encode(), err.getvalue())


def homes(folder: Path, number: int, *, harmed: bool | None = None) -> Iterator[Home]:
    """So many homes, of both clients in turn."""
    for seed in range(number):
        client = "claude" if seed % 2 else "codex"
        yield make_home(folder / str(seed), seed, client, harmed=harmed)


def install_there_and_back(folder: Path, number: int) -> Iterator[Seen]:
    """Install, install again and uninstall in ``number`` homes."""
    refused: Counter[str] = Counter()
    differ: list[str] = []
    for home in homes(folder, number):
        refused[home.harm] += bool(home.harm)
        if problem := _difference(home):
            differ.append(f"{home.root.name} ({home.client}, {home.harm or 'sound'}): {problem}")
    kinds = sum(count > 0 for count in refused.values())
    yield none_of(
        "Install, install again, uninstall: the home is byte-identical, the edit keeps every byte of the settings in "
        "order, the second install touches nothing; where the settings cannot be edited, nothing is touched at all",
        "0 differ",
        differ,
        f"differ of {number} homes: {number - refused.total()} installed twice and uninstalled, "
        f"{refused.total()} refused and left alone ({kinds} kinds of harm)",
    )


def _difference(home: Home) -> str:
    """Install, install, uninstall; return what was wrong with it, or nothing."""
    before = picture(home.root, times=True)
    first = upbeat(home, "install", home.client, "--yes")
    if home.harm:
        gone = upbeat(home, "uninstall", home.client, "--yes")
        unharmed = before == picture(home.root, times=True)
        return "" if (first.code, gone.code, unharmed) == (1, 0, True) else f"not refused: {first} {gone}"
    installed = picture(home.root, times=True)
    if problem := _unlike(home, before, installed):
        return problem
    second = upbeat(home, "install", home.client, "--yes")
    untouched = installed == picture(home.root, times=True)
    gone = upbeat(home, "uninstall", home.client, "--yes")
    if (0, 0, 0) != (first.code, second.code, gone.code):
        return f"failed: {first.stderr} {second.stderr} {gone.stderr}"
    if not untouched or b"already installed and up to date" not in second.stdout:
        return "the second install changed something"
    if installed == before:
        return "nothing was installed"
    now = picture(home.root)
    return "" if now == timeless(before) else f"not given back: {different(timeless(before), now)}"


def _unlike(home: Home, before: Picture, installed: Picture) -> str:
    """Return how the edited settings lack something of what was there, or nothing.

    Every byte stays in its order, but for a value of ours that said something else, and so does the kind of line end.
    """
    name = os.path.relpath(os.path.realpath(home.file), os.path.realpath(home.root))
    if name not in before or before[name][2] == installed[name][2]:
        return ""
    old, new = (pictured[name][2] for pictured in (before, installed))
    rest = iter(new)
    if not all(byte in rest for byte in old.replace(b"false", b"")):
        return "a byte of the settings is lost, or stands elsewhere"
    ends = [set(re.findall(rb"\r?\n", text)) for text in (old, new)]
    return "another kind of line end" if ends[0] and ends[0] != ends[1] else ""


def timeless(seen: Picture) -> Picture:
    return {name: what[:3] if what[0] == "file" else what[:2] for name, what in seen.items()}


def different(before: Picture, after: Picture) -> list[str]:
    return sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))[:3]


# Edits by others


def edit_settings(folder: Path, number: int) -> Iterator[Seen]:
    """Edit the settings of ``number`` homes between install and uninstall."""
    counts: Counter[str] = Counter()
    lost: list[str] = []
    for home in homes(folder, number, harmed=False):
        if upbeat(home, "install", home.client, "--yes").code:
            lost.append(f"{home.root.name}: not installed")
            continue
        outcome, problem = _edited(home, random.Random(home.root.name))
        counts[outcome] += 1
        lost += [f"{home.root.name} ({home.client}): {problem}"] if problem else []
    yield none_of(
        "What another program changes in the settings between install and uninstall is never lost: uninstall removes "
        "only upbeat's entries",
        "0 lost",
        lost,
        f"of {number} edits: " + ", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items())),
    )


def _edited(home: Home, chance: random.Random) -> tuple[str, str]:
    """Change the settings as another program would, and uninstall; return what became of it, and what was wrong."""
    file = Path(os.path.realpath(home.file))
    kind = "json" if home.client == "claude" else "toml"
    theirs, is_ours = _edit(file.read_bytes(), kind, chance)
    file.write_bytes(theirs)
    done = upbeat(home, "uninstall", home.client, "--yes")
    if is_ours and done.code == 0 and file.exists() and file.read_bytes() == settings_before(home):
        return "of which the file was as before the install again", ""
    left = parse_settings(kind, file.read_bytes() if file.exists() else None)
    wanted = {name: value for name, value in parse_settings(kind, theirs).items() if name not in OURS}
    if done.code or not is_same_value(wanted, {name: value for name, value in left.items() if name not in OURS}):
        return "merged wrongly", f"merged wrongly: {done.stderr} {wanted} {left}"
    named = [name for name in OURS if "upbeat" in str(left.get(name)) and b"upbeat@upbeat" not in settings_before(home)]
    return "merged" + " after an entry of upbeat was changed" * is_ours, f"left behind: {named}" if named else ""


OFF = {"enabled": False}
OURS = ("enabledPlugins", "extraKnownMarketplaces", "plugins", "marketplaces")


def settings_before(home: Home) -> bytes:
    """Return what the same home had in its settings before."""
    with tempfile.TemporaryDirectory() as folder:
        again = make_home(Path(folder, home.root.name), int(home.root.name), home.client, harmed=False)
        return again.file.read_bytes() if again.file.exists() else b""


def _edit(data: bytes, kind: str, chance: random.Random) -> tuple[bytes, bool]:
    """Return the settings with an edit, and whether it changes an entry of upbeat."""
    if chance.random() < 0.2:
        ours = {"json": (("enabledPlugins", "upbeat@upbeat"), False), "toml": (("plugins", "upbeat@upbeat"), OFF)}[kind]
        return insert_entries(kind, data, [SettingsEntry(*ours)]), True
    if kind == "json":
        return insert_entries(kind, data, [SettingsEntry(("theirs",), {"added": [1, "店"]})]), False
    if chance.random() < 0.5:
        return data + b'\n[theirs]\nadded = "\xe5\xba\x97" # mine\n', False
    return insert_entries(kind, data, [SettingsEntry(("theirs", "x"), {"a": True})]), False


def visit_clean_homes(folder: Path, _amount: None) -> Iterator[Seen]:
    """Uninstall, and install with --dry-run, where nothing is."""
    made = 0
    for client in CLIENTS:
        root = folder / client
        root.mkdir()
        home = Home(root, client, root, {"HOME": str(root)})
        runs = [upbeat(home, "uninstall", client, *words) for words in ((), ("--yes",), ("--dry-run",))]
        runs.append(upbeat(home, "install", client, "--dry-run"))
        made += len(picture(root)) + sum(run.code for run in runs)
    claim = "Uninstall, and install with --dry-run, create nothing in a clean home"
    yield Seen(claim, "0 files made", f"{made} files made, {len(CLIENTS)} clients", made == 0)


# Kills


@dataclass(slots=True)
class Kills:
    """What came of the kills of one command."""

    count: int = 0
    partial: list[str] = field(default_factory=list)
    unclean: list[str] = field(default_factory=list)


def kill_commands(folder: Path, step: int) -> Iterator[Seen]:
    """Kill both commands at every so manieth call."""
    require_strace()
    places = "every call" if step == 1 else f"one call of {step}"
    for command in ("install", "uninstall"):
        seen = Kills()
        for client in CLIENTS:
            _kill_command(command, client, folder / f"{command} {client}", step, seen)
        yield none_of(
            f"Killed at any call with which {command} changes a file, each file is the old one or the new one",
            "0 partial",
            seen.partial,
            f"partial, {seen.count} kills ({places}, both clients)",
            holds=seen.count > 0,
        )
        yield none_of(
            f"After a killed {command}, install completes it and uninstall restores every byte",
            "0 unclean",
            seen.unclean,
            f"unclean of {seen.count}",
            holds=seen.count > 0,
        )


def _kill_command(command: str, client: str, folder: Path, step: int, seen: Kills) -> None:
    folder.mkdir()
    home, kept = make_home(folder / "7", 7, client, harmed=False), folder / "kept"
    old = picture(home.root)
    if command == "install":
        shutil.copytree(home.root, kept, symlinks=True)
    installed = upbeat(home, "install", client, "--yes")
    new = picture(home.root)
    if command == "uninstall":
        shutil.copytree(home.root, kept, symlinks=True)
    private = os.path.relpath(receipt_path(read_environment(home.variables), client).parent, home.root)
    assert installed.code == 0, installed.stderr

    def begin() -> None:
        shutil.rmtree(home.root)
        shutil.copytree(kept, home.root, symlinks=True)

    def work() -> None:
        assert upbeat(home, command, client, "--yes").code == 0

    for place in kills(work, begin, step):
        seen.count += 1
        now = picture(home.root)
        seen.partial += [f"{client}, {place}: {name}" for name in _partial(old, new, now, private)]
        seen.unclean += [f"{client}, {place}: {problem}" for problem in _finish(home, seen.count, old, new, private)]


def _partial(old: Picture, new: Picture, now: Picture, private: str) -> list[str]:
    """Return files that are neither as before nor as after; a draft is none yet, and the receipt is not the user's."""
    gone = [name for name in old.keys() & new.keys() if name not in now]
    return gone + [
        name
        for name, what in now.items()
        if what not in (old.get(name), new.get(name))
        and not DRAFT_NAME.fullmatch(os.path.basename(name))
        and not name.startswith(private)
    ]


def _finish(home: Home, number: int, old: Picture, new: Picture, private: str) -> Iterator[str]:
    """Yield what is wrong when it goes on after a kill: every other time completed, then uninstalled."""
    if number % 2:
        again = upbeat(home, "install", home.client, "--yes")
        completed = {name: what for name, what in picture(home.root).items() if not name.startswith(private)}
        wanted = {name: what for name, what in new.items() if not name.startswith(private)}
        if again.code or completed != wanted:
            yield f"not completed: {different(completed, wanted)} {again.stderr}"
    gone = upbeat(home, "uninstall", home.client, "--yes")
    now = {name: what for name, what in picture(home.root).items() if name not in XDG_FOLDERS}
    if gone.code or now != {name: what for name, what in old.items() if name not in XDG_FOLDERS}:
        yield f"not given back: {different(now, old)} {gone.stderr}"


SCENARIOS = (
    Scenario(install_there_and_back, 12, 1000),
    Scenario(edit_settings, 8, 400),
    Scenario(visit_clean_homes),
    Scenario(kill_commands, 151, 1),
)
