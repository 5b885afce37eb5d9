"""Every benchmark runs in its quick mode."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PARTS = {
    *("benchmarks.localization.sample", "benchmarks.localization.cases", "benchmarks.localization.baselines"),
    *("benchmarks.codex_kill_rounds", "benchmarks.dialogue.fit"),
}
"""Modules that benchmarks import or start; they do not run by themselves."""
UNAVAILABLE = "the real clients cannot run here"
KEPT_VARIABLES = {"PATH", "NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy"}
"""What npm needs to install the real clients."""

pytestmark = [pytest.mark.bench, pytest.mark.timeout(180)]


def modules() -> list[str]:
    """Return the names of all modules in the folder ``benchmarks``."""
    files = (path.relative_to(ROOT) for path in (ROOT / "benchmarks").rglob("*.py") if path.name != "__init__.py")
    return sorted({".".join(path.with_suffix("").parts) for path in files} - PARTS)


def run(tmp_path: Path, module: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a benchmark with an empty home, except for the cache of the real clients."""
    cache = os.environ.get("UPBEAT_E2E_CACHE") or str(Path.home() / ".cache" / "upbeat-e2e")
    environment = {name: value for name, value in os.environ.items() if name in KEPT_VARIABLES}
    environment |= {"HOME": str(tmp_path), "LANG": "C.UTF-8", "UPBEAT_E2E_CACHE": cache}
    command = [sys.executable, "-m", module, *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)


@pytest.mark.parametrize("module", modules())
def test_quick_mode_succeeds(module: str, tmp_path: Path) -> None:
    done = run(tmp_path, module, "--quick")
    if UNAVAILABLE in done.stderr and not os.environ.get("UPBEAT_E2E_REQUIRED"):
        pytest.skip(done.stderr.strip())
    assert (done.returncode, bool(done.stdout)) == (0, True), done.stderr


def test_hops_counts_every_path(tmp_path: Path) -> None:
    counts = json.loads(run(tmp_path, "benchmarks.hops", "--json").stdout)
    assert [count["path"] for count in counts] == ["deny", "prompt", "codex-auto"]
    assert all(count["functions"] > count["modules"] > 0 for count in counts)


def test_hops_lists_the_functions_of_a_path(tmp_path: Path) -> None:
    count = json.loads(run(tmp_path, "benchmarks.hops", "--json", "--list", "deny").stdout)[0]
    functions = count["functions_by_module"]
    assert (len(functions), sum(map(len, functions.values()))) == (count["modules"], count["functions"])


def test_index_compares_two_checkouts(tmp_path: Path) -> None:
    """A checkout compared with itself has the same index on disk, and some processor time."""
    table = run(tmp_path, "benchmarks.index", "--against", str(ROOT), "--quick").stdout.splitlines()
    rows = {cells[1].strip(): cells[2].split(",") for line in table[2:] if (cells := line.split("|"))}

    assert "| before, after, ratio | 60 files |" == table[0]
    assert " 1.00 " == rows["index on disk, MB"][2]
    assert float(rows["processor time, s"][1]) > 0


def test_shape_measures_a_tree_without_its_tests(tmp_path: Path) -> None:
    (tmp_path / "tree" / "tests").mkdir(parents=True)
    (tmp_path / "tree" / "a.py").write_text('"""A."""\n\n\nclass Same:\n    pass\n\n\ndef f():\n    return 1  # one\n')
    (tmp_path / "tree" / "b.py").write_text(f"class Same:\n    pass\n\n\nX = '{'x' * 100}'\n")
    (tmp_path / "tree" / "tests" / "test_a.py").write_text("def test():\n    pass\n")
    measures = json.loads(run(tmp_path, "benchmarks.shape", "--json", str(tmp_path / "tree")).stdout)["tree"]
    assert measures["files"] == 2
    assert measures["functions"] == 1
    assert measures["homonyms (public class names)"] == 1
    assert measures["lines over 100 wide"] == 1
    assert measures["function lines, median / p95 / max"] == [2, 2, 2]
