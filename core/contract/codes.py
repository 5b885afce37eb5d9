"""Machine-readable codes of contract v1: errors, exits and limits. Codes may be added, but not renamed or removed."""

from __future__ import annotations

from enum import IntEnum, StrEnum


class ErrorCode(StrEnum):
    """Why a tool returned no result, or why a turn could not be prepared as requested."""

    TIMEOUT = "E_TIMEOUT"
    """The tool exceeded its own time limit."""
    PARSE = "E_PARSE"
    """The tool's answer does not match its schema."""
    TOOL_UNAVAILABLE = "E_TOOL_UNAVAILABLE"
    """No provider offers the tool here."""
    BUDGET_EXCEEDED = "E_BUDGET_EXCEEDED"
    """The turn's wall clock ran out before the tool could start or finish."""
    INVALID_ARGS = "E_INVALID_ARGS"
    """The arguments are of the wrong type, or name a path outside the repository."""
    REPO_ROOT = "E_REPO_ROOT"
    """There is no readable working tree."""
    NOT_APPROVED = "E_NOT_APPROVED"
    """The user has not approved this tool of their server, or it has changed since."""
    SESSION = "E_SESSION"
    """The client's session could not be continued."""
    UNKNOWN = "E_UNKNOWN"
    """The tool failed unexpectedly; the log has the traceback."""


NEEDS_USER_EXIT_CODE = 3
"""Exit code of ``upbeat status`` and of a single turn of codex-auto: a workflow waits for the user."""
UNSTORED_EXIT_CODE = 4
"""Exit code of ``upbeat status``: nothing can be stored, so that no workflow goes on."""


class ExitCode(IntEnum):
    """Exit codes of ``upbeat prepare``. With every code, stdout is one valid v1 object."""

    OK = 0
    """Success, even if degraded."""
    CORE_UNAVAILABLE = 10
    """The core failed; the report is empty and the client continues without it."""
    CONFIG = 20
    """The configuration is invalid; ``limits`` lists all errors."""
    UNREADABLE_INPUT = 30
    """The request on stdin could not be read."""
    TOOL_FAILED = 40
    """A tool failed, and ``--strict`` was given."""
    BUDGET_SPENT = 50
    """Time or characters ran out, and ``--strict`` was given."""


class LimitCode(StrEnum):
    """Why a report contains less than requested. ``Limit.of`` returns the sentence."""

    TIER2_DISABLED = "tier2_disabled"
    TIER2_CONFIG_IGNORED = "tier2_config_ignored"
    SESSION_UNAVAILABLE = "session_unavailable"
    SINGLE_ENTRY = "single_entry"
    TOOL_TIMEOUT = "tool_timeout"
    TOOL_FAILED = "tool_failed"
    BUDGET_EXCEEDED = "budget_exceeded"
    SHORTENED = "shortened"
    OUTPUT_INVALID = "output_invalid"
    CORE_UNAVAILABLE = "core_unavailable"
    TOOL_UNAVAILABLE = "tool_unavailable"
    LEGACY_MODE = "legacy_mode"
    CLAMPED = "clamped"
    INJECTION_FILTERED = "injection_filtered"
    NO_GIT_ROOT = "no_git_root"
    REPO_UNREADABLE = "repo_unreadable"
    SWITCHED_OFF = "switched_off"
    NOT_ABOUT_CODE = "not_about_code"
    NOTHING_TO_SAY = "nothing_to_say"
    NOT_A_USER_PROMPT = "not_a_user_prompt"
    PREPARED_ELSEWHERE = "prepared_elsewhere"
    CONFIG_INVALID = "config_invalid"
    CONFIG_IGNORED = "config_ignored"
    CONFIG_UNTRUSTED = "config_untrusted"
    CONFIG_MISPLACED = "config_misplaced"
    INPUT_UNREADABLE = "input_unreadable"
    PATH_OUTSIDE = "path_outside"
    CONFLICT = "conflict"
    TOOL_NOT_APPROVED = "tool_not_approved"


QUIET_LIMITS = frozenset({LimitCode.NOT_ABOUT_CODE, LimitCode.NOTHING_TO_SAY})
"""Reasons of an ordinary silent turn: in the report's list and in ``upbeat why``, but never shown with a turn."""
