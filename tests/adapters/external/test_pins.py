"""A pin is for a declaration of a tool of a server, and what cannot be read approves nothing."""

from __future__ import annotations

import errno
import os
import stat
import threading
from pathlib import Path

import pytest

from upbeat.adapters.external.pins import PINS_FILE, Pin, Pins


def test_pins(tmp_path: Path) -> None:
    """Unknown before, the same after, changed with another digest; other tools and servers stay unknown."""
    pins = Pins(tmp_path)
    before = pins.look("docs", "search", "a")
    pins.pin("docs", {"search": "a"})
    pins.pin("docs", {"write": "w"})
    pins.pin("more", {"search": "m"})

    assert (Pin.UNKNOWN, Pin.SAME, Pin.CHANGED) == (
        before,
        pins.look("docs", "search", "a"),
        pins.look("docs", "search", "b"),
    )
    assert (Pin.SAME, Pin.SAME, Pin.UNKNOWN) == (
        pins.look("docs", "write", "w"),
        pins.look("more", "search", "m"),
        pins.look("more", "write", "w"),
    )


def test_pins_are_private(tmp_path: Path) -> None:
    """Nobody else reads what a user has approved, or changes it."""
    Pins(tmp_path).pin("docs", {"search": "a"})
    files = sorted((tmp_path / PINS_FILE).parent.iterdir())

    assert ["mcp-tools.json", "mcp-tools.json.lock"] == [file.name for file in files]
    assert {0o600} == {stat.S_IMODE(file.stat().st_mode) for file in files}


@pytest.mark.parametrize("text", ["", "{", "[]", '{"docs": 5}', "null", "\xff"])
def test_a_damaged_file_approves_nothing(tmp_path: Path, text: str) -> None:
    """With pins that cannot be read every tool counts as changed, until it is approved again."""
    path = tmp_path / PINS_FILE
    path.parent.mkdir(parents=True)
    path.write_bytes(text.encode("latin-1"))
    pins = Pins(tmp_path)

    assert Pin.CHANGED == pins.look("docs", "search", "a")

    pins.pin("docs", {"search": "a"})

    assert Pin.SAME == pins.look("docs", "search", "a")


def test_pins_at_the_same_time(tmp_path: Path) -> None:
    """Of many that approve together each one's pin stays."""
    threads = [threading.Thread(target=Pins(tmp_path).pin, args=("docs", {f"t{n}": "d"})) for n in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [Pin.SAME] * 12 == [Pins(tmp_path).look("docs", f"t{n}", "d") for n in range(12)]


def test_pins_that_the_disk_does_not_give_are_not_written_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Approving fails then, and what was approved before is approved again once it can be read."""
    pins = Pins(tmp_path)
    pins.pin("docs", {"search": "a"})

    def refuse(path: Path) -> bytes:
        raise OSError(errno.EIO, os.strerror(errno.EIO), str(path))

    with monkeypatch.context() as patched:
        patched.setattr(Path, "read_bytes", refuse)
        assert Pin.CHANGED == pins.look("docs", "search", "a")
        with pytest.raises(OSError, match="Input/output"):
            pins.pin("docs", {"write": "w"})

    assert (Pin.SAME, Pin.UNKNOWN) == (pins.look("docs", "search", "a"), pins.look("docs", "write", "w"))


def test_approving_one_tool_approves_no_other(tmp_path: Path) -> None:
    """Once the pins could not be read, a tool that was approved before is not new: it may have changed."""
    file = tmp_path / PINS_FILE
    file.parent.mkdir()
    file.write_text("{")
    pins = Pins(tmp_path)
    pins.pin("docs", {"search": "a"})

    assert [Pin.SAME, Pin.CHANGED, Pin.CHANGED] == [
        pins.look("docs", "search", "a"),
        pins.look("docs", "write", "w"),
        pins.look("more", "search", "m"),
    ]
