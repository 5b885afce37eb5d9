"""What core knows of a client: declared traits, never a name."""

from __future__ import annotations

from upbeat.core.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class ClientTraits:
    """What one client does by itself, and what its hooks report. The defaults describe a client nobody knows."""

    reads_agents_md: bool = False
    """Loads the AGENTS.md files from the repository root down to its working directory."""
    shortens_output: bool = False
    """Truncates long tool output before the model reads it."""
    guards_write: bool = False
    """Its write tool refuses to overwrite a file that the session has not read."""
    expands_slash_commands: bool = False
    """Replaces ``/name`` with the saved prompt of that name."""
    command_sign: str = "/"
    """What the user types before the name of a command, as in ``/upbeat:status``."""
    explains_subagent_resume: bool = False
    """Tells the model how to resume a subagent."""
    runs_hookify: bool = False
    """Evaluates hookify's rules."""
    native_guidance: frozenset[str] = frozenset()
    """The folders of rules that it loads by itself, such as ``.claude/rules``."""
    turn_command: str = ""
    """The command line that runs one turn and reads its prompt from stdin; empty for a client without one."""
    resume_command: str = ""
    """The same for a turn of the session ``{session_id}``."""
    reports_failures: bool = True
    """Its hooks report calls that failed."""
    max_continuations_in_a_row: int = 0
    """How often hooks may continue a turn that calls no tool before the client ends it itself; 0 for no limit."""
    has_subagents: bool = False
    """Its agents can delegate to subagents, and its hooks report the calls of both."""


UNKNOWN_CLIENT = ClientTraits()
