"""What is installed is what is meant to be: the list is a golden file, and each file is a real one."""

from __future__ import annotations

import re
import subprocess

from package.building import CONTENTS, ROOT, sdist_files, wheel_contents, wheel_files

FOREIGN = re.compile(r"(^|/)(tests?|benchmarks?|\.ci|\.git|__pycache__|\.venv|\.upbeat)(/|$)|\.(pyc|orig|rej|db)$")
BESIDE_THE_PACKAGE = {
    *(".gitignore", "CHANGELOG.md", "LICENSE", "PKG-INFO", "README.md", "README.zh.md", "SECURITY.md"),
    "pyproject.toml",
}


def test_the_wheel_holds_what_is_listed() -> None:
    """The names in the wheel are the golden ones; ``just generate`` writes the list anew."""
    assert CONTENTS.read_text(encoding="utf-8") == wheel_contents()


def test_every_file_that_git_has_of_the_package_is_in_the_wheel_and_no_other() -> None:
    """A wheel built in a working folder takes nothing with it that lies about there."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "core", "adapters", "config"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    expected = {f"upbeat/{name}" for name in listed.stdout.splitlines() if (ROOT / name).exists()}
    ours = {name for name in wheel_files() if re.match(r"upbeat/(core|adapters|config)/", name)}

    assert expected == ours


def test_files_are_real_and_ours() -> None:
    """No test, no byte code, no link, in the wheel or in the sdist; a link of the checkout is the file it leads to."""
    assert [] == [name for name in (*wheel_files(), *sdist_files()) if FOREIGN.search(name)]
    assert [] == [name for name, content in sdist_files().items() if content is None]
    assert (ROOT / "adapters/launcher.sh").read_bytes() == wheel_files()["upbeat/adapters/claude/plugin/bin/upbeat"]


def test_the_sdist_holds_the_package_too() -> None:
    """Each file of the wheel's package is in the sdist, byte for byte, and beside it only what is named here."""
    package = {f"src/{name}": content for name, content in wheel_files().items() if name.startswith("upbeat/")}
    sdist = sdist_files()

    assert package == {name: content for name, content in sdist.items() if name.startswith("src/")}
    assert BESIDE_THE_PACKAGE == {name for name in sdist if not name.startswith("src/")}
