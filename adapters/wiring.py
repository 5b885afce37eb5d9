"""Put the parts together; no other module does. Nothing happens at import time.

Whatever is slow to import is imported inside the functions: a hook must answer before the user notices, and the MCP
server must answer ``initialize`` before pydantic is loaded.
"""

from __future__ import annotations

import gc
from dataclasses import dataclass
from typing import TYPE_CHECKING

from upbeat.adapters.clients.registry import CLIENTS, TranscriptsByClient
from upbeat.adapters.mcp_client import ServerLifetime as ServerLifetime
from upbeat.adapters.system.environment import Environment, read_environment

if TYPE_CHECKING:
    from pathlib import Path

    from upbeat.adapters.clients.history import SessionHistory
    from upbeat.adapters.code.index.manager import IndexManager
    from upbeat.adapters.mcp_client.provider import ServersProvider
    from upbeat.adapters.system.journal.store import SqliteJournal
    from upbeat.adapters.system.workspace.workspace import LocalWorkspace
    from upbeat.adapters.system.workspace.world_queries import LocalWorldQueries
    from upbeat.core.engine.pipeline import Runtime
    from upbeat.core.engine.ports import ToolProvider

YOUNG_THRESHOLD = 200_000
"""New objects before a long-lived process collects: more than one turn allocates, so that no turn is interrupted."""
OLDER_THRESHOLD = 20
"""Collections before it collects older objects too."""


@dataclass(frozen=True, slots=True)
class Application:
    """A runtime with real adapters, and the adapters that commands use directly."""

    environment: Environment
    runtime: Runtime
    tool_provider: ToolProvider
    user_servers: ServersProvider | None = None
    """The servers of the user's own tools, which ``tool_provider`` includes."""
    index_manager: IndexManager | None = None
    """The code indexes of repositories that ``tool_provider`` searches."""

    def warm_up_servers(self, cwd: str) -> None:
        """Start the servers that turns in ``cwd`` may query, without waiting for them."""
        from upbeat.core.contract.event import ClientName, EventSource
        from upbeat.core.settings import Activation, ExecutionMode

        if self.user_servers is not None and self.user_servers.servers():
            context = self.runtime.context_resolver.resolve(EventSource(ClientName.CLI, cwd), None, is_plan=False)
            settings = context.settings
            if not context.problems and settings.enabled is not Activation.OFF and settings.mode is ExecutionMode.RUN:
                self.user_servers.warm_up(context.repository.root)

    def close(self) -> None:
        """Stop the user's servers and the indexing."""
        if self.user_servers is not None:
            self.user_servers.close()
        if self.index_manager is not None:
            from upbeat.adapters.system.process.run import kill_running

            self.index_manager.close()
            kill_running()


