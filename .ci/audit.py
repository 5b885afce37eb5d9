"""Known vulnerabilities in what a user of upbeat installs. Invariant: "could not be asked" never reads as "clean".

    .venv/bin/python .ci/audit.py [--service pypi --service osv] [--required]

pip-audit looks up each package that upbeat needs, as it is installed beside this Python. A source of advisories is
believed only if it knows an old vulnerability that everyone knows. upbeat itself is not looked up: on the public
index its name belongs to another project.

Exit code 1: a vulnerability that ``.ci/audit-allowed.toml`` does not name. 2: ``--required`` (or the variable
UPBEAT_AUDIT_REQUIRED), and some package could not be looked up; without it that is said, loudly, and is no failure.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import tomli

from upbeat.adapters.install.byte_code import OWN_EXTRAS, installed_requirements, normalize_package_name

ALLOWED = Path(__file__).with_name("audit-allowed.toml")
SERVICES = ("pypi", "osv")
CANARY = ("jinja2", "2.10")
"""A package and a version with known vulnerabilities (CVE-2019-10906); a source that knows none is no source."""
SECONDS = 300


@dataclass(frozen=True, slots=True)
class Vulnerability:
    """One known vulnerability of one installed package."""

    package: str
    version: str
    ids: tuple[str, ...]
    fixed_in: tuple[str, ...]

    def __str__(self) -> str:
        way_out = f"fixed in {', '.join(self.fixed_in)}" if self.fixed_in else "no version fixes it yet"
        return f"{self.package} {self.version}: {' = '.join(self.ids)}; {way_out}"


@dataclass(slots=True)
class Audit:
    """What was found; ``looked_up`` holds the packages that a believed source answered for, ``reasons`` why not."""

    packages: Mapping[str, str]
    looked_up: set[str] = field(default_factory=set)
    found: list[Vulnerability] = field(default_factory=list)
    reasons: dict[str, str] = field(default_factory=dict)

    @property
    def left(self) -> list[str]:
        """Packages that nobody answered for."""
        return sorted(set(self.packages) - self.looked_up)


def installed() -> dict[str, str]:
    """What upbeat needs, as it is installed: name -> version."""
    return {name: version(name) for name in installed_requirements("upbeat", OWN_EXTRAS) if name != "upbeat"}


def audit(packages: Mapping[str, str], services: Sequence[str], osv_url: str = "") -> Audit:
    """Ask one source after the other for what the ones before did not know."""
    result = Audit(packages)
    for service in services:
        if not result.left:
            break
        answers, reason = _ask(service, {name: packages[name] for name in result.left}, osv_url)
        if reason:
            result.reasons[service] = reason
        result.looked_up |= set(answers)
        result.found += [one for found in answers.values() for one in found]
    return result


def _ask(service: str, packages: Mapping[str, str], osv_url: str) -> tuple[dict[str, list[Vulnerability]], str]:
    """What ``service`` knows: package -> its vulnerabilities, for those it answered for; and why not for all."""
    with tempfile.TemporaryDirectory() as folder:
        wanted = Path(folder, "requirements.txt")
        lines = [f"{name}=={number}" for name, number in (CANARY, *packages.items())]
        wanted.write_text("\n".join(lines) + "\n", encoding="utf-8")
        options = ["--no-deps", "--disable-pip", "--format", "json", "--progress-spinner", "off"]
        options += ["--vulnerability-service", service, *(["--osv-url", osv_url] if osv_url else [])]
        command = [sys.executable, "-I", "-m", "pip_audit", "--requirement", str(wanted), *options]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            return {}, f"no answer in {SECONDS} s"
    try:
        told = json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError, TypeError):
        last = done.stderr.strip().splitlines()[-1:] or [f"pip-audit ended with {done.returncode} and said nothing"]
        return {}, last[0][:300]
    return answers_in(told, packages)


def answers_in(
    told: Sequence[Mapping[str, Any]], packages: Mapping[str, str]
) -> tuple[dict[str, list[Vulnerability]], str]:
    """What pip-audit's list of dependencies says about ``packages``, and why it does not say it of all.

    What it skipped was not looked up, though pip-audit ends well and speaks of no known vulnerabilities.
    """
    answers: dict[str, list[Vulnerability]] = {}
    reason = ""
    by_name = {normalize_package_name(name): name for name in packages}
    is_believed = False
    for one in told:
        name = normalize_package_name(str(one["name"]))
        if one.get("skip_reason") or "vulns" not in one:
            reason = str(one.get("skip_reason") or "no answer")
        elif (name, one["version"]) == CANARY:
            is_believed = bool(one["vulns"])
        elif name in by_name:
            answers[by_name[name]] = [
                Vulnerability(by_name[name], one["version"], (v["id"], *v["aliases"]), tuple(v["fix_versions"]))
                for v in one["vulns"]
            ]
    if not is_believed:
        return {name: found for name, found in answers.items() if found}, (
            reason or f"it knows nothing of {' '.join(CANARY)}, so its silence means nothing"
        )
    return answers, reason


def read_allowed(file: Path) -> dict[str, str]:
    """The vulnerabilities that may pass: id -> package.

    Raises:
        SystemExit: an entry lacks its id, package, reason or date.
    """
    entries = tomli.loads(file.read_text(encoding="utf-8")).get("allowed", [])
    wanted = {"id": str, "package": str, "reason": str, "date": datetime.date}
    for number, entry in enumerate(entries, 1):
        lacking = [key for key, kind in wanted.items() if not isinstance(entry.get(key), kind) or not entry[key]]
        if lacking:
            raise SystemExit(f"audit: {file.name}, entry {number}: give {', '.join(lacking)}")
    return {entry["id"]: normalize_package_name(entry["package"]) for entry in entries}


def tell(result: Audit, allowed: Mapping[str, str], *, is_required: bool) -> int:
    """Print what came of it; the exit code."""
    passes = [
        one
        for one in result.found
        if any(allowed.get(known) == normalize_package_name(one.package) for known in one.ids)
    ]
    fails = [one for one in result.found if one not in passes]
    for one in fails:
        print(f"audit: VULNERABLE: {one}")
    for one in passes:
        print(f"audit: allowed: {one}")
    used = {known for one in passes for known in one.ids}
    for known, package in allowed.items():
        if known not in used and package in {normalize_package_name(name) for name in result.looked_up}:
            print(f"audit: {known} ({package}) is not found any more; take it out of {ALLOWED.name}")
    if fails:
        print(f"audit: raise the bound in pyproject.toml, or name it in .ci/{ALLOWED.name} with a reason")
    if result.left:
        asked = "; ".join(f"{service}: {reason}" for service, reason in result.reasons.items())
        print("!" * 100)
        print(f"!! audit: NOT AUDITED: {len(result.left)} of {len(result.packages)} packages ({_some(result.left)})")
        print(f"!! no source of advisories answered for them ({asked})")
        print("!! This does not say that they are clean. Run this again where one can be reached.")
        print("!" * 100)
    elif not fails:
        print(f"audit: {len(result.packages)} packages looked up, {len(passes)} allowed, no other known vulnerability")
    if fails:
        return 1
    return 2 if result.left and is_required else 0


def _some(names: Sequence[str], most: int = 5) -> str:
    return ", ".join(names[:most]) + (", …" if len(names) > most else "")


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--service", action="append", choices=SERVICES, help="ask only this (default: all, in turn)")
    parser.add_argument("--osv-url", default="", help="another place that answers like https://api.osv.dev/v1/query")
    parser.add_argument("--allowed", type=Path, default=ALLOWED, metavar="FILE")
    parser.add_argument("--required", action="store_true", help="fail also where no source can be reached")
    options = parser.parse_args(arguments)
    if not find_spec("pip_audit"):
        parser.error("pip-audit is not installed; .venv/bin/python -m pip install -e '.[release]'")
    is_required = options.required or bool(os.environ.get("UPBEAT_AUDIT_REQUIRED"))
    allowed = read_allowed(options.allowed)
    return tell(audit(installed(), options.service or SERVICES, options.osv_url), allowed, is_required=is_required)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
