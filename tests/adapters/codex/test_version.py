"""The version of Codex is queried once, in the background, and a warning is shown once."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from fakes.codex.conversation import CHINESE, ENGLISH
from fakes.codex.workbench import Workbench, make_workbench

from upbeat.adapters.codex.version import CodexVersion
from upbeat.adapters.system.process.find_program import Version, parse_version


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    return make_workbench(tmp_path / "b", git=False)


def asked(bench: Workbench, says: str = "0.169.0") -> CodexVersion:
    (bench.codex_home / "version").write_text(says)
    version = CodexVersion(str(bench.program), bench.environment())
    version.start_query()
    end = time.monotonic() + 10
    while not (version.version or version.problem) and time.monotonic() < end:
        time.sleep(0.01)
    return version


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("codex-cli 0.169.0\n", (0, 169, 0)),
        ("codex-cli 1.2.3-alpha.4", (1, 2, 3)),
        ("Welcome!\ncodex 0.99.12", (0, 99, 12)),
        ("codex", None),
        ("", None),
    ],
)
def test_a_version_is_found(text: str, version: Version | None) -> None:
    """A version is three numbers with dots between them."""
    assert version == parse_version(text)


def test_a_current_codex_has_no_warning(bench: Workbench) -> None:
    """A current version has no warning, and the query starts no turn."""
    version = asked(bench)

    assert ((0, 169, 0), "", []) == (version.version, version.take_warning(ENGLISH), bench.calls())


def test_an_old_codex_has_one_warning(bench: Workbench) -> None:
    """The warning names the version, the oldest supported one, and the remedy."""
    version = asked(bench, "0.149.9")
    complaints = [version.take_warning(CHINESE), version.take_warning(CHINESE)]

    assert [CHINESE["codex_old"].format(version="0.149.9", oldest="0.150.0"), ""] == complaints


def test_a_broken_codex_has_a_warning(bench: Workbench) -> None:
    """A Codex that fails at --version is reported with its error."""
    warning = asked(bench, "broken").warning(ENGLISH)

    assert "Cannot find module 'codex'" in warning
    assert "exit 1" in warning


@pytest.mark.parametrize("content", [None, "", "#!/no/such/interpreter\n"], ids=["absent", "empty", "no interpreter"])
def test_a_codex_that_cannot_start_has_a_warning(bench: Workbench, content: str | None) -> None:
    """The warning has the error of the system."""
    bench.program.unlink()
    if content is not None:
        bench.program.write_text(content)
        bench.program.chmod(0o755)

    assert str(bench.program) in asked(bench).warning(ENGLISH)


def test_there_is_no_warning_before_the_version_is_known(bench: Workbench) -> None:
    """Nothing waits for the query."""
    assert "" == CodexVersion(str(bench.program), {}).take_warning(ENGLISH)
