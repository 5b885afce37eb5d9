"""Claude Code."""

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
    from upbeat.adapters.system.files.settings_edit import SettingsEntry
    from upbeat.adapters.system.journal.store import SqliteJournal
    from upbeat.core.doctor.findings import ClientSnapshot
    from upbeat.core.engine.ports import Transcripts
    from upbeat.core.tool_servers import LaunchSpec


class ClaudeCode(Client):
    """Claude Code."""

    id = "claude-code"
    title = "Claude Code"
    cli_name = "claude"
    home_variable = "CLAUDE_CONFIG_DIR"
    home_folder = ".claude"
    session_variable = "CLAUDE_CODE_SESSION_ID"
    shell_variable = "CLAUDE_CODE_SESSION_ID"
    marks_hooks = True
    control_names = ("settings.json", "settings.local.json", "plugins")
    prompts_folder = "commands"
    guidance_folders = {"claude": "rules"}  # noqa: RUF012 - constant
    resume_command = ("claude", "continue")
    traits = ClientTraits(
        has_subagents=True,
        guards_write=True,
        expands_slash_commands=True,
        explains_subagent_resume=True,
        runs_hookify=True,
        native_guidance=frozenset({".claude/rules"}),
        max_continuations_in_a_row=8,
    )

    def state_file(self, environment: Environment) -> Path:
        """Return the file of per-project state; it is next to the client's folder, or in it if that was moved."""
        folder = environment.client_variables.get(self.home_variable)
        return Path(folder or environment.home, ".claude.json")

    def controls(self, environment: Environment) -> list[Path]:
        return [*super().controls(environment), self.state_file(environment)]

    def codec(self) -> HookCodec:
        from upbeat.adapters.claude.codec import CLAUDE_CODEC

        return CLAUDE_CODEC

    def transcripts(self) -> Transcripts:
        from upbeat.adapters.claude.transcript import ClaudeTranscripts

        return ClaudeTranscripts()

    def history(self, environment: Environment) -> ClientHistory:
        from upbeat.adapters.claude.history import ClaudeHistory

        return ClaudeHistory(self.home(environment))

    def find_launch(self, name: str, root: str, environment: Environment) -> LaunchSpec:
        from upbeat.adapters.claude.servers import find_launch

        return find_launch(name, root, environment)

    def servers_file(self, root: str) -> Path | None:
        from upbeat.adapters.claude.servers import servers_file

        return servers_file(root)

    def parse_launch(self, data: bytes, name: str, folder: str) -> LaunchSpec:
        from upbeat.adapters.claude.servers import parse_launch

        return parse_launch(data, name, folder)

    def desired_installation(self, environment: Environment, route: Route) -> DesiredInstallation:
        from upbeat.adapters.claude.install import desired_installation

        return desired_installation(environment.data_home, self.home(environment), route)

    def status_line_entry(self) -> SettingsEntry:
        from upbeat.adapters.claude.statusline import status_line_value
        from upbeat.adapters.system.files.settings_edit import SettingsEntry

        return SettingsEntry(("statusLine",), status_line_value())

    def steps_after_install(self) -> list[str]:
        return ["restart Claude Code; its version 2.1.197 loads a new plugin only at the second start"]

    def steps_after_uninstall(self) -> list[str]:
        return ["to remove the marketplace name as well: claude plugin marketplace remove upbeat"]

    def inspect(self, environment: Environment, root: str, cwd: str, journal: SqliteJournal) -> ClientSnapshot:
        from upbeat.adapters.claude.doctor import inspect_claude

        return inspect_claude(self, environment, root, cwd, journal)

    def run_canary(self, program: str, repository: Path, environment: Environment) -> CanaryRun:
        from upbeat.adapters.claude.canary import run_canary
        from upbeat.adapters.claude.doctor import managed_settings

        return run_canary(program, repository, self.home(environment), managed_settings())
