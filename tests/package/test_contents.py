"""What is installed is what is meant to be: the list is a golden file, and each file is a real one."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

from package.building import CONTENTS, ROOT, build_wheel, sdist_files, wheel_contents, wheel_files
from repositories import git

FOREIGN = re.compile(r"(^|/)(tests?|benchmarks?|\.ci|\.git|__pycache__|\.venv|\.upbeat)(/|$)|\.(pyc|orig|rej|db)$")
NOT_IN_THE_PACKAGE = {
    *(".gitignore", "CHANGELOG.md", "LICENSE", "PKG-INFO", "README.md", "README.zh.md", "SECURITY.md"),
    *("pyproject.toml", "src/bin/codex-auto", "src/bin/upbeat", "docs/upbeat.1"),
}


def test_the_wheel_holds_what_is_listed() -> None:
    """The names in the wheel are the golden ones; ``just generate`` writes the list anew."""
    assert CONTENTS.read_text(encoding="utf-8") == wheel_contents()


def test_every_file_that_git_has_of_the_package_is_in_the_wheel_and_no_other() -> None:
    """A wheel built in a working folder takes nothing with it that lies about there."""
    listed = git(ROOT, "ls-files", "--cached", "--others", "--exclude-standard", "core", "adapters", "config")
    expected = {f"upbeat/{name}" for name in listed.splitlines() if (ROOT / name).exists()}
    ours = {name for name in wheel_files() if re.match(r"upbeat/(core|adapters|config)/", name)}

    assert expected == ours


def test_files_are_real_and_ours() -> None:
    """No test, no byte code and no link is in the wheel or in the sdist."""
    assert [] == [name for name in (*wheel_files(), *sdist_files()) if FOREIGN.search(name)]
    assert [] == [name for name, content in sdist_files().items() if content is None]


def test_the_sdist_holds_the_package_too() -> None:
    """The sdist holds each file of the wheel's package, byte for byte, and otherwise only the files named here."""
    wheel = {name: content for name, content in wheel_files().items() if name.startswith("upbeat/")}
    package = {re.sub(r"^upbeat/(?!(core|adapters|config)/)", "src/upbeat/", name): name for name in wheel}
    package = {source.removeprefix("upbeat/"): name for source, name in package.items()}
    sdist = sdist_files()

    assert {source: wheel[name] for source, name in package.items()} == {name: sdist.get(name) for name in package}
    assert NOT_IN_THE_PACKAGE == sdist.keys() - package.keys()


def test_a_checkout_without_links_builds_the_same_wheel(tmp_path: Path) -> None:
    """Where git writes links as text files, the wheel still holds every file of the package."""
    git(tmp_path, "-c", "core.symlinks=false", "clone", "--quiet", str(ROOT), "clone")
    listed = git(tmp_path / "clone", "ls-files", "core", "adapters", "config")
    wheel = build_wheel(tmp_path / "clone")

    assert (tmp_path / "clone/src/upbeat/core").is_file()
    assert {f"upbeat/{name}" for name in listed.splitlines()} == {
        name for name in wheel if re.match(r"upbeat/(core|adapters|config)/", name)
    }
    assert not wheel["upbeat/adapters/claude/plugin/bin/upbeat"].startswith(b".."), "a link to another file"


def test_install_sh_explains_a_checkout_without_links(tmp_path: Path) -> None:
    """An editable install cannot work there: the script stops before it makes anything, and says what to do."""
    clone = tmp_path / "clone"
    git(tmp_path, "-c", "core.symlinks=false", "clone", "--quiet", str(ROOT), "clone")
    shutil.copy(ROOT / "install.sh", clone / "install.sh")
    done = subprocess.run(["sh", str(clone / "install.sh")], capture_output=True, text=True, check=False)

    assert (1, False) == (done.returncode, (clone / ".venv").exists())
    assert "src/upbeat/core is not a symbolic link" in done.stderr
    assert "git config core.symlinks true" in done.stderr
