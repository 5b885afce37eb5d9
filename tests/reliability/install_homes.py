"""Whether an installation restores every byte, whatever the home is like, and wherever it is killed."""

from __future__ import annotations

import contextlib
import io
import os
import random
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from unittest.mock import patch

from upbeat.adapters.cli.main import main
from upbeat.adapters.install.byte_code import CompileResult
from upbeat.adapters.install.receipt import receipt_path
from upbeat.adapters.system.environment import read_environment
from upbeat.adapters.system.files.atomic import DRAFT_NAME
from upbeat.adapters.system.files.settings_edit import SettingsEntry, insert_entries, parse_settings
from upbeat.adapters.system.files.toml_edit import is_same_value

from .homes import Home, Picture, make_home, picture
from .killing import kills, require_strace
from .promise import Seen

PART = "Install and uninstall"
CLIENTS = ("claude", "codex")
HOMES, FEW = 1000, 12
EDITED, FEW_EDITED = 400, 8
SEVERAL = 151
"""In short: every so manieth place to be killed at."""
COMPILES = "upbeat.adapters.cli.install.compile_missing"
"""Byte code is beside the package and in no home; the part of packaging looks after it."""
XDG_FOLDERS = {".local", ".local/share", "data"}
"""Empty ones are left by an install that was killed before it had a receipt, and taken back by uninstall."""


def look(full: bool) -> Iterator[Seen]:
    yield _there_and_back(HOMES if full else FEW)
    yield _foreign_edits(EDITED if full else FEW_EDITED)
    yield _clean_homes()
    yield from _kills(1 if full else SEVERAL)


@dataclass(slots=True)
class Ran:
    """One run of ``upbeat``."""

    code: int
    out: str
    err: str


def upbeat(home: Home, *arguments: str) -> Ran:
    """Run ``upbeat`` in this process, with the environment of ``home`` and nothing else."""
    kept = dict(os.environ)
    out, err = io.StringIO(), io.StringIO()
    try:
        os.environ.clear()
        os.environ.update({"PATH": kept["PATH"], **home.variables})
        with (
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
            patch(COMPILES, lambda: CompileResult(0, 0)),
        ):
            code = main(arguments)
    finally:
        os.environ.clear()
        os.environ.update(kept)
    return Ran(code, out.getvalue(), err.getvalue())


def homes(folder: Path, number: int, *, harmed: bool | None = None) -> Iterator[Home]:
    """So many homes, of both clients in turn."""
    for seed in range(number):
        client = "claude" if seed % 2 else "codex"
        yield make_home(folder / str(seed), seed, client, harmed=harmed)


def _there_and_back(number: int) -> Seen:
    refused: Counter[str] = Counter()
    differ: list[str] = []
    with tempfile.TemporaryDirectory(prefix="upbeat-homes-") as folder:
        for home in homes(Path(folder), number):
            problem = _tried(home)
            refused[home.harm] += bool(home.harm)
            differ += [f"{home.root.name} ({home.client}, {home.harm or 'sound'}): {problem}"] if problem else []
    kinds = sum(count > 0 for count in refused.values())
    figure = (
        f"{len(differ)} differ of {number} homes: {number - refused.total()} installed twice and taken back, "
        f"{refused.total()} refused and left alone ({kinds} kinds of harm)"
    )
    return Seen(
        "Install, install again, uninstall: the home is byte-identical, the edit keeps every byte of the settings in "
        "order, the second install touches nothing; where the settings cannot be edited, nothing is touched at all",
        "0 differ",
        "; ".join([figure, *differ[:3]]),
        not differ,
    )


def _tried(home: Home) -> str:
    """Install, install, uninstall; what was wrong with it, or nothing."""
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
        return f"failed: {first.err} {second.err} {gone.err}"
    if not untouched or "already installed and up to date" not in second.out:
        return "the second install changed something"
    if installed == before:
        return "nothing was installed"
    now = picture(home.root)
    return "" if now == timeless(before) else f"not given back: {different(timeless(before), now)}"


def _unlike(home: Home, before: Picture, installed: Picture) -> str:
    """How the edited settings lack something of what was there, or nothing: every byte in its order, but for a value of
    ours that said something else, and no other kind of line end."""
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


