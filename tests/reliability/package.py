"""What is installed starts fast, is what was built, and is built the same everywhere; its holes would be seen.

The full look installs with the real uv and pipx from the package index; the short one asks no index at all.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from fakes.advisories import advisories
from package.building import CONTENTS, ROOT

from .installing import (
    Home,
    Installed,
    install_beside,
    install_from_checkout,
    install_with_pipx,
    install_with_uv,
    starts,
)
from .promise import Seen

sys.path.insert(0, str(ROOT / ".ci"))
import release

PART = "The package"

STARTS = 7
SLACK = 1.25
"""How much slower the second start may be than one with everything compiled, on a noisy machine."""
INDEX_VARIABLES = (
    "PIP_",
    "UV_INDEX",
    "UV_DEFAULT_INDEX",
    "SSL_CERT",
    "HTTP",
    "http",
    "NO_PROXY",
    "no_proxy",
    "XDG_CONFIG_DIRS",
)


def look(full: bool) -> Iterator[Seen]:
    with tempfile.TemporaryDirectory(prefix="upbeat-package-") as folder:
        work = Path(folder)
        commit, second = release.last_commit()
        builds = [release.build(work / "builds", where, commit, second) for where in release.BUILDS[: 4 if full else 2]]
        yield same_bytes(builds)
        wheel = work / next(name for name in builds[0] if name.endswith(".whl"))
        wheel.write_bytes(builds[0][wheel.name])
        yield contents(wheel, work)
        every = list(install_everywhere(wheel, work) if full else [install_beside(wheel, fresh_home(work, "h"))])
        yield from byte_code(every)
        if full:
            yield second_start(every[0])
        yield from audit()
        if full:
            yield sbom(wheel, work)


def same_bytes(builds: list[dict[str, bytes]]) -> Seen:
    found = release.differences(builds)
    return Seen(
        "wheel and sdist of a commit are the same bytes whatever folder, umask, time zone, user, locale and hash seed "
        "they are built with, and the sdist builds that very wheel",
        "0 differences",
        f"{len(found)} differences in {len(builds)} builds of each, {len(builds)} more wheels from the sdists",
        not found,
    )


def contents(wheel: Path, work: Path) -> Seen:
    listed = CONTENTS.read_text(encoding="utf-8").splitlines()
    target = work / "unpacked"
    release.run([sys.executable, "-m", "zipfile", "-e", str(wheel), str(target)], work)
    found = [path for path in target.rglob("*") if path.is_symlink() or not path.is_dir()]
    names = {str(path.relative_to(target)) for path in found}
    odd = names ^ set(listed) | {str(path) for path in found if path.is_symlink()}
    return Seen(
        "the wheel holds what its golden list names, as real files",
        "0 others, 0 missing, 0 links",
        f"{len(odd)} others, missing or links of {len(names)} files",
        not odd,
    )


def fresh_home(work: Path, name: str) -> Home:
    """A home with nothing in it, in environments that only know where packages come from."""
    folder = work / name
    folder.mkdir()
    inherited = {key: value for key, value in os.environ.items() if key.startswith(INDEX_VARIABLES)}
    return Home(folder, inherited, {"UV_CACHE_DIR": str(work / "uv-cache"), "LANG": "C.UTF-8"})


def install_everywhere(wheel: Path, work: Path) -> Iterator[Installed]:
    tools = work / "tools"
    home = fresh_home(work, "tools-home")
    home.run([sys.executable, "-m", "venv", str(tools)])
    home.run([str(tools / "bin/pip"), "install", "--quiet", "uv", "pipx"])
    yield install_with_uv(wheel, fresh_home(work, "uv"), tools / "bin")
    for backend in ("uv", "pip"):
        yield install_with_pipx(wheel, fresh_home(work, f"pipx-{backend}"), tools / "bin", backend)
    checkout = work / "checkout"
    release.run(["git", "clone", "--quiet", str(ROOT), str(checkout)], work)
    yield install_from_checkout(checkout, fresh_home(work, "checkout-home"))


def byte_code(every: list[Installed]) -> Iterator[Seen]:
    told, left = [], 0
    for one in every:
        before = one.without()
        one.home.run([one.upbeat, "install", "claude", "--yes"])
        after = one.without()
        left += after
        told.append(f"{one.way}: {before} without before, {after} after, of {len(one.modules())}")
    yield Seen(
        "once `upbeat install` has run, every module of upbeat and of what it needs has byte code, however it was "
        "installed",
        "0 without",
        "; ".join(told),
        left == 0,
    )


def second_start(one: Installed) -> Seen:
    first, second, whole = starts(one, STARTS)
    return Seen(
        "without that, the first start compiles what it imports, and the second is as fast as with everything compiled",
        f"at most {SLACK} times as long",
        f"{second / whole:.2f} times as long; the first {first / whole:.1f} times ({one.way}, medians of {STARTS}, "
        f"{whole:.0f} ms with everything compiled)",
        second <= SLACK * whole,
    )


def audit() -> Iterator[Seen]:
    """The audit of ``.ci/run``, with the real pip-audit and a source of advisories of our own."""
    with advisories({"pydantic": ["PYSEC-2026-1"]}) as url:
        vulnerable = _audit(url)
    with advisories({}) as url:
        clean = _audit(url)
    with advisories({}, knows_canary=False) as url:
        ignorant = _audit(url)
    with advisories({}, status=503) as url:
        broken = _audit(url)
    gone = _audit(url)
    silent = [ignorant, broken, gone]
    told_apart = sum("NOT AUDITED" in text and "no other known" not in text for _, text in silent)
    yield Seen(
        "a known vulnerability in what is installed fails `.ci/run`; a source of advisories that cannot be reached, "
        "fails or knows nothing is not taken for a clean bill",
        "exit 1 when vulnerable, 0 when clean, 3 of 3 silences told apart",
        f"exit {vulnerable[0]} when vulnerable, {clean[0]} when clean, {told_apart} of 3 silences told apart",
        (vulnerable[0], clean[0], told_apart) == (1, 0, 3)
        and "pydantic" in vulnerable[1]
        and "no other known vulnerability" in clean[1]
        and {code for code, _ in silent} == {0},
    )


def _audit(url: str) -> tuple[int, str]:
    command = [sys.executable, str(ROOT / ".ci/audit.py"), "--service", "osv", "--osv-url", url]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def sbom(wheel: Path, work: Path) -> Seen:
    """Of a fresh installation, held against what Python itself says is there."""
    file = work / "sbom.json"
    release.write_sbom(wheel, file)
    bill = json.loads(file.read_text(encoding="utf-8"))
    named = {(one["name"], one["version"]) for one in (*bill["components"], bill["metadata"]["component"])}
    one = install_with_uv(wheel, fresh_home(work, "again"), work / "tools/bin")
    listing = "from importlib.metadata import distributions as d; print(*{(x.name, x.version) for x in d()}, sep='\\n')"
    told = one.home.run([str(one.environment / "bin/python"), "-I", "-c", listing])
    installed = {tuple(line.strip("()'").split("', '")) for line in told.splitlines()}
    return Seen(
        "the SBOM of a release (CycloneDX 1.6, validated) names each installed package and its version, nothing else",
        "0 differences",
        f"{len(named ^ installed)} differences, {len(installed)} packages",
        named == installed and str(work) not in file.read_text(encoding="utf-8"),
    )
