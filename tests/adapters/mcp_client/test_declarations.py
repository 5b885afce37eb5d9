"""Text of servers is sanitized; a pin is for one declaration, and what cannot be read approves nothing."""

from __future__ import annotations

import errno
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from upbeat.adapters.mcp_client import declarations


def test_pins(tmp_path: Path) -> None:
    """Unknown before, the same after, changed with another digest; other tools and servers stay unknown."""
    pins = declarations.PinStore(tmp_path)
    before = pins.status_of("docs", "search", "a")
    pins.approve("docs", {"search": "a"})
    pins.approve("docs", {"write": "w"})
    pins.approve("more", {"search": "m"})

    assert (declarations.PinStatus.UNKNOWN, declarations.PinStatus.SAME, declarations.PinStatus.CHANGED) == (
        before,
        pins.status_of("docs", "search", "a"),
        pins.status_of("docs", "search", "b"),
    )
    assert (declarations.PinStatus.SAME, declarations.PinStatus.SAME, declarations.PinStatus.UNKNOWN) == (
        pins.status_of("docs", "write", "w"),
        pins.status_of("more", "search", "m"),
        pins.status_of("more", "write", "w"),
    )


def test_pins_are_private(tmp_path: Path) -> None:
    """Only the owner can read or change the approvals."""
    declarations.PinStore(tmp_path).approve("docs", {"search": "a"})
    files = sorted((tmp_path / declarations.PINS_FILE).parent.iterdir())

    assert ["mcp-tools.json", "mcp-tools.json.lock"] == [file.name for file in files]
    assert {0o600} == {stat.S_IMODE(file.stat().st_mode) for file in files}


@pytest.mark.parametrize("text", ["", "{", "[]", '{"docs": 5}', "null", "\xff"])
def test_a_damaged_file_approves_nothing(tmp_path: Path, text: str) -> None:
    """With pins that cannot be read every tool counts as changed, until it is approved again."""
    path = tmp_path / declarations.PINS_FILE
    path.parent.mkdir(parents=True)
    path.write_bytes(text.encode("latin-1"))
    pins = declarations.PinStore(tmp_path)

    assert declarations.PinStatus.CHANGED == pins.status_of("docs", "search", "a")

    pins.approve("docs", {"search": "a"})

    assert declarations.PinStatus.SAME == pins.status_of("docs", "search", "a")


def test_pins_at_the_same_time(tmp_path: Path) -> None:
    """Of many that approve together each one's pin stays."""
    with ThreadPoolExecutor(12) as pool:
        list(pool.map(lambda n: declarations.PinStore(tmp_path).approve("docs", {f"t{n}": "d"}), range(12)))

    assert [declarations.PinStatus.SAME] * 12 == [
        declarations.PinStore(tmp_path).status_of("docs", f"t{n}", "d") for n in range(12)
    ]


def test_pins_that_the_disk_does_not_give_are_not_written_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Approving fails then, and what was approved before is approved again once it can be read."""
    pins = declarations.PinStore(tmp_path)
    pins.approve("docs", {"search": "a"})

    def refuse(path: Path) -> bytes:
        raise OSError(errno.EIO, os.strerror(errno.EIO), str(path))

    with monkeypatch.context() as patched:
        patched.setattr(Path, "read_bytes", refuse)
        assert declarations.PinStatus.CHANGED == pins.status_of("docs", "search", "a")
        with pytest.raises(OSError, match="Input/output"):
            pins.approve("docs", {"write": "w"})

    assert (declarations.PinStatus.SAME, declarations.PinStatus.UNKNOWN) == (
        pins.status_of("docs", "search", "a"),
        pins.status_of("docs", "write", "w"),
    )


def test_approving_one_tool_approves_no_other(tmp_path: Path) -> None:
    """Once the pins could not be read, a tool that was approved before is not new: it may have changed."""
    file = tmp_path / declarations.PINS_FILE
    file.parent.mkdir()
    file.write_text("{")
    pins = declarations.PinStore(tmp_path)
    pins.approve("docs", {"search": "a"})

    assert [declarations.PinStatus.SAME, declarations.PinStatus.CHANGED, declarations.PinStatus.CHANGED] == [
        pins.status_of("docs", "search", "a"),
        pins.status_of("docs", "write", "w"),
        pins.status_of("more", "search", "m"),
    ]


def test_the_digest_is_that_of_the_whole_declaration() -> None:
    """Another declaration has another digest; a lone surrogate does not raise."""
    digests = {declarations.ToolDeclaration("t", True, (), text).digest for text in ("{}", '{"a": 1}', "\ud800")}

    assert (3, True) == (len(digests), all(digest.startswith("sha256:") for digest in digests))


def test_no_part_of_a_secret_is_left() -> None:
    """A secret across the limit is redacted, controls are removed, and the text fits."""
    secret = "ghp_" + "a1B2" * 9
    text = declarations.sanitize_server_text("x" * (declarations.MAX_MESSAGE_CHARS - 10) + f" {secret}\x1b[2J")

    assert (True, False, False) == (len(text) <= declarations.MAX_MESSAGE_CHARS, "ghp_" in text, "\x1b" in text)