def different(one: Picture, other: Picture) -> list[str]:
    return sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))[:3]


# Edits by others


def _foreign_edits(number: int) -> Seen:
    counts: Counter[str] = Counter()
    lost: list[str] = []
    with tempfile.TemporaryDirectory(prefix="upbeat-edited-") as folder:
        for home in homes(Path(folder), number, harmed=False):
            if upbeat(home, "install", home.client, "--yes").code:
                lost.append(f"{home.root.name}: not installed")
                continue
            what, problem = _edited(home, random.Random(home.root.name))
            counts[what] += 1
            lost += [f"{home.root.name} ({home.client}): {problem}"] if problem else []
    figure = f"{len(lost)} lost of {number} edits: " + ", ".join(f"{n} {what}" for what, n in sorted(counts.items()))
    return Seen(
        "What another program changes in the settings between install and uninstall is never lost: uninstall refuses, "
        "and takes out only what is ours when it is told to merge",
        "0 lost",
        "; ".join([figure, *lost[:3]]),
        not lost,
    )


def _edited(home: Home, chance: random.Random) -> tuple[str, str]:
    """Change the settings as another program would, and uninstall; what became of it, and what was wrong."""
    file = Path(os.path.realpath(home.file))
    kind = "json" if home.client == "claude" else "toml"
    theirs, is_ours = _edit(file.read_bytes(), kind, chance)
    file.write_bytes(theirs)
    edited = picture(home.root, times=True)
    refused = upbeat(home, "uninstall", home.client, "--yes")
    if is_ours and refused.code == 0 and file.read_bytes() == settings_before(home):
        return "taken back at once, since they said again what was there before", ""
    if refused.code != 1 or edited != picture(home.root, times=True) or "--merge" not in refused.err:
        return "not refused", f"not refused: {refused}"
    merged = upbeat(home, "uninstall", home.client, "--yes", "--merge")
    if is_ours:
        untouched = merged.code == 1 and edited == picture(home.root, times=True)
        return "refused, since it is what we wrote that was changed", "" if untouched else f"not left: {merged}"
    left = parse_settings(kind, file.read_bytes() if file.exists() else None)
    wanted = {name: value for name, value in parse_settings(kind, theirs).items() if name not in OURS}
    if merged.code or not is_same_value(wanted, {name: value for name, value in left.items() if name not in OURS}):
        return "merged wrongly", f"merged wrongly: {merged.err} {wanted} {left}"
    named = [name for name in OURS if "upbeat" in str(left.get(name)) and b"upbeat@upbeat" not in settings_before(home)]
    return "refused, then merged", f"left behind: {named}" if named else ""


OURS = ("enabledPlugins", "extraKnownMarketplaces", "plugins", "marketplaces")


def settings_before(home: Home) -> bytes:
    """What the same home had in its settings before."""
    with tempfile.TemporaryDirectory() as folder:
        again = make_home(Path(folder, home.root.name), int(home.root.name), home.client, harmed=False)
        return again.file.read_bytes() if again.file.exists() else b""


def _edit(data: bytes, kind: str, chance: random.Random) -> tuple[bytes, bool]:
    """An edit, and whether it changes what is ours."""
    if kind == "json":
        if chance.random() < 0.2:
            return insert_entries(kind, data, [SettingsEntry(("enabledPlugins", "upbeat@upbeat"), False)]), True
        return insert_entries(kind, data, [SettingsEntry(("theirs",), {"added": [1, "店"]})]), False
    if chance.random() < 0.2:
        return insert_entries(kind, data, [SettingsEntry(("plugins", "upbeat@upbeat"), {"enabled": False})]), True
    text = data + b'\n[theirs]\nadded = "\xe5\xba\x97" # mine\n'
    return (
        text if chance.random() < 0.5 else insert_entries(kind, data, [SettingsEntry(("theirs", "x"), {"a": True})])
    ), False


