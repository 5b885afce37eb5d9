"""A client that upbeat works in: its names, folders and traits, and one factory for each of its parts.

Invariant: everything that differs between clients is reached from here. Importing a client loads none of its parts, so
that a hook pays only for the part that it uses.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from upbeat.adapters.clients.session_files import Recording
    from upbeat.adapters.doctor.canary import CanaryRun
    from upbeat.adapters.hooks.codec import HookCodec
    from upbeat.adapters.install.plugin import DesiredInstallation, Route
    from upbeat.adapters.system.environment import Environment
    from upbeat.adapters.system.files.settings_edit import SettingsEntry
    from upbeat.adapters.system.journal.store import SqliteJournal
    from upbeat.core.contract.client import ClientTraits
    from upbeat.core.contract.event import EventSource
    from upbeat.core.doctor.findings import ClientSnapshot
    from upbeat.core.engine.ports import Transcripts
    from upbeat.core.rules.backtest import HistoryItem
    from upbeat.core.tool_servers import LaunchSpec


class ClientHistory(Protocol):
    """One client's records of past sessions."""

    def recordings(self, since: float) -> list[Recording]:
        """Return the files changed after ``since`` (seconds since the epoch), most recent first."""

    def read_events(self, path: str, since: str) -> Iterator[HistoryItem]:
        """Yield the items of one file after ``since`` (UTC, ISO 8601). Never raises."""


class Client(ABC):
    """One client. Subclasses set the attributes and implement the factories."""

    id: str
    """Its id in events and in the contract."""
    title: str
    """Its name in messages."""
    cli_name: str
    """Its name on upbeat's command line, and the name of its program."""
    home_variable: str
    """The environment variable that moves its folder."""
    home_folder: str
    """Its folder, below the user's home folder."""
    session_variable: str = ""
    """The environment variable in which it passes its session to the programs that it starts; empty for none."""
    shell_variable: str
    """The environment variable that it sets for the programs that its agents start."""
    marks_hooks: bool = False
    """Whether it sets that variable for hooks and servers, too."""
    control_names: tuple[str, ...] = ()
    """Its settings, hooks and plugins below ``home``, which a model may not change by itself."""
    prompts_folder: str
    """Where its users keep prompts, below ``home``."""
    guidance_folders: Mapping[str, str] = {}
    """Guidance format -> where its users keep rules of that format, below ``home``."""
    resume_command: tuple[str, ...]
    """Continues a workflow that was handed over to it."""
    traits: ClientTraits

    def home(self, environment: Environment) -> Path:
        """Return the client's own folder."""
        return Path(environment.client_variables.get(self.home_variable) or environment.home / self.home_folder)

    def controls(self, environment: Environment) -> list[Path]:
        """Return the files and folders that a model may not change by itself."""
        return [self.home(environment) / name for name in self.control_names]

    @abstractmethod
    def codec(self) -> HookCodec:
        """Return the codec of its hook format."""

    @abstractmethod
    def transcripts(self) -> Transcripts:
        """Return a new reader of the records that it keeps of running sessions."""

    def is_headless(self, source: EventSource) -> bool:  # noqa: ARG002 -- for clients whose records say so
        """Return whether the run of ``source`` shows nobody what a hook says."""
        return False

    @abstractmethod
    def history(self, environment: Environment) -> ClientHistory:
        """Return the records of past sessions."""

    @abstractmethod
    def find_launch(self, name: str, root: str, environment: Environment) -> LaunchSpec:
        """Return how the client starts its MCP server ``name`` in the project at ``root``.

        Raises:
            ToolFailure: There is no such server, or the user has not trusted its file.
        """

    def servers_file(self, root: str) -> Path | None:  # noqa: ARG002 -- for clients whose projects name servers
        """Return the project's file that names MCP servers and needs the user's trust; None if there is none."""
        return None

    def parse_launch(self, data: bytes, name: str, folder: str) -> LaunchSpec:
        """Return how a servers file with the content ``data`` in ``folder`` starts ``name``.

        Raises:
            ToolFailure: The file has no such server, or its entry is invalid.
        """
        raise NotImplementedError

    @abstractmethod
    def desired_installation(self, environment: Environment, route: Route) -> DesiredInstallation:
        """Return every file and setting of an installed plugin."""

    def status_line_entry(self) -> SettingsEntry | None:
        """Return the setting that shows upbeat's line below the prompt; None if the client runs no command for it."""
        return None

    @abstractmethod
    def steps_after_install(self) -> list[str]:
        """Return what the user has to do after an installation."""

    def steps_after_uninstall(self) -> list[str]:
        """Return what the user can do after an uninstallation."""
        return []

    @abstractmethod
    def inspect(self, environment: Environment, root: str, cwd: str, journal: SqliteJournal) -> ClientSnapshot:
        """Return what the client's files and its program say about upbeat's hooks at ``cwd``."""

    def inspect_wrappers(self, snapshot: ClientSnapshot) -> list[ClientSnapshot]:  # noqa: ARG002 - for subclasses
        """Return the programs of upbeat that drive this client, derived from its own ``snapshot``."""
        return []

    @abstractmethod
    def run_canary(self, program: str, repository: Path, environment: Environment) -> CanaryRun:
        """Run one session of ``program`` with a stub model in ``repository``, which is empty."""
