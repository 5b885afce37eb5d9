"""A user's file is read with the lines of its keys, or rejected in one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upbeat.adapters.system.config.trust import digest_of
from upbeat.adapters.system.files.toml_file import MAX_BYTES, MAX_DEPTH, TomlFile, is_own_file, read_toml

TEXT = Path(__file__).with_name("toml_file.toml").read_text(encoding="utf-8")


def test_a_file(tmp_path: Path) -> None:
    """Values, the lines of keys and tables, and what its trust would be for."""
    path = tmp_path / "f.toml"
    path.write_text(TEXT)

    assert TomlFile(
        "f",
        {"top": 1, "a": {"b": {"c": {"d": "x"}, "list": ["y"]}}, "spaced": {"e": 2, "e2": {"f": 3}}},
        {"top": 2, "a.b": 4, "a.b.c.d": 5, "a.b.list": 6, "spaced": 10, "spaced.e": 11, "spaced.e2": 12},
        digest_of(TEXT.encode()),
    ) == read_toml(path, display_name="f")


def test_no_file(tmp_path: Path) -> None:
    """A missing file is not a problem, and differs from an empty one."""
    (tmp_path / "empty").touch()

    assert TomlFile(str(tmp_path / "no"), exists=False) == read_toml(tmp_path / "no")
    assert TomlFile("empty", digest=digest_of(b"")) == read_toml(tmp_path / "empty", display_name="empty")


UNREADABLE: dict[str, tuple[bytes, str]] = {
    "torn": (b"enabled = ", "not valid TOML: Invalid value (at end of document)"),
    "not UTF-8": (b'enabled = "\xff"', "not UTF-8 (byte 11)"),
    "NUL": (b"\x00", "not valid TOML: Invalid statement (at line 1, column 1)"),
    "large": (b"a" * (MAX_BYTES + 1), f"larger than {MAX_BYTES} bytes; not read"),
    "deep lists": (b"x = " + b"[" * 20000, "not valid TOML: "),
    "deep tables": (b"x = " + b"{a=" * 20000, "not valid TOML: "),
    "deep key": (b".".join([b"a"] * 20000) + b" = 1", "not valid TOML: TOML key has more than"),
    "deep table name": (b"[" + b".".join([b"a"] * 20000) + b"]", "not valid TOML: TOML key has more than"),
    "endless number": (b"[budget]\nwall_ms = " + b"9" * 9000, "not valid TOML: "),
}


@pytest.mark.parametrize(("data", "problem"), UNREADABLE.values(), ids=UNREADABLE)
def test_an_unreadable_file_is_one_problem(tmp_path: Path, data: bytes, problem: str) -> None:
    """A file that cannot be parsed, or is made to break its parser, is one problem and never an exception."""
    (tmp_path / "f").write_bytes(data)
    file = read_toml(tmp_path / "f", display_name="f")

    assert ({}, True) == (file.values, file.problem.startswith(f"f: {problem}"))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a" + ".a" * (MAX_DEPTH - 1) + " = 1", ""),
        ("a" + ".a" * MAX_DEPTH + " = 1", f"f: tables nested deeper than {MAX_DEPTH} levels"),
        ("a = " + "[" * 40 + "]" * 40, f"f: tables nested deeper than {MAX_DEPTH} levels"),
        ("a = 1\na = 2", "f: not valid TOML: Cannot overwrite a value (at end of document)"),
    ],
)
def test_depth(tmp_path: Path, text: str, problem: str) -> None:
    """Values nested too deep are a problem, so that readers may recurse."""
    (tmp_path / "f").write_text(text)

    assert problem == read_toml(tmp_path / "f", display_name="f").problem


def test_a_folder(tmp_path: Path) -> None:
    """A folder is reported as not a regular file, and is not a file of the project."""
    assert f"{tmp_path}: not a regular file" == read_toml(tmp_path).problem
    assert not is_own_file(str(tmp_path), ".")


@given(data=st.binary(max_size=80))
def test_any_bytes(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    """Any bytes give either values or one problem, and never an exception."""
    path = tmp_path_factory.getbasetemp() / "any.toml"
    path.write_bytes(data)
    file = read_toml(path)

    assert not (file.problem and file.values)
    assert bool(file.problem) != bool(file.digest)
