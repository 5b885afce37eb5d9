"""What Python would compile at each start is compiled once: all of it, whole, and no more than that."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from repositories import write

from upbeat.adapters.install import byte_code
from upbeat.adapters.install.byte_code import CompileResult, compile_missing, is_compiled_at_each_start

OURS = {"pack/__init__.py": "", "pack/inner/one.py": "VALUE = 1\n"}
NEEDED = {
    "upbeat-9.dist-info/METADATA": "Name: upbeat\nVersion: 9\nRequires-Dist: Red.Leaf[wide]>=1\n"
    'Requires-Dist: mcp; extra == "mcp"\nRequires-Dist: checks; extra == "test"\nRequires-Dist: absent\n',
    "red_leaf-1.dist-info/METADATA": "Name: red-leaf\nVersion: 1\nRequires-Dist: wide ; extra == 'wide'\n"
    "Requires-Dist: upbeat\nRequires-Dist: narrow; extra == 'narrow'\n",
    "red_leaf-1.dist-info/RECORD": "red_leaf.py,,\nred_gone.py,,\n../../bin/red.py,,\nred.txt,,\n",
    **{f"{name}-1.dist-info/METADATA": f"Name: {name}\nVersion: 1\n" for name in ("wide", "narrow", "mcp", "checks")},
    **{f"{name}-1.dist-info/RECORD": f"{name}.py,,\n" for name in ("wide", "narrow", "mcp", "checks")},
    **{f"{name}.py": "" for name in ("red_leaf", "wide", "narrow", "mcp", "checks", "bystander")},
}
HAS_BYTE_CODE = ["mcp.py", "pack/__init__.py", "pack/inner/one.py", "red_leaf.py", "wide.py"]


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of installed packages: upbeat, what it needs, and others."""
    monkeypatch.syspath_prepend(str(write(tmp_path, {**OURS, **NEEDED})))
    monkeypatch.setattr(byte_code, "PACKAGE", tmp_path / "pack")
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    return tmp_path


def compiled(site: Path) -> list[str]:
    """The modules that have byte code."""
    paths = (path.relative_to(site) for path in site.rglob("*.pyc"))
    return sorted(str(path.parent.parent / path.name.split(".")[0]) + ".py" for path in paths)


def test_upbeat_and_its_dependencies_are_compiled(site: Path) -> None:
    """upbeat, its requirements and theirs, with the requested extras; not what is for tests, and no other package."""
    first, second = compile_missing(), compile_missing()

    assert (CompileResult(5), CompileResult(0)) == (first, second)
    assert HAS_BYTE_CODE == compiled(site)
    assert ("byte code: 5 files compiled", "byte code: nothing left to compile") == (first.text, second.text)


def test_python_runs_the_byte_code(site: Path) -> None:
    """A source that looks unchanged is not read again."""
    source = site / "pack/inner/one.py"
    compile_missing()
    about = source.stat()
    source.write_text("VALUE = 2\n")
    os.utime(source, ns=(about.st_atime_ns, about.st_mtime_ns))
    program = f"import sys; sys.path.insert(0, {str(source.parent)!r}); import one; print(one.VALUE)"
    done = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, text=True, check=True)

    assert "1\n" == done.stdout


def test_a_changed_file_is_compiled_again(site: Path) -> None:
    """An update is noticed by time and size, as Python does."""
    compile_missing()
    (site / "wide.py").write_text("VALUE = 12\n")

    assert CompileResult(1) == compile_missing()


@pytest.mark.parametrize("damage", [b"", b"torn", b"\0" * 40])
def test_damaged_byte_code_is_replaced(site: Path, damage: bytes) -> None:
    """Byte code that Python would reject counts as missing."""
    compile_missing()
    next(site.glob("__pycache__/wide.*")).write_bytes(damage)

    assert (CompileResult(1), CompileResult(0)) == (compile_missing(), compile_missing())


@pytest.mark.parametrize("text", ["print 'old'\n", "\0", "x = '\\d'\n"])
def test_a_file_that_cannot_be_compiled_is_skipped(site: Path, text: str) -> None:
    """A template or a file for another Python is no failure, and its warnings are not shown."""
    (site / "wide.py").write_text(text)
    first = compile_missing()

    assert (0, 0) == (first.failed, compile_missing().written)


def test_a_folder_that_cannot_be_written(site: Path) -> None:
    """The result says how many files stay without, where and why; the others are compiled."""
    (site / "pack/inner/__pycache__").write_text("in the way")
    done = compile_missing()

    assert (4, 1) == (done.written, done.failed)
    assert done.text.startswith("byte code: 4 files compiled\n1 files could not be compiled")
    assert f"{site / 'pack/inner/__pycache__'} (" in done.text


def test_byte_code_is_written_in_spite_of_the_variable(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """PYTHONDONTWRITEBYTECODE is ignored, and the result says that Python obeys it."""
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    done = compile_missing()

    assert CompileResult(5) == done
    assert "PYTHONDONTWRITEBYTECODE is set" in done.text


@pytest.mark.parametrize(
    ("damage", "may_write", "text", "expected"),
    [
        (None, False, "", False),
        (b"", False, "", True),
        (b"", True, "", False),
        (b"", False, "print 'old'\n", False),
    ],
    ids=["whole", "torn", "torn, and Python may write", "no Python"],
)
def test_a_module_is_compiled_at_each_start_if_nothing_can_be_stored(
    site: Path, monkeypatch: pytest.MonkeyPatch, damage: bytes | None, may_write: bool, text: str, expected: bool
) -> None:
    """It has no valid byte code, and Python may write none there."""
    compile_missing()
    monkeypatch.setattr(os, "access", lambda _path, _mode: may_write)
    if damage is not None:
        next(site.glob("__pycache__/wide.*")).write_bytes(damage)
    if text:
        (site / "wide.py").write_text(text)

    assert expected == is_compiled_at_each_start(site / "wide.py")


def test_byte_code_elsewhere_does_not_count(site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hooks start with -I and look next to the source, whatever PYTHONPYCACHEPREFIX says in this shell."""
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path / "elsewhere"))
    compile_missing()

    assert (HAS_BYTE_CODE, False) == (compiled(site), (tmp_path / "elsewhere").exists())


def test_the_modules_of_a_checkout_are_found() -> None:
    """They include the package's own, through the links of the checkout, and those of its real requirements."""
    paths = {str(path) for path in byte_code.module_sources()}

    assert str(byte_code.PACKAGE / "core/engine/handle.py") in paths
    assert any(path.endswith("pydantic/main.py") for path in paths)
    assert not any("/pytest/" in path for path in paths)
