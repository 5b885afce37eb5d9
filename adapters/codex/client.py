"""Codex."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from upbeat.adapters.clients.client import Client, ClientHistory
from upbeat.core.contract.client import ClientTraits

if TYPE_CHECKING:
    from upbeat.adapters.doctor.canary import CanaryRun
    from upbeat.adapters.hooks.codec import HookCodec
    from upbeat.adapters.install.plugin import DesiredInstallation, Route
    from upbeat.adapters.system.environment import Environment
    from upbeat.adapters.system.journal.store import SqliteJournal
    from upbeat.core.contract.event import EventSource
    from upbeat.core.doctor.findings import ClientSnapshot
    from upbeat.core.engine.ports import Transcripts
    from upbeat.core.tool_servers import LaunchSpec


class Codex(Client):
    """Codex."""

    id = "codex-cli"
    title = "Codex"
    cli_name = "codex"
    home_variable = "CODEX_HOME"
    home_folder = ".codex"
    shell_variable = "CODEX_SESSION_ID"
    control_names = ("config.toml", "hooks.json", "rules", "plugins")
    prompts_folder = "prompts"
    resume_command = ("codex-auto", "continue")
    traits = ClientTraits(
        has_subagents=True,
        reads_agents_md=True,
        shortens_output=True,
        reports_failures=False,
        command_sign="$",
        turn_command="codex exec --json -",
        resume_command="codex exec --json resume {session_id} -",
    )

    def codec(self) -> HookCodec:
        from upbeat.adapters.codex.codec import CODEX_CODEC

        return CODEX_CODEC

    def transcripts(self) -> Transcripts:
        from upbeat.adapters.codex.transcript import CodexRollouts

        return CodexRollouts()

    def is_headless(self, source: EventSource) -> bool:
        from upbeat.adapters.codex.transcript import is_headless

        return is_headless(source)

    def history(self, environment: Environment) -> ClientHistory:
        from upbeat.adapters.codex.history import CodexHistory

        return CodexHistory(self.home(environment))

    def find_launch(self, name: str, root: str, environment: Environment) -> LaunchSpec:  # noqa: ARG002 - the user's
        from upbeat.adapters.codex.servers import find_launch

        return find_launch(name, self.home(environment))

    def desired_installation(self, environment: Environment, route: Route) -> DesiredInstallation:
        from upbeat.adapters.codex.install import desired_installation

        return desired_installation(environment.data_home, self.home(environment), route)

    def steps_after_install(self) -> list[str]:
        return [
            "open codex and review its hooks when it asks, or later with /hooks: it runs none before you trust them"
        ]

    def inspect(self, environment: Environment, root: str, cwd: str, journal: SqliteJournal) -> ClientSnapshot:  # noqa: ARG002
        from upbeat.adapters.codex.doctor import inspect_codex

        return inspect_codex(self, environment, root, journal)

    def inspect_wrappers(self, snapshot: ClientSnapshot) -> list[ClientSnapshot]:
        from upbeat.adapters.codex.doctor import inspect_wrapper

        return [inspect_wrapper(snapshot)]

    def run_canary(self, program: str, repository: Path, environment: Environment) -> CanaryRun:
        from upbeat.adapters.codex.canary import run_canary

        return run_canary(program, repository, self.home(environment))
