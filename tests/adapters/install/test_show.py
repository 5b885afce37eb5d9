"""What the user reads before confirming: every file, every line, and no secret."""

from __future__ import annotations

from pathlib import Path

from upbeat.adapters.install.disk import FileChange
from upbeat.adapters.install.plan import InstallationPlan
from upbeat.adapters.install.show import diff_lines, plan_lines

SECRET = "sk-ant-api03-" + "Zx9" * 30


def test_every_file_is_shown() -> None:
    """Files of ours go by their folder or name; of others every line that changes is shown, also of new ones, and of
    those that lie among ours."""
    changes = (
        FileChange(Path("/x/new"), None, b"12"),
        FileChange(Path("/x/newer"), None, b"12"),
        FileChange(Path("/ours/a"), None, b"1234"),
        FileChange(Path("/ours/b/c"), None, b"56"),
        FileChange(Path("/x/gone"), b"123", None),
        FileChange(Path("/ours/d"), b"78", None),
        FileChange(Path("/ours/e"), b"mine\n", None, is_foreign=True),
        FileChange(Path("/edited"), b"a\nb\n", b"a\nc\n"),
        FileChange(Path("/made"), None, b"{}\n", is_settings=True),
        FileChange(Path("/taken"), b"{}\n", None, is_settings=True),
    )
    assert [
        "new       /x/new, newer (2 files, 4 bytes)",
        "new       /ours/ (2 files of upbeat, 6 bytes)",
        "remove    /x/gone (3 bytes)",
        "remove    /ours/ (1 files of upbeat, 2 bytes)",
        *("--- /ours/e", "+++ /dev/null", "@@ -1 +0,0 @@", "-mine"),
        *("--- /edited", "+++ /edited", "@@ -1,2 +1,2 @@", " a", "-b", "+c"),
        *("--- /dev/null", "+++ /made", "@@ -0,0 +1 @@", "+{}"),
        *("--- /taken", "+++ /dev/null", "@@ -1 +0,0 @@", "-{}"),
    ] == list(plan_lines(InstallationPlan("claude", changes, None, None, None, own_folders=(Path("/ours"),))))


def test_secrets_are_not_shown_and_nothing_else_is_missing() -> None:
    """A secret next to a change is redacted; terminal sequences stay, for the display to escape."""
    old = f'{{"key": "{SECRET}",\r\n"red": "\x1b[31m"}}'.encode()
    lines = list(diff_lines(Path("/s"), old, old.replace(b"}", b', "a": 1}')))

    assert SECRET not in "\n".join(lines)
    assert "<redacted:" in lines[3]
    assert ['-"red": "\x1b[31m"}', '+"red": "\x1b[31m", "a": 1}'] == lines[4:]


def test_a_secret_that_is_divided() -> None:
    """Invisible characters inside a secret do not show a part of it."""
    hidden = f"{SECRET[:20]}\u200b{SECRET[20:]}"
    shown = "\n".join(diff_lines(Path("/s"), f'key = "{hidden}"\nevil \x1b]0;\nb\x07'.encode(), None))

    assert SECRET[:20] not in shown
    assert SECRET[20:] not in shown
    assert "-evil \x1b]0;\n-b\x07" in shown


def test_a_change_without_visible_lines() -> None:
    """Bytes that are no text and line ends are shown; of changes that no line shows it is said that there are some."""
    assert "-\udcff" == list(diff_lines(Path("/s"), b"\xff", None))[-1]
    assert ["-a\r", "+a"] == list(diff_lines(Path("/s"), b"a\r\n", b"a\n"))[-2:]
    assert ["changed   /s  (in line ends, or in parts that are not shown)"] == list(
        diff_lines(Path("/s"), f"{SECRET}\n".encode(), f"{SECRET}x\n".encode())
    )
