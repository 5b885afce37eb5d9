"""Put the parts together; no other module does. Nothing happens at import time.

Whatever is slow to import is imported inside the functions: a hook must answer before the user notices, and the MCP
server must answer ``initialize`` before pydantic is loaded.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar, cast

from upbeat.adapters.clients.registry import CLIENTS, TranscriptsByClient, is_headless
from upbeat.adapters.mcp_client import ServerLifetime as ServerLifetime
from upbeat.adapters.system.environment import Environment, read_environment
from upbeat.core.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from pathlib import Path

    from upbeat.adapters.clients.history import SessionHistory
    from upbeat.adapters.code.index.manager import IndexManager
    from upbeat.adapters.mcp_client.provider import ServersProvider
    from upbeat.adapters.system.clock import SystemClock
    from upbeat.adapters.system.config.pinned import PinnedConfiguration
    from upbeat.adapters.system.journal.store import SqliteJournal
    from upbeat.adapters.system.workspace.workspace import LocalWorkspace
    from upbeat.core.engine.ports import (
        EvidenceSource,
        HandoffFiles,
        LearnedHabits,
        ToolProvider,
        ToolRunner,
        WorkflowLoader,
        WorldQueries,
    )
    from upbeat.core.engine.runtime import Runtime

T = TypeVar("T")

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
    configuration_pin: PinnedConfiguration | None = None
    """Keeps the configuration of a turn, where it is kept."""

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
        if self.user_servers is not None and _is_built(self.user_servers):
            self.user_servers.close()
        if self.index_manager is not None and _is_built(self.index_manager):
            from upbeat.adapters.system.process.run import kill_running

            self.index_manager.close()
            kill_running()


def build_application(
    environment: Environment | None = None,
    *,
    is_long_lived: bool = False,
    server_lifetime: ServerLifetime | None = None,
    pins_configuration: bool = False,
) -> Application:
    """Return upbeat on this machine: local files, the embedded tools, the user's servers, the user's journal.

    A process that ``is_long_lived`` (as long as its session) builds indexes and keeps the user's servers running.
    ``server_lifetime`` is what other processes may do with servers; by default they start none. One that
    ``pins_configuration`` keeps that of a turn until the user's next prompt.
    """
    from upbeat.adapters.system.clock import SystemClock
    from upbeat.adapters.system.config.resolver import LocalContextResolver
    from upbeat.adapters.system.config.rules import RuleFiles
    from upbeat.core.engine.runtime import Runtime

    environment = environment or read_environment()
    clock, transcripts = SystemClock(), TranscriptsByClient()
    server_lifetime = server_lifetime or (ServerLifetime.SESSION if is_long_lived else ServerLifetime.NEVER)
    build = _Builder(environment, clock, transcripts, server_lifetime, is_long_lived)
    index_manager = build.deferred(build.index_manager)
    servers = build.deferred(build.servers)
    provider = build.deferred(lambda: build.provider(index_manager, servers))
    workspace = build.deferred(build.workspace)
    runtime = Runtime(
        context_resolver=LocalContextResolver(environment),
        runner=build.deferred(lambda: build.runner(provider)),
        clock=clock,
        journal=build_journal(environment),
        workspace=workspace,
        transcripts=transcripts,
        workflow_loader=build.deferred(build.workflows),
        learned_habits=build.deferred(build.habits),
        world=build.deferred(lambda: build.world(workspace)),
        rule_loader=RuleFiles(environment),
        language=environment.language,
        client_traits={client.id: client.traits for client in CLIENTS},
        handoffs=build.deferred(build.handoffs),
        evidence=build.deferred(build.evidence),
        index=index_manager if is_long_lived else None,
    )
    if is_long_lived:
        collect_seldom()
    application = Application(environment, runtime, provider, servers, index_manager)
    return _with_pin(application) if pins_configuration else application


def _with_pin(application: Application) -> Application:
    from dataclasses import replace

    from upbeat.adapters.system.config.pinned import PinnedConfiguration

    given = application.runtime
    pin = PinnedConfiguration(given.context_resolver, given.rule_loader, given.workflow_loader)
    runtime = replace(given, context_resolver=pin, rule_loader=pin.rules, workflow_loader=pin.workflows)
    return replace(application, runtime=runtime, configuration_pin=pin)


class Deferred:
    """An adapter that is imported and built when it is first used: most hooks use none of them."""

    def __init__(self, build: Callable[[], Any]) -> None:
        self._build, self._lock, self._built = build, Lock(), None

    def __getattr__(self, name: str) -> Any:
        with self._lock:
            if self._built is None:
                self._built = self._build()
        return getattr(self._built, name)

    @property
    def is_built(self) -> bool:
        return self._built is not None


@dataclass(frozen=True, slots=True)
class _Builder:
    """Builds each adapter of an application."""

    environment: Environment
    clock: SystemClock
    transcripts: TranscriptsByClient
    server_lifetime: ServerLifetime
    is_long_lived: bool

    def deferred(self, build: Callable[[], T]) -> T:
        """Return the adapter, to be built at its first use; in a process that is long-lived, at once."""
        return build() if self.is_long_lived else cast("T", Deferred(build))

    def index_manager(self) -> IndexManager:
        return build_index_manager(self.environment, can_build=self.is_long_lived)

    def servers(self) -> ServersProvider:
        from upbeat.adapters.mcp_client.provider import ServersProvider

        finders = {client.cli_name: client.find_launch for client in CLIENTS}
        return ServersProvider(self.environment, self.server_lifetime, finders)

    def provider(self, index_manager: IndexManager, servers: ServersProvider) -> ToolProvider:
        from upbeat.adapters.code.provider import EmbeddedProvider
        from upbeat.adapters.system.tool_runner import CompositeProvider

        return CompositeProvider(EmbeddedProvider(index_manager=index_manager), servers)

    def runner(self, provider: ToolProvider) -> ToolRunner:
        from upbeat.adapters.system.tool_runner import ThreadRunner

        return ThreadRunner(provider, self.clock)

    def workspace(self) -> LocalWorkspace:
        from upbeat.adapters.system.workspace.workspace import LocalWorkspace

        return LocalWorkspace(self.clock)

    def workflows(self) -> WorkflowLoader:
        from upbeat.adapters.system.config.workflows import LocalWorkflows

        return LocalWorkflows(self.environment)

    def habits(self) -> LearnedHabits:
        from upbeat.adapters.system.config.learned import LocalLearnedHabits

        return LocalLearnedHabits(self.environment.state_home)

    def world(self, workspace: LocalWorkspace) -> WorldQueries:
        from upbeat.adapters.system.config.guidance import GuidanceFiles
        from upbeat.adapters.system.workspace.world_queries import LocalWorldQueries

        environment = self.environment
        guidance = GuidanceFiles(environment, _guidance_folders(environment))
        prompt_folders = [client.home(environment) / client.prompts_folder for client in reversed(CLIENTS)]
        controls = [path for client in CLIENTS for path in client.controls(environment)]
        return LocalWorldQueries(
            self.transcripts,
            guidance,
            workspace,
            environment,
            prompt_folders,
            controls,
            lambda: build_journal(environment),
            is_headless,
        )

    def handoffs(self) -> HandoffFiles:
        from upbeat.adapters.system.workspace.handoffs import LocalHandoffs

        return LocalHandoffs(self.environment.state_home)

    def evidence(self) -> EvidenceSource:
        from upbeat.adapters.system.workspace.evidence_files import LocalEvidenceSource

        return LocalEvidenceSource(self.environment)


def _is_built(adapter: object) -> bool:
    return not isinstance(adapter, Deferred) or adapter.is_built


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

    return SqliteJournal(environment.state_home, SystemClock(), retention, environment.data_home)