def build_application(
    environment: Environment | None = None,
    *,
    is_long_lived: bool = False,
    server_lifetime: ServerLifetime | None = None,
) -> Application:
    """Return upbeat on this machine: local files, the embedded tools, the user's servers, the user's journal.

    A process that ``is_long_lived`` (as long as its session) builds indexes and keeps the user's servers running.
    ``server_lifetime`` is what other processes may do with servers; by default they start none.
    """
    from upbeat.adapters.code.provider import EmbeddedProvider
    from upbeat.adapters.mcp_client.provider import ServersProvider
    from upbeat.adapters.system.clock import SystemClock
    from upbeat.adapters.system.config.learned import LocalLearnedHabits
    from upbeat.adapters.system.config.resolver import LocalContextResolver
    from upbeat.adapters.system.config.rules import RuleFiles
    from upbeat.adapters.system.config.workflows import LocalWorkflows
    from upbeat.adapters.system.tool_runner import CompositeProvider, ThreadRunner
    from upbeat.adapters.system.workspace.evidence_files import LocalEvidenceSource
    from upbeat.adapters.system.workspace.handoffs import LocalHandoffs
    from upbeat.adapters.system.workspace.workspace import LocalWorkspace
    from upbeat.core.engine.pipeline import Runtime

    environment = environment or read_environment()
    clock, transcripts = SystemClock(), TranscriptsByClient()
    index_manager = build_index_manager(environment, can_build=is_long_lived)
    server_lifetime = server_lifetime or (ServerLifetime.SESSION if is_long_lived else ServerLifetime.NEVER)
    servers = ServersProvider(environment, server_lifetime, {client.cli_name: client.find_launch for client in CLIENTS})
    provider = CompositeProvider(EmbeddedProvider(index_manager=index_manager), servers)
    workspace = LocalWorkspace(clock)
    runtime = Runtime(
        context_resolver=LocalContextResolver(environment),
        runner=ThreadRunner(provider, clock),
        clock=clock,
        journal=build_journal(environment),
        workspace=workspace,
        transcripts=transcripts,
        workflow_loader=LocalWorkflows(environment),
        learned_habits=LocalLearnedHabits(environment.state_home),
        world=_build_world_queries(environment, transcripts, workspace),
        rule_loader=RuleFiles(environment),
        language=environment.language,
        client_traits={client.id: client.traits for client in CLIENTS},
        handoffs=LocalHandoffs(environment.state_home),
        evidence=LocalEvidenceSource(environment),
        index=index_manager if is_long_lived else None,
    )
    if is_long_lived:
        collect_seldom()
    return Application(environment, runtime, provider, servers, index_manager)


def _build_world_queries(
    environment: Environment, transcripts: TranscriptsByClient, workspace: LocalWorkspace
) -> LocalWorldQueries:
    from upbeat.adapters.system.config.guidance import GuidanceFiles
    from upbeat.adapters.system.workspace.world_queries import LocalWorldQueries

    return LocalWorldQueries(
        transcripts,
        GuidanceFiles(environment, _guidance_folders(environment)),
        workspace,
        environment,
        [client.home(environment) / client.prompts_folder for client in reversed(CLIENTS)],
        [path for client in CLIENTS for path in client.controls(environment)],
    )


def _guidance_folders(environment: Environment) -> dict[str, Path]:
    """Return where each client keeps its guidance, by the name of the folder."""
    return {
        name: client.home(environment) / folder
        for client in CLIENTS
        for name, folder in client.guidance_folders.items()
    }


def collect_seldom() -> None:
    """Collect garbage seldom, and never what is loaded by now."""
    gc.freeze()
    gc.set_threshold(YOUNG_THRESHOLD, OLDER_THRESHOLD, OLDER_THRESHOLD)


def build_index_manager(environment: Environment, *, can_build: bool = True) -> IndexManager:
    """Return the indexes of repositories, opened on first use; with ``can_build`` they are built in the background."""
    from upbeat.adapters.code.index.manager import RECHECK_SECONDS, IndexLimits, IndexManager
    from upbeat.adapters.system.config.settings import load_user_settings
    from upbeat.core.settings import Toggle

    def limits() -> IndexLimits:
        settings = load_user_settings(environment)
        is_enabled = settings.index_enabled is Toggle.ON
        return IndexLimits(is_enabled, settings.index_max_mb, settings.index_object_stores)

    recheck_seconds = RECHECK_SECONDS if can_build else 0.0
    return IndexManager(environment.state_home, limits, can_build=can_build, recheck_seconds=recheck_seconds)


def build_history(environment: Environment) -> SessionHistory:
    """Return the user's past sessions; nothing is read before it is used."""
    from upbeat.adapters.clients.history import SessionHistory

    return SessionHistory(CLIENTS, environment, build_journal(environment).iterate_since)


def build_journal(environment: Environment) -> SqliteJournal:
    """Return the user's journal, opened on first use."""
    from upbeat.adapters.system.clock import SystemClock
    from upbeat.adapters.system.config.settings import load_user_settings
    from upbeat.adapters.system.journal.store import SqliteJournal
    from upbeat.core.journal.record import Retention

    def retention() -> Retention:
        settings = load_user_settings(environment)
        return Retention(settings.journal_max_mb, settings.journal_max_days)

    return SqliteJournal(environment.state_home, SystemClock(), retention)
