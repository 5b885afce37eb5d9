"""What a release consists of: wheel, sdist, SBOM and checksums.

Invariant: they come from the last commit and nothing else.

    .venv/bin/python .ci/release.py [OUT]          (just release)

The commit is built in several folders, each under another umask, time zone, user, locale and hash seed; every build
must give the same bytes, and so must a wheel that is built from the sdist. The SBOM (CycloneDX, validated) names what
a fresh installation of that wheel holds. Exit code 1: the builds differ.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SUMS = "SHA256SUMS"


@dataclass(frozen=True, slots=True)
class BuildEnvironment:
    """The folder, umask and variables of a build; none of them may change its output."""

    folder: str
    umask: int
    env: Mapping[str, str] = field(default_factory=dict)


BUILDS = (
    BuildEnvironment("a", 0o022, {"TZ": "UTC", "USER": "root", "LANG": "C.UTF-8", "PYTHONHASHSEED": "0"}),
    BuildEnvironment(
        "second folder 第二", 0o077, {"TZ": "Asia/Kathmandu", "USER": "someone", "LC_ALL": "C", "PYTHONHASHSEED": "1"}
    ),
    BuildEnvironment("x" * 100, 0o002, {"TZ": "America/St_Johns", "LOGNAME": "else", "LC_ALL": "xx_XX.ISO-8859-1"}),
    BuildEnvironment("a/b/c/d", 0o027, {"TZ": "Pacific/Chatham", "PYTHONHASHSEED": "2", "PYTHONUTF8": "1"}),
)


class ReleaseError(Exception):
    """A step of the release failed; the message says which, and what it said."""


BARE = {"PATH": "/usr/local/bin:/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1"}


def run(command: Sequence[str], cwd: Path, umask: int = 0o022, env: Mapping[str, str] = BARE) -> str:
    """Run ``command`` with ``env`` and a home of its own; what it printed.

    Raises:
        ReleaseError: it failed.
    """
    whole = {"HOME": str(cwd), **env}
    done = subprocess.run(command, cwd=cwd, env=whole, umask=umask, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ReleaseError(f"{' '.join(command[:6])} ended with {done.returncode}: {done.stderr.strip()[-600:]}")
    return done.stdout


def last_commit() -> tuple[str, str]:
    """The commit that is released, and the second at which it was made."""
    commit, second = run(["git", "log", "-1", "--format=%H %ct"], ROOT).split()
    return commit, second


def build(work: Path, environment: BuildEnvironment, commit: str, second: str) -> dict[str, bytes]:
    """Build ``commit`` in a clone of its own below ``work``: file name -> bytes; ``again`` is the sdist's wheel."""
    clone, out = work / environment.folder / "clone", work / environment.folder / "out"
    clone.parent.mkdir(parents=True)
    run(["git", "clone", "--quiet", "--no-checkout", str(ROOT), str(clone)], work, environment.umask)
    run(["git", "checkout", "--quiet", "--detach", commit], clone, environment.umask)
    env = {**BARE, **environment.env, "SOURCE_DATE_EPOCH": second}
    hatchling = [sys.executable, "-I", "-m", "hatchling", "build"]
    run([*hatchling, "-d", str(out)], clone, environment.umask, env)
    [sdist], [wheel] = out.glob("*.tar.gz"), out.glob("*.whl")
    with tarfile.open(sdist) as packed:
        packed.extractall(out / "unpacked", filter="data")
    [unpacked] = (out / "unpacked").iterdir()
    run([*hatchling, "-t", "wheel", "-d", str(out / "again")], unpacked, environment.umask, env)
    [again] = (out / "again").iterdir()
    return {sdist.name: sdist.read_bytes(), wheel.name: wheel.read_bytes(), "again": again.read_bytes()}


def differences(builds: Sequence[Mapping[str, bytes]]) -> list[str]:
    """How the builds differ from the first one; empty when all are the same bytes."""
    first = builds[0]
    [wheel] = [name for name in first if name.endswith(".whl")]
    found = []
    for number, built in enumerate(builds):
        found += [f"build {number}: {name}" for name in first if built.get(name) != first[name]]
        if built["again"] != first[wheel]:
            found.append(f"build {number}: the wheel from the sdist is another one")
    return found


def write_sbom(wheel: Path, sbom: Path) -> None:
    """Install ``wheel`` into an empty environment and write down what is there, as CycloneDX."""
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        python = work / "venv/bin/python"
        run([sys.executable, "-m", "venv", "--without-pip", str(work / "venv")], work)
        pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-compile"]
        run([*pip, str(wheel)], work, env=os.environ)  # whoever releases knows the index and the proxy
        for trace in work.glob("venv/lib/python*/site-packages/upbeat-*/direct_url.json"):
            trace.unlink()  # where the wheel lay on this machine
        options = ["--pyproject", str(ROOT / "pyproject.toml"), "--mc-type", "application", "--output-reproducible"]
        options += ["--spec-version", "1.6", "--output-format", "JSON", "--validate", "--output-file", str(sbom)]
        run([sys.executable, "-I", "-m", "cyclonedx_py", "environment", *options, str(python)], work)


def write_sums(out: Path) -> None:
    """The checksums of all that lies in ``out``, as ``sha256sum --check`` reads them."""
    files = sorted(path for path in out.iterdir() if path.name != SUMS)
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files]
    (out / SUMS).write_text("".join(lines), encoding="utf-8")


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "out", nargs="?", type=Path, default=ROOT / "dist", help="an empty or new folder (default: dist)"
    )
    out = parser.parse_args(arguments).out.absolute()
    if out.exists() and any(out.iterdir()):
        print(f"release: {out} is not empty; move it away, or name another folder", file=sys.stderr)
        return 1
    try:
        commit, second = last_commit()
        with tempfile.TemporaryDirectory() as folder:
            builds = [build(Path(folder), environment, commit, second) for environment in BUILDS]
        if found := differences(builds):
            print("release: the builds differ:", *found, sep="\n  ", file=sys.stderr)
            return 1
        out.mkdir(parents=True, exist_ok=True)
        names = [name for name in builds[0] if name != "again"]
        for name in names:
            (out / name).write_bytes(builds[0][name])
        [wheel] = out.glob("*.whl")
        write_sbom(wheel, out / f"{'-'.join(wheel.name.split('-')[:2])}.cdx.json")
        write_sums(out)
    except ReleaseError as error:
        print(f"release: {error}", file=sys.stderr)
        return 1
    print(f"release: {commit[:12]}: {' and '.join(names)}, the same bytes in {len(builds)} builds, in {out}")
    print((out / SUMS).read_text(encoding="utf-8"), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
