"""The version of Codex: asked once, in the background, and complained about once."""

from __future__ import annotations

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
    version.wait(10)
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
    """Three numbers with dots between them."""
    assert version == parse_version(text)


def test_a_good_codex_is_not_complained_about(bench: Workbench) -> None:
    """Nothing is said, and no turn was started for it."""
    version = asked(bench)

    assert ((0, 169, 0), "", []) == (version.version, version.take_warning(ENGLISH), bench.calls())


def test_an_old_codex_is_complained_about_once(bench: Workbench) -> None:
    """With its version, the oldest one, and what to do."""
    version = asked(bench, "0.149.9")
    complaints = [version.take_warning(CHINESE), version.take_warning(CHINESE)]

    assert [CHINESE["codex_old"].format(version="0.149.9", oldest="0.150.0"), ""] == complaints


def test_a_broken_codex_is_told_apart(bench: Workbench) -> None:
    """One that fails even at this names its error."""
    found = asked(bench, "broken").warning(ENGLISH)

    assert "Cannot find module 'codex'" in found
    assert "exit 1" in found


@pytest.mark.parametrize("content", [None, "", "#!/no/such/interpreter\n"], ids=["absent", "empty", "no interpreter"])
def test_a_codex_that_cannot_start_is_told(bench: Workbench, content: str | None) -> None:
    """The system's own word for it."""
    bench.program.unlink()
    if content is not None:
        bench.program.write_text(content)
        bench.program.chmod(0o755)

    assert str(bench.program) in asked(bench).warning(ENGLISH)


def test_nothing_is_said_before_it_is_known(bench: Workbench) -> None:
    """Nobody waits for the answer."""
    assert "" == CodexVersion(str(bench.program), {}).take_warning(ENGLISH)
