"""Files, trust and key that runs of tests are judged by."""

from __future__ import annotations

from pathlib import Path

from upbeat.adapters.system.config.trust import trust
from upbeat.adapters.system.environment import Environment, read_environment
from upbeat.adapters.system.workspace.evidence_files import MAX_BYTES, LocalEvidenceSource


def environment(home: Path) -> Environment:
    return read_environment({"HOME": str(home)})


def test_files_of_the_repository(tmp_path: Path) -> None:
    """Only regular files of a limited size below the root are read."""
    root = tmp_path / "repo"
    root.mkdir()
    (root / "a.txt").write_text("x")
    (root / "big").write_text("x" * (MAX_BYTES + 1))
    (root / "out").symlink_to("/etc/hostname")
    files = LocalEvidenceSource(environment(tmp_path)).files(str(root))

    assert ["x", None, None, None, None] == [files.read(name) for name in ("a.txt", "big", "out", "../a", "a\0b")]
    assert [True, False, False] == [files.exists(name) for name in ("a.txt", "none", "a\0b")]
    assert (["a.txt", "big", "out"], []) == (files.entries("."), files.entries("none"))


def test_trust_in_a_script(tmp_path: Path) -> None:
    """A script is trusted with its present content; a word that names no file needs no trust."""
    script = tmp_path / "run.sh"
    script.write_text("pytest\n")
    source = LocalEvidenceSource(environment(tmp_path))
    before = source.is_trusted(str(tmp_path), "run.sh")
    trust(script, script.read_bytes(), environment(tmp_path))
    after = source.is_trusted(str(tmp_path), "run.sh")
    script.write_text("true\n")

    assert [False, True, False, True] == [
        *(before, after, source.is_trusted(str(tmp_path), "run.sh")),
        source.is_trusted(str(tmp_path), "none"),
    ]


def test_the_key(tmp_path: Path) -> None:
    """The key is made once, and only its user can read it."""
    source = LocalEvidenceSource(environment(tmp_path))
    key = source.exec_key()
    file = tmp_path / ".local/state/upbeat/exec.key"

    assert key == source.exec_key() == file.read_text()
    assert (64, 0o600) == (len(key), file.stat().st_mode & 0o777)
    file.chmod(0)