def _clean_homes() -> Seen:
    made = 0
    for client in CLIENTS:
        with tempfile.TemporaryDirectory(prefix="upbeat-clean-") as folder:
            home = Home(Path(folder), client, Path(folder), {"HOME": folder})
            runs = [upbeat(home, "uninstall", client, *words) for words in ((), ("--yes",), ("--dry-run",))]
            runs.append(upbeat(home, "install", client, "--dry-run"))
            made += len(picture(Path(folder))) + sum(ran.code for ran in runs)
    claim = "Uninstall, and install with --dry-run, create nothing in a clean home"
    return Seen(claim, "0 files made", f"{made} files made, {len(CLIENTS)} clients", made == 0)


# Kills


@dataclass(slots=True)
class Killed:
    """What came of the kills of one command."""

    number: int = 0
    half: list[str] = field(default_factory=list)
    unclean: list[str] = field(default_factory=list)


def _kills(step: int) -> Iterator[Seen]:
    require_strace()
    for command in ("install", "uninstall"):
        seen = Killed()
        for client in CLIENTS:
            with tempfile.TemporaryDirectory(prefix="upbeat-killed-") as folder:
                _killed(command, client, Path(folder), step, seen)
        places = "every call" if step == 1 else f"one call of {step}"
        yield Seen(
            f"Killed at any call with which {command} changes a file, each file is the old one or the new one",
            "0 half",
            "; ".join([f"{len(seen.half)} half, {seen.number} kills ({places}, both clients)", *seen.half[:3]]),
            seen.number > 0 and not seen.half,
        )
        yield Seen(
            f"After a killed {command}, install completes it and uninstall restores every byte",
            "0 unclean",
            "; ".join([f"{len(seen.unclean)} unclean of {seen.number}", *seen.unclean[:3]]),
            seen.number > 0 and not seen.unclean,
        )


def _killed(command: str, client: str, folder: Path, step: int, seen: Killed) -> None:
    home, kept = make_home(folder / "7", 7, client, harmed=False), folder / "kept"
    old = picture(home.root)
    if command == "install":
        shutil.copytree(home.root, kept, symlinks=True)
    installed = upbeat(home, "install", client, "--yes")
    new = picture(home.root)
    if command == "uninstall":
        shutil.copytree(home.root, kept, symlinks=True)
    private = os.path.relpath(receipt_path(read_environment(home.variables), client).parent, home.root)
    assert installed.code == 0, installed.err

    def begin() -> None:
        shutil.rmtree(home.root)
        shutil.copytree(kept, home.root, symlinks=True)

    def work() -> None:
        assert upbeat(home, command, client, "--yes").code == 0

    for place in kills(work, begin, step):
        seen.number += 1
        now = picture(home.root)
        seen.half += [f"{client}, {place}: {name}" for name in _half(old, new, now, private)]
        seen.unclean += [f"{client}, {place}: {problem}" for problem in _end(home, seen.number, old, new, private)]


def _half(old: Picture, new: Picture, now: Picture, private: str) -> list[str]:
    """Files that are neither as before nor as after; a draft is no file yet, and the receipt is none of the user's."""
    gone = [name for name in old.keys() & new.keys() if name not in now]
    return gone + [
        name
        for name, what in now.items()
        if what not in (old.get(name), new.get(name))
        and not DRAFT_NAME.fullmatch(os.path.basename(name))
        and not name.startswith(private)
    ]


def _end(home: Home, number: int, old: Picture, new: Picture, private: str) -> Iterator[str]:
    """What is wrong when it goes on after a kill: every other time completed, then taken back."""
    if number % 2:
        again = upbeat(home, "install", home.client, "--yes")
        completed = {name: what for name, what in picture(home.root).items() if not name.startswith(private)}
        wanted = {name: what for name, what in new.items() if not name.startswith(private)}
        if again.code or completed != wanted:
            yield f"not completed: {different(completed, wanted)} {again.err}"
    gone = upbeat(home, "uninstall", home.client, "--yes")
    now = {name: what for name, what in picture(home.root).items() if name not in XDG_FOLDERS}
    if gone.code or now != {name: what for name, what in old.items() if name not in XDG_FOLDERS}:
        yield f"not given back: {different(now, old)} {gone.err}"
