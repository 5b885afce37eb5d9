"""The ports of the core, and their implementations."""

from __future__ import annotations

import gc
import inspect
from pathlib import Path

import pytest
from fakes.runtime import fake_world

from upbeat.adapters.system.environment import read_environment
from upbeat.adapters.wiring import build_application
from upbeat.core.engine import ports
from upbeat.core.engine.runtime import Runtime

PORTS = {
    "context_resolver": ports.ContextResolver,
    "runner": ports.ToolRunner,
    "clock": ports.Clock,
    "journal": ports.Journal,
    "workspace": ports.Workspace,
    "transcripts": ports.Transcripts,
    "workflow_loader": ports.WorkflowLoader,
    "learned_habits": ports.LearnedHabits,
    "world": ports.WorldQueries,
    "rule_loader": ports.RuleLoader,
}


def build_adapters(home: Path) -> Runtime:
    """Return the adapters of a process that lives long, which are built at once."""
    threshold = gc.get_threshold()
    built = build_application(read_environment({"HOME": str(home)}), is_long_lived=True)
    built.close()
    gc.unfreeze()
    gc.set_threshold(*threshold)
    return built.runtime


def methods(port: type) -> dict[str, list[str]]:
    """Return the methods of a port with the names of their parameters."""
    return {
        name: list(inspect.signature(method).parameters)
        for name, method in inspect.getmembers(port, inspect.isfunction)
        if not name.startswith("_")
    }


@pytest.mark.parametrize("part", PORTS)
def test_adapters_and_fakes_implement_the_ports(part: str, tmp_path: Path) -> None:
    """The wired adapter and the fake have every method of the port, with its parameters in its order."""
    expected = methods(PORTS[part])
    adapters = (type(getattr(runtime, part)) for runtime in (build_adapters(tmp_path), fake_world().runtime))

    assert expected
    for adapter in adapters:
        assert expected == {name: parameters for name, parameters in methods(adapter).items() if name in expected}


def test_every_port_of_the_runtime_is_tested() -> None:
    """The table covers the parts that a runtime must have."""
    required = [
        name
        for name, parameter in inspect.signature(Runtime).parameters.items()
        if parameter.default is parameter.empty
    ]

    assert list(PORTS) == required
