"""What a person reads before they say yes: every file, every line, and no secret."""

from __future__ import annotations

from pathlib import Path

from upbeat.adapters.installation.disk import Change
from upbeat.adapters.installation.plan import Plan
from upbeat.adapters.installation.show import diff, shown

SECRET = "sk-ant-api03-" + "Zx9" * 30


def test_every_file() -> None:
    """Files of ours go by their folder or name; of others every line that changes is shown, also of new ones, and of
    those that lie among ours."""
    changes = (
        Change(Path("/new"), None, b"12"),
        Change(Path("/ours/a"), None, b"1234"),
        Change(Path("/ours/b/c"), None, b"56"),
        Change(Path("/gone"), b"123", None),
        Change(Path("/ours/d"), b"78", None),
        Change(Path("/ours/e"), b"mine\n", None, is_foreign=True),
        Change(Path("/edited"), b"a\nb\n", b"a\nc\n"),
        Change(Path("/made"), None, b"{}\n", is_settings=True),
        Change(Path("/taken"), b"{}\n", None, is_settings=True),
    )
    assert [
        "new       /new  (2 bytes)",
        "new       /ours/  (2 files of upbeat's own, 6 bytes)",
        "remove    /gone  (3 bytes)",
        "remove    /ours/  (1 files of upbeat's own, 2 bytes)",
        *("--- /ours/e", "+++ /dev/null", "@@ -1 +0,0 @@", "-mine"),
        *("--- /edited", "+++ /edited", "@@ -1,2 +1,2 @@", " a", "-b", "+c"),
        *("--- /dev/null", "+++ /made", "@@ -0,0 +1 @@", "+{}"),
        *("--- /taken", "+++ /dev/null", "@@ -1 +0,0 @@", "-{}"),
    ] == list(shown(Plan("claude", changes, None, None, None, own=(Path("/ours"),))))


def test_no_secret_and_no_control() -> None:
    """A secret beside a change is not shown, nor what a terminal would obey."""
    old = f'{{"key": "{SECRET}",\r\n"red": "\x1b[31m"}}'.encode()
    lines = list(diff(Path("/s"), old, old.replace(b"}", b', "a": 1}')))

    assert SECRET not in "\n".join(lines)
    assert "<redacted:" in lines[3]
    assert ['-"red": ""}', '+"red": "", "a": 1}'] == lines[4:]


def test_what_is_not_text() -> None:
    """Of bytes that are no text, and of changes that no line shows, it is told that they differ."""
    assert ["binary    /s  (1 bytes -> 0 bytes)"] == list(diff(Path("/s"), b"\xff", None))
    assert ["changed   /s  (in line ends or in what is not shown here)"] == list(diff(Path("/s"), b"a\r\n", b"a\n"))
