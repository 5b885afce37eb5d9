"""Loads the workflows that are in force in a repository: built in, its user's, the project's once it is trusted.

Law: loading never fails for what a person got wrong, and never for long: every hook does it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ...core.layers import Layer
from ...core.workflow.registry import Registry
from ...core.workflow.registry_file import read
from .environment import Environment
from .toml_file import TomlFile, is_own_file, read_toml
from .trust import TRUST_FILE, is_trusted

BUILT_IN = Path(__file__).parents[2] / "config" / "workflows.toml"
USER_FILE = "upbeat/workflows.toml"
PROJECT_FILE = ".upbeat/workflows.toml"


@dataclass(frozen=True, slots=True)
class Workflows:
    """The registry in force, what is wrong with the files, and those that are left out until they are trusted."""

    registry: Registry
    problems: tuple[str, ...] = ()
    untrusted: tuple[str, ...] = ()


def load_workflows(root: str, environment: Environment) -> Workflows:
    """The workflows for the repository at ``root`` (real, absolute). Problems are fit to be shown."""
    files = [read_toml(BUILT_IN, shown="upbeat/config/workflows.toml"), read_toml(environment.config_home / USER_FILE)]
    layers = [_layer(file) for file in files]
    if path := workflow_file(root):
        file = read_toml(path, PROJECT_FILE, root)
        files.append(file)
        layers.append(_layer(file, trusted=bool(file.problem) or is_trusted(path, file.digest, environment)))
    loaded = read(layers)
    problems = (*(file.problem for file in files if file.problem), *loaded.problems)
    return Workflows(loaded.registry, _clean(problems), loaded.untrusted)


class WorkflowFiles:
    """Implements ``core.ports.Workflows``: loads again when one of the files has changed."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._loaded: dict[str, tuple[tuple[object, ...], Workflows]] = {}

    def load(self, root: str) -> tuple[Registry, tuple[str, ...]]:
        environment = self._environment
        paths = (environment.config_home / USER_FILE, Path(root, PROJECT_FILE), environment.state_home / TRUST_FILE)
        stamps = tuple(_stamp(path) for path in paths)
        known = self._loaded.get(root)
        if known is None or known[0] != stamps:
            known = self._loaded[root] = (stamps, load_workflows(root, environment))
        return known[1].registry, known[1].problems


def _stamp(path: Path) -> tuple[int, int, int] | None:
    """What changes when a file does; None while there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def workflow_file(root: str) -> Path | None:
    """The project's workflow file, if it has one of its own."""
    return Path(root, PROJECT_FILE) if is_own_file(root, PROJECT_FILE) else None


def _layer(file: TomlFile, *, trusted: bool = True) -> Layer:
    return Layer(file.name, file.values, file.lines, trusted=trusted)


def _clean(problems: tuple[str, ...]) -> tuple[str, ...]:
    if not problems:
        return ()
    from ...core.turn.clean import clean  # takes long to import, and only mistakes need it

    return tuple(clean(problem).text for problem in problems)
