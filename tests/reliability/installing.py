"""Installs upbeat in each way that the README names, each into a fresh home, and counts byte code there."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

NOT_OURS = ("pip", "setuptools", "pkg_resources", "_distutils_hack")
"""What an environment made by venv has beside; upbeat does not import it."""


@dataclass(frozen=True, slots=True)
class Home:
    """A fresh home that tools and upbeat may write into; ``inherited`` says how the index is reached."""

    folder: Path
    inherited: Mapping[str, str]
    extra: Mapping[str, str] = field(default_factory=dict)

    def run(self, command: Sequence[str], **more: str) -> str:
        """Run ``command``; return what it printed. Raises ``subprocess.CalledProcessError`` if it failed."""
        env = {**self.inherited, "HOME": str(self.folder), "PATH": "/usr/local/bin:/usr/bin:/bin", **self.extra, **more}
        done = subprocess.run(command, cwd=self.folder, env=env, capture_output=True, text=True, check=False)
        if done.returncode:
            print(done.stdout, done.stderr, file=sys.stderr)
            done.check_returncode()
        return done.stdout + done.stderr


@dataclass(frozen=True, slots=True)
class Installed:
    """One installation: its home, its environment, and the folders whose modules upbeat may import."""

    way: str
    home: Home
    environment: Path
    beside: tuple[Path, ...] = ()

    @property
    def upbeat(self) -> str:
        return str(self.environment / "bin/upbeat")

    def modules(self) -> list[Path]:
        """Return every module that is installed here."""
        folders = [*self.environment.glob("lib/python*/site-packages"), *self.beside]
        return [
            path
            for folder in folders
            for path in folder.rglob("*.py")
            if path.relative_to(folder).parts[0].split(".")[0] not in NOT_OURS
        ]

    def without_byte_code(self) -> int:
        """Return how many of the modules have no byte code beside them for this installation's Python."""
        print_tag = "import sys; print(sys.implementation.cache_tag, end='')"
        tag = self.home.run([str(self.environment / "bin/python"), "-c", print_tag])
        return sum(not (path.parent / "__pycache__" / f"{path.stem}.{tag}.pyc").exists() for path in self.modules())

    def remove_byte_code(self) -> None:
        """Take all byte code away, as uv leaves it."""
        for folder in {path.parent / "__pycache__" for path in self.modules()}:
            for path in folder.glob("*.pyc"):
                path.unlink()

    def start(self) -> float:
        """Return the milliseconds that one planned turn takes, from start to end."""
        began = time.perf_counter()
        self.home.run([self.upbeat, "prepare", "--plan", "--prompt", "why does parse() fail?"])
        return (time.perf_counter() - began) * 1000


def starts(installed: Installed, times: int) -> tuple[float, float, float]:
    """Return medians of a first start without byte code, of the one after it, and of one with everything compiled.

    The three are taken in turn, so that what else the machine does weighs on all of them.
    """
    rounds = []
    for _ in range(times):
        installed.remove_byte_code()
        first, second = installed.start(), installed.start()
        installed.home.run([installed.upbeat, "install", "claude"])
        rounds.append((first, second, installed.start()))
    first, second, whole = (statistics.median(column) for column in zip(*rounds, strict=True))
    return first, second, whole


def install_with_uv(wheel: Path, home: Home, tools: Path) -> Installed:
    folder = home.folder / "tools"
    home.run(
        [str(tools / "uv"), "tool", "install", "--python", sys.executable, str(wheel)],
        UV_TOOL_DIR=str(folder),
        UV_PYTHON_DOWNLOADS="never",
    )
    return Installed("uv tool install", home, folder / "upbeat")


def install_with_pipx(wheel: Path, home: Home, tools: Path, backend: str) -> Installed:
    command = [str(tools / "pipx"), "install", "--backend", backend, "--python", sys.executable, str(wheel)]
    home.run(command, PATH=f"{tools}:/usr/local/bin:/usr/bin:/bin", PIPX_HOME=str(home.folder / "pipx"))
    return Installed(f"pipx install ({backend})", home, home.folder / "pipx/venvs/upbeat")


def install_from_checkout(checkout: Path, home: Home) -> Installed:
    home.run([str(checkout / "install.sh")], PATH=f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin")
    links = tuple(checkout / name for name in ("core", "adapters"))
    return Installed("install.sh", home, checkout / ".venv", links)


def install_beside(wheel: Path, home: Home) -> Installed:
    """The wheel alone, without byte code, in an environment that borrows this one's packages: no index is asked."""
    folder = home.folder / "env"
    home.run([sys.executable, "-m", "venv", "--without-pip", str(folder)])
    [site] = folder.glob("lib/python*/site-packages")
    shared = next(path for path in sys.path if path.endswith("site-packages"))
    pip = [sys.executable, "-m", "pip", "--python", str(folder / "bin/python"), "install", "--quiet"]
    home.run([*pip, "--no-index", "--no-deps", "--no-compile", str(wheel)])
    (site / "shared.pth").write_text(shared + "\n", encoding="utf-8")
    return Installed("pip install --no-compile", home, folder)
