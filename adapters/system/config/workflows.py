"""Load the workflows that apply in a repository: built in, the user's, and the project's if it is trusted.

Invariant: mistakes never make loading fail, and it is fast, because every hook loads workflows.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from upbeat.adapters.system.config.trust import TRUST_FILE, is_trusted
from upbeat.adapters.system.environment import Environment
from upbeat.adapters.system.files.bounded_read import file_stamp
from upbeat.adapters.system.files.toml_file import is_own_file, read_toml
from upbeat.core.settings_layers import Layer
from upbeat.core.workflow.registry import Registry
from upbeat.core.workflow.registry_file import LoadedRegistry, load_registry

BUILT_IN_FILE = Path(__file__).parents[3] / "config" / "workflows.toml"
USER_FILE = "upbeat/workflows.toml"
PROJECT_FILE = ".upbeat/workflows.toml"


def load_workflows(root: str, environment: Environment) -> LoadedRegistry:
    """Load the workflows for the repository at ``root`` (real, absolute). The problems are sanitized."""
    files = [
        read_toml(BUILT_IN_FILE, display_name="upbeat/config/workflows.toml"),
        read_toml(environment.config_home / USER_FILE),
    ]
    trusted = [True, True]
    if path := project_workflow_file(root):
        file = read_toml(path, PROJECT_FILE, root)
        files.append(file)
        trusted.append(bool(file.problem) or is_trusted(path, file.digest, environment))
    loaded = load_registry(
        [
            Layer(file.name, file.values, file.lines, is_trusted=known)
            for file, known in zip(files, trusted, strict=True)
        ]
    )
    problems = (*(file.problem for file in files if file.problem), *loaded.problems)
    if problems:
        from upbeat.core.sanitize.text import sanitize_text  # slow to import, needed only for mistakes

        problems = tuple(sanitize_text(problem).text for problem in problems)
    return replace(loaded, problems=problems)


class LocalWorkflows:
    """Implements ``core.engine.ports.WorkflowLoader``: reloads when a file changes."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._cache: dict[str, tuple[tuple[object, ...], LoadedRegistry]] = {}

    def load(self, root: str) -> tuple[Registry, tuple[str, ...]]:
        environment = self._environment
        paths = (environment.config_home / USER_FILE, Path(root, PROJECT_FILE), environment.state_home / TRUST_FILE)
        stamps = tuple(file_stamp(str(path)) for path in paths)
        known = self._cache.get(root)
        if known is None or known[0] != stamps:
            known = self._cache[root] = (stamps, load_workflows(root, environment))
        return known[1].registry, known[1].problems


def project_workflow_file(root: str) -> Path | None:
    """Return the project's own workflow file, if any."""
    return Path(root, PROJECT_FILE) if is_own_file(root, PROJECT_FILE) else None
