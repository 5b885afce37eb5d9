"""The only place where things are put together. Nothing happens at import time.

Everything that takes long to import is imported inside the functions: a hook must answer before a person
notices, and the MCP server must say hello before pydantic is loaded.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING

from .external import Use as Use
from .local.environment import Environment, read_environment

if TYPE_CHECKING:
    from ..core.pipeline import Runtime
    from ..core.ports import ToolProvider, Transcripts
    from .code.library import Library
    from .external.provider import ServersProvider
    from .history import History
    from .local.journal import SqliteJournal

CLIENTS = ("claude-code", "codex-cli")
"""Clients that have hooks; ``wire`` knows each."""


@dataclass(frozen=True, slots=True)
class Application:
    """A runtime of real parts, and those parts that commands use directly."""

    environment: Environment
    runtime: Runtime
    provider: ToolProvider
    servers: ServersProvider | None = None
    """The user's own tools among those of ``provider``."""
    library: Library | None = None
    """What ``provider`` keeps of repositories."""

    def warm_up(self, cwd: str) -> None:
        """Start the servers that turns in ``cwd`` may ask; waits for none."""
        from ..core.contract.event import ClientName, Source
        from ..core.settings import Mode, Switch

        if self.servers is not None and self.servers.servers():
            situation = self.runtime.surroundings.locate(Source(ClientName.CLI, cwd), None, plan=False)
            settings = situation.settings
            if not situation.problems and settings.enabled is not Switch.OFF and settings.mode is Mode.RUN:
                self.servers.warm_up(situation.repository.root)

    def close(self) -> None:
        """End the servers that were started, and stop what is being indexed."""
        if self.servers is not None:
            self.servers.close()
        if self.library is not None:
            from .local.command import end_all

            self.library.close()
            end_all()


def build(environment: Environment | None = None, *, stays: bool = False, use: Use | None = None) -> Application:
    """upbeat on this machine: local files, the embedded tools, the user's servers, the journal in the state folder.

    ``stays`` says that the process lives as long as its session, so that an index can be built in it, and the user's
    servers kept warm. ``use`` says what a process that does not stay may do with those; nothing by default.
    """
    from ..core.pipeline import Runtime
    from .claude import servers as claude_servers
    from .code.provider import EmbeddedProvider
    from .codex import servers as codex_servers
    from .external.beside import Beside
    from .external.provider import ServersProvider
    from .local.clock import SystemClock
    from .local.ground import LocalGround
    from .local.guidance import GuidanceFiles
    from .local.heap import collect_rarely
    from .local.observations import ProjectMemory
    from .local.rules import RuleFiles
    from .local.runner import ThreadRunner
    from .local.surroundings import LocalSurroundings
    from .local.workflows import WorkflowFiles
    from .local.workspace import LocalWorkspace

    environment = environment or read_environment()
    clock, records = SystemClock(), transcripts()
    known = library(environment, builds=stays)
    use = use or (Use.SESSION if stays else Use.NEVER)
    servers = ServersProvider(environment, use, {"codex": codex_servers.server, "claude": claude_servers.server})
    provider = Beside(EmbeddedProvider(library=known), servers)
    workspace = LocalWorkspace(clock)
    runtime = Runtime(
        surroundings=LocalSurroundings(environment),
        runner=ThreadRunner(provider, clock),
        clock=clock,
        journal=journal(environment),
        workspace=workspace,
        transcripts=records,
        workflows=WorkflowFiles(environment),
        memory=ProjectMemory(environment.state_home),
        ground=LocalGround(records, GuidanceFiles(environment), workspace, environment),
        rules=RuleFiles(environment),
        language=environment.language,
        index=known if stays else None,
    )
    if stays:
        collect_rarely()
    return Application(environment, runtime, provider, servers, known)


def library(environment: Environment, *, builds: bool = True) -> Library:
    """What is kept of repositories; nothing is opened before it is asked. ``builds``: in the background, too."""
    from ..core.settings import Toggle
    from .code.library import Library, Limits
    from .local.settings import load_user_settings

    def limits() -> Limits:
        settings = load_user_settings(environment)
        return Limits(settings.index_enabled is Toggle.ON, settings.index_max_mb)

    return Library(environment.state_home, limits, builds=builds)


def transcripts() -> Transcripts:
    """What the clients' own records tell; none is read before it is asked."""
    from ..core.contract.event import ClientName
    from .claude.transcript import ClaudeTranscripts
    from .codex.rollout import CodexRollouts
    from .transcripts import TranscriptsOfClients

    return TranscriptsOfClients({ClientName.CLAUDE_CODE: ClaudeTranscripts(), ClientName.CODEX_CLI: CodexRollouts()})


def history(environment: Environment) -> History:
    """The past of this user; nothing is read before it is asked."""
    from ..core.contract.event import ClientName
    from .claude import tools as claude_tools
    from .claude.history import ClaudeHistory
    from .codex import tools as codex_tools
    from .codex.history import CodexHistory
    from .history import History

    return History(
        (ClaudeHistory(environment.claude_home), CodexHistory(environment.codex_home)),
        journal(environment).each,
        {ClientName.CLAUDE_CODE: claude_tools.describe, ClientName.CODEX_CLI: codex_tools.describe},
    )


def journal(environment: Environment) -> SqliteJournal:
    """The user's journal; nothing is opened before it is used."""
    from ..core.journal.entry import Retention
    from .local.clock import SystemClock
    from .local.journal import SqliteJournal
    from .local.settings import load_user_settings

    def retention() -> Retention:
        settings = load_user_settings(environment)
        return Retention(settings.journal_max_mb, settings.journal_max_days)

    return SqliteJournal(environment.state_home, SystemClock(), retention)


def wire(client: str) -> ModuleType:
    """The codec of ``client``: ``decode``, ``encode`` and ``CAP``."""
    if client == "claude-code":
        from .claude import wire as claude_wire

        return claude_wire
    from .codex import wire as codex_wire

    return codex_wire
