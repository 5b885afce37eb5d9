"""What is installed starts fast, is what was built, and is built the same everywhere; its holes would be seen.

The full look installs with the real uv and pipx from the package index; the short one asks no index at all.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
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
from .promise import Scenario, Seen, none_of

sys.path.insert(0, str(ROOT / ".ci"))
import release

PART = "The package"

STARTS = 7
SLACK = 1.25
"""How much slower the second start may be than one with everything compiled, on a noisy machine."""
INDEX_VARIABLES = (
    *("PIP_", "UV_INDEX", "UV_DEFAULT_INDEX", "SSL_CERT", "HTTP", "http", "NO_PROXY", "no_proxy", "XDG_CONFIG_DIRS"),
)
"""Beginnings of the names of variables that say where packages come from."""


def install_and_audit(work: Path, is_whole: bool) -> Iterator[Seen]:
    """Build in different ways, install in every way, and audit what is installed."""
    commit, second = release.last_commit()
    ways = release.BUILDS[: 4 if is_whole else 2]
    builds = [release.build(work / "builds", where, commit, second) for where in ways]
    yield same_bytes(builds)
    name = next(name for name in builds[0] if name.endswith(".whl"))
    wheel = work / name
    wheel.write_bytes(builds[0][name])
    yield contents(wheel, work)
    every = list(install_everywhere(wheel, work) if is_whole else [install_beside(wheel, fresh_home(work, "h"))])
    yield byte_code(every)
    if is_whole:
        yield second_start(every[0])
    yield audit()
    if is_whole:
        yield sbom(wheel, work)


def same_bytes(builds: list[dict[str, bytes]]) -> Seen:
    return none_of(
        "wheel and sdist of a commit are the same bytes whatever folder, umask, time zone, user, locale and hash seed "
        "they are built with, and the sdist builds that very wheel",
        "0 differences",
        [str(difference) for difference in release.differences(builds)],
        f"differences in {len(builds)} builds of each, {len(builds)} more wheels from the sdists",
    )


def contents(wheel: Path, work: Path) -> Seen:
    listed = CONTENTS.read_text(encoding="utf-8").splitlines()
    target = work / "unpacked"
    release.run([sys.executable, "-m", "zipfile", "-e", str(wheel), str(target)], work)
    paths = [path for path in target.rglob("*") if path.is_symlink() or not path.is_dir()]
    names = {str(path.relative_to(target)) for path in paths}
    odd = names ^ set(listed) | {str(path) for path in paths if path.is_symlink()}
    return none_of(
        "the wheel holds what its golden list names, as real files",
        "0 others, 0 missing, 0 links",
        sorted(odd),
        f"others, missing or links of {len(names)} files",
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


def byte_code(every: list[Installed]) -> Seen:
    figures, left = [], 0
    for installed in every:
        before = installed.without_byte_code()
        installed.home.run([installed.upbeat, "install", "claude", "--yes"])
        after = installed.without_byte_code()
        left += after
        figures.append(f"{installed.way}: {before} without before, {after} after, of {len(installed.modules())}")
    return Seen(
        "once `upbeat install` has run, every module of upbeat and of what it needs has byte code, however it was "
        "installed",
        "0 without",
        "; ".join(figures),
        left == 0,
    )


def second_start(installed: Installed) -> Seen:
    first, second, whole = starts(installed, STARTS)
    return Seen(
        "without that, the first start compiles what it imports, and the second is as fast as with everything compiled",
        f"at most {SLACK} times as long",
        f"{second / whole:.2f} times as long; the first {first / whole:.1f} times ({installed.way}, medians of "
        f"{STARTS}, {whole:.0f} ms with everything compiled)",
        second <= SLACK * whole,
    )


def audit() -> Seen:
    """Run the audit of ``.ci/run`` with the real pip-audit and a source of advisories of our own."""
    with advisories({"pydantic": ["PYSEC-2026-1"]}) as url:
        vulnerable, vulnerable_text = _audit(url)
    with advisories({}) as url:
        clean, clean_text = _audit(url)
    with advisories({}, knows_canary=False) as url:
        ignorant = _audit(url)
    with advisories({}, status=503) as url:
        broken = _audit(url)
    silent = [ignorant, broken, _audit(url)]
    told_apart = sum("NOT AUDITED" in text and "no other known" not in text for _, text in silent)
    return Seen(
        "a known vulnerability in what is installed fails `.ci/run`; a source of advisories that cannot be reached, "
        "fails or knows nothing is not reported as clean",
        "exit 1 when vulnerable, 0 when clean, 3 of 3 failures distinguished",
        f"exit {vulnerable} when vulnerable, {clean} when clean, {told_apart} of 3 failures distinguished",
        (vulnerable, clean, told_apart) == (1, 0, 3)
        and "pydantic" in vulnerable_text
        and "no other known vulnerability" in clean_text
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
    parts = (*bill["components"], bill["metadata"]["component"])
    named = {(part["name"], part["version"]) for part in parts}
    fresh = install_with_uv(wheel, fresh_home(work, "again"), work / "tools/bin")
    listing = "from importlib.metadata import distributions as d; print(*{(x.name, x.version) for x in d()}, sep='\\n')"
    lines = fresh.home.run([str(fresh.environment / "bin/python"), "-I", "-c", listing]).splitlines()
    installed = {tuple(line.strip("()'").split("', '")) for line in lines}
    return Seen(
        "the SBOM of a release (CycloneDX 1.6, validated) names each installed package and its version, nothing else",
        "0 differences",
        f"{len(named ^ installed)} differences, {len(installed)} packages",
        named == installed and str(work) not in file.read_text(encoding="utf-8"),
    )


SCENARIOS = (Scenario(install_and_audit, False, True),)
