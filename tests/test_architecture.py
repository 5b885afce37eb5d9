"""The shape of the code is a test: what core may import, who may import whom, how large a file may be."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

CORE_MAY_IMPORT = {
    *("__future__", "ast", "base64", "binascii", "bisect", "collections", "configparser", "contextlib", "dataclasses"),
    *(
        "datetime",
        "difflib",
        "enum",
        "fnmatch",
        "functools",
        "hashlib",
        "shlex",
        "itertools",
        "json",
        "math",
        "operator",
        "pkgutil",
        "posixpath",
        "re",
        "struct",
        "typing",
    ),
    *("unicodedata", "bracex", "pathspec", "pydantic", "re2", "tree_sitter", "tomli", "tree_sitter_bash", "wcwidth"),
    "yaml",
}
"""Modules that compute. Nothing that opens, runs, connects, waits or reads the environment."""

IMPORT_EXCEPTIONS = {("core/policies/__init__.py", "importlib"), ("core/lazy_dataclass.py", "inspect")}
"""The list of policies imports those that an event needs, by the names in its table; a dataclass has a signature."""

CORE_MAY_NOT_CALL = {"open", "input", "print", "exec", "eval", "breakpoint", "__import__"}
MAX_LINES = 500
MAX_FUNCTION_LINES = 60
BANNED_NAMES = re.compile(r"(^|/)(utils?|helpers?|common|misc|shared|lib)(\.py|/)")

READS_ENVIRONMENT = "adapters/system/environment.py"


def sources(*folders: str) -> list[Path]:
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def shown(path: Path) -> str:
    return str(path.relative_to(ROOT))


@cache
def nodes_of(path: Path) -> tuple[ast.AST, ...]:
    """Return all nodes of a module, the module itself first."""
    return tuple(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


def imported(path: Path) -> Iterator[str]:
    """Yield the dotted name of every import, wherever it stands."""
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


def test_core_imports_only_what_computes() -> None:
    """core imports nothing that does I/O, and nothing of the adapters."""
    forbidden = {
        f"{shown(path)}: {name}"
        for path in sources("core")
        for name in imported(path)
        if name.partition(".")[0] not in CORE_MAY_IMPORT and not name.startswith("upbeat.core")
        if (shown(path), name) not in IMPORT_EXCEPTIONS
    }

    assert set() == forbidden


def test_imports_are_absolute() -> None:
    """Every module names what it imports in full, so that a reader sees which package it comes from."""
    relative = {
        f"{shown(path)}:{node.lineno}"
        for path in sources("core", "adapters", "src")
        for node in nodes_of(path)
        if isinstance(node, ast.ImportFrom) and node.level
    }

    assert set() == relative


def test_core_calls_nothing_that_does_io() -> None:
    """core calls none of the built-ins that read, write or run."""
    called = {
        f"{shown(path)}: {node.func.id}"
        for path in sources("core")
        for node in nodes_of(path)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in CORE_MAY_NOT_CALL
    }

    assert set() == called


def test_one_file_reads_the_environment() -> None:
    """The environment is read in one file and nowhere else."""
    readers = {
        shown(path)
        for path in sources("core", "adapters", "src")
        if re.search(r"\bos\.(environ|getenv|putenv|unsetenv)\b|posix\.environ", path.read_text(encoding="utf-8"))
    }

    assert {READS_ENVIRONMENT} == readers


OTHER_SQLITE = {"sqlite3", "_sqlite3", "pysqlite3"}
"""What links an SQLite that nobody has looked at: that of Python has the WAL-reset bug almost everywhere."""


def test_one_sqlite() -> None:
    """Whatever opens a database does so with apsw's SQLite, in one file."""
    importers = {
        (shown(path), name.partition(".")[0]) for path in sources("core", "adapters", "src") for name in imported(path)
    }

    assert set() == {(path, name) for path, name in importers if name in OTHER_SQLITE}
    assert {("adapters/system/journal/database.py", "apsw")} == {
        (path, name) for path, name in importers if name == "apsw"
    }


@pytest.mark.parametrize(("ours", "theirs"), [("claude", "codex"), ("codex", "claude")])
def test_client_adapters_do_not_import_each_other(ours: str, theirs: str) -> None:
    """The adapter of one client knows nothing of the other one."""
    offenders = {
        shown(path)
        for path in sources(f"adapters/{ours}")
        if re.search(rf"^\s*(from|import)\s+\S*\b{theirs}\b", path.read_text(encoding="utf-8"), re.MULTILINE)
    }

    assert set() == offenders


def test_files_are_small() -> None:
    """No file passes 500 lines."""
    paths = sources("core", "adapters", "src", "tests", "benchmarks")

    assert [] == [shown(path) for path in paths if len(path.read_text(encoding="utf-8").splitlines()) > MAX_LINES]


def test_functions_are_small() -> None:
    """No function passes 60 lines."""
    assert [] == [
        f"{shown(path)}:{node.name}"
        for path in sources("core", "adapters", "src")
        for node in nodes_of(path)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or node.lineno) - node.lineno + 1 > MAX_FUNCTION_LINES
    ]


def test_names_say_something() -> None:
    """No module is called utils, helpers, common, misc, shared or lib."""
    nameless = [shown(path) for path in sources("core", "adapters", "tests") if BANNED_NAMES.search(shown(path))]

    assert [] == nameless


def test_modules_say_what_they_are() -> None:
    """Every module opens with a docstring."""
    modules = [(path, nodes_of(path)[0]) for path in sources("core", "adapters")]

    assert [] == [shown(path) for path, module in modules if not ast.get_docstring(module)]  # type: ignore[arg-type]


BROAD_EXCEPTS = {
    "adapters/cli/prepare.py": 1,
    "adapters/codex_auto/conversation/workflow_bridge.py": 1,
    "adapters/hook_entry/answer.py": 1,
    "adapters/system/tool_runner.py": 1,
    "adapters/mcp_server/server.py": 1,
    "adapters/hook_entry/shim.py": 1,
    "core/policy/evaluate.py": 1,
    "core/rules/match.py": 1,
}
"""Entry point -> how many places there catch everything: one. A policy enters by its judge, a rule by ``apply``."""


def test_only_entry_points_catch_everything() -> None:
    """There is one broad ``except`` per entry point, and none elsewhere."""
    counts = Counter(
        shown(path)
        for path in sources("core", "adapters", "src")
        for node in nodes_of(path)
        if isinstance(node, ast.ExceptHandler)
        and (node.type is None or (isinstance(node.type, ast.Name) and node.type.id in ("Exception", "BaseException")))
    )

    assert {} == {name: count for name, count in counts.items() if count > BROAD_EXCEPTS.get(name, 0)}


def test_literal_names_are_not_loaded() -> None:
    """The suite uses ``upbeat.core`` only: two copies of one class would not be equal."""
    assert "core" not in sys.modules
    assert "adapters" not in sys.modules


def test_layers_hold() -> None:
    """import-linter's contracts hold; skipped only where it is not installed."""
    pytest.importorskip("importlinter")
    checked = subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports; raise SystemExit(lint_imports())"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (0, "") == (checked.returncode, "" if checked.returncode == 0 else checked.stdout)
