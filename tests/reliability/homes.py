"""Homes as people have them, from a seed: dotfiles that are links, comments, any line ends, foreign hooks, damage.

What ``make_home`` makes follows from its seed alone. ``picture`` is all that can be seen of a folder, so that two
pictures are equal exactly when nothing was changed.
"""

from __future__ import annotations

import json
import os
import random
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Picture = dict[str, tuple[Any, ...]]

CORPUS = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
HARM = ("bad text", "not UTF-8", "read-only file", "read-only folder", "hard link", "folder", "circle", "to nowhere")


@dataclass(frozen=True, slots=True)
class Home:
    """A home and what an ``upbeat`` in it is started with. ``client`` is whose dotfile is the subject, ``file`` where
    that is; ``harm`` names what keeps an install from being done, if something does."""

    root: Path
    client: str
    file: Path
    variables: Mapping[str, str]
    harm: str = ""


def make_home(root: Path, seed: int, client: str, *, harmed: bool | None = None) -> Home:
    """Make the home number ``seed`` in the folder ``root``, which is not there yet.

    ``harmed``: whether something has to be in the way; by chance, for one of five.
    """
    chance = random.Random(f"{client} {seed}")
    root.mkdir()
    variables = {"HOME": str(root)}
    folder = root / f".{client}"
    if chance.random() < 0.2:
        folder = root / "elsewhere" / "of mine 店"
        variables["CLAUDE_CONFIG_DIR" if client == "claude" else "CODEX_HOME"] = str(folder)
    if chance.random() < 0.2:
        variables["XDG_DATA_HOME"] = str(root / "data")
    if chance.random() < 0.3:
        (root / ".local" / "share" / "upbeat-of-others").mkdir(parents=True)
    file = folder / ("settings.json" if client == "claude" else "config.toml")
    is_harmed = chance.random() < 0.2 if harmed is None else harmed
    if not is_harmed and chance.random() < 0.1:
        return Home(root, client, file, variables)  # nothing of the client is there
    harm = chance.choice(HARM) if is_harmed else ""
    _make_folder(chance, root, folder)
    _others(chance, folder, client)
    if harm or chance.random() < 0.9:
        _make_file(chance, root, file, client, harm)
    return Home(root, client, file, variables, harm)


def picture(root: Path, *, times: bool = False) -> Picture:
    """Return path -> kind, mode, content or where it leads; with ``times`` also its time and which file it is."""
    seen: Picture = {}
    for place, folders, files in os.walk(root):
        for name in (*folders, *files):
            path = os.path.join(place, name)
            state = os.lstat(path)
            extra = (state.st_mtime_ns, state.st_ino) if times else ()
            shown = os.path.relpath(path, root)
            if stat.S_ISLNK(state.st_mode):
                seen[shown] = ("link", os.readlink(path), *extra)
            elif stat.S_ISDIR(state.st_mode):
                seen[shown] = ("folder", oct(state.st_mode))
            else:
                seen[shown] = ("file", oct(state.st_mode), Path(path).read_bytes(), *extra)
    return seen


def written_json(chance: random.Random, value: dict[str, Any]) -> str:
    """``value`` as one of the many ways to write it."""
    indent = chance.choice([2, 2, 4, "\t", None])
    text = json.dumps(value, ensure_ascii=chance.random() < 0.3, indent=indent)
    if indent is not None and len(text) > 2 and chance.random() < 0.4:
        text = text.replace("{\n", '{ // {of "mine",\n', 1)
        text = text[: text.rindex("\n")] + chance.choice([",", " /* } */", " // last", ""]) + text[text.rindex("\n") :]
    return text + chance.choice(["\n", "", "\n\n"])


def _make_folder(chance: random.Random, root: Path, folder: Path) -> None:
    if chance.random() < 0.15:
        real = root / "dotfiles" / folder.name
        real.mkdir(parents=True)
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.symlink_to(os.path.relpath(real, folder.parent))
    else:
        folder.mkdir(parents=True)
    if chance.random() < 0.2:
        folder.chmod(0o700)


def _others(chance: random.Random, folder: Path, client: str) -> None:
    """What of other people lies where ours will."""
    if client == "codex" and chance.random() < 0.4:
        (folder / "agents").mkdir()
        (folder / "agents" / "mine.toml").write_text('name = "mine"\n')
        if chance.random() < 0.5:
            (folder / "agents" / "upbeat-tester.toml").write_text('name = "of my own"\r\n')
    if chance.random() < 0.4:
        other = folder / "plugins" / "cache" / "tools" / "lint"
        other.mkdir(parents=True)
        (other / "plugin.json").write_text("{}")


def _make_file(chance: random.Random, root: Path, file: Path, client: str, harm: str) -> None:
    data = _content(chance, client, harm)
    target = file
    if not harm and chance.random() < 0.3:
        target = root / "dotfiles" / "of clients" / f"{client}-settings"
        target.parent.mkdir(parents=True)
        file.symlink_to(chance.choice([target, os.path.relpath(target, file.resolve().parent)]))
        if chance.random() < 0.2:
            return  # a link to a file that is not there yet
    if harm == "folder":
        file.mkdir()
    elif harm == "circle":
        file.symlink_to(file.name)
    elif harm == "to nowhere":
        file.symlink_to("no/such/folder/file")
    else:
        target.write_bytes(data)
        target.chmod(chance.choice([0o600, 0o644, 0o640]))
    if harm == "hard link":
        os.link(file, root / "second name")
    elif harm == "read-only file":
        file.chmod(0o444)
    elif harm == "read-only folder":
        file.parent.chmod(0o555)


def _content(chance: random.Random, client: str, harm: str) -> bytes:
    if harm == "bad text":
        return chance.choice(CORPUS["bad settings" if client == "claude" else "bad configs"]).encode()
    if harm == "not UTF-8":
        return ('{"a": "é"}' if client == "claude" else 'a = "é"\n').encode(chance.choice(["latin-1", "utf-16"]))
    if client == "claude":
        text = chance.choice(["", "\n"]) if chance.random() < 0.1 else ""
        text = text or written_json(chance, _settings(chance))
    else:
        text = chance.choice(CORPUS["configs"]) + chance.choice(["", "\n", "[last]\nx = 1"])
    if chance.random() < 0.3:
        text = text.replace("\n", "\r\n")
    mark = b"\xef\xbb\xbf" if chance.random() < 0.15 else b""
    return mark + text.encode("utf-8")


def _settings(chance: random.Random) -> dict[str, Any]:
    made_up = {f"key {number}": [chance.random(), "\u2028", {}] for number in range(chance.randrange(30))}
    settings: dict[str, Any] = chance.choice([*CORPUS["settings"], made_up])
    return settings
