"""Every code that a machine may read: errors, exits, limits.

Codes are part of contract v1: they may be added to, never renamed or removed.
"""

from __future__ import annotations

from enum import IntEnum, StrEnum


class ErrorCode(StrEnum):
    """Why a tool gave no result, or why a turn could not be prepared as asked."""

    TIMEOUT = "E_TIMEOUT"
    """The tool did not answer inside its own limit."""
    PARSE = "E_PARSE"
    """What the tool answered does not have the shape that it promised."""
    TOOL_UNAVAILABLE = "E_TOOL_UNAVAILABLE"
    """No provider offers the tool here."""
    BUDGET_EXCEEDED = "E_BUDGET_EXCEEDED"
    """The turn's wall clock ran out before the tool could start or finish."""
    INVALID_ARGS = "E_INVALID_ARGS"
    """The arguments are of the wrong type, or name a path outside the repository."""
    REPO_ROOT = "E_REPO_ROOT"
    """There is no readable working tree to look at."""
    NOT_APPROVED = "E_NOT_APPROVED"
    """A tool of a user's server is not, or no longer, what its user has approved."""
    SESSION = "E_SESSION"
    """The client's session could not be continued."""
    UNKNOWN = "E_UNKNOWN"
    """The tool failed in a way that nobody foresaw; the log has the traceback."""


class ExitCode(IntEnum):
    """What ``upbeat prepare`` exits with. Whatever the code, stdout is one valid v1 object."""

    OK = 0
    """Prepared, even if degraded."""
    CORE_UNAVAILABLE = 10
    """The core failed; the report is empty and the client goes on without it."""
    CONFIG = 20
    """The configuration has errors; all of them are in ``limits``."""
    UNREADABLE_INPUT = 30
    """The request on stdin could not be read."""
    TOOL_FAILED = 40
    """A tool failed, and ``--strict`` was given."""
    BUDGET_SPENT = 50
    """Time or characters ran out, and ``--strict`` was given."""


class LimitCode(StrEnum):
    """What kept the report from being all that was asked for. ``text_of`` has the sentence."""

    TIER2_DISABLED = "tier2_disabled"
    TIER2_CONFIG_IGNORED = "tier2_config_ignored"
    SESSION_UNAVAILABLE = "session_unavailable"
    SINGLE_ENTRY = "single_entry"
    TOOL_TIMEOUT = "tool_timeout"
    TOOL_FAILED = "tool_failed"
    BUDGET_EXCEEDED = "budget_exceeded"
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
    NOT_A_USER_PROMPT = "not_a_user_prompt"
    PREPARED_ELSEWHERE = "prepared_elsewhere"
    CONFIG_INVALID = "config_invalid"
    CONFIG_UNTRUSTED = "config_untrusted"
    CONFIG_MISPLACED = "config_misplaced"
    INPUT_UNREADABLE = "input_unreadable"
    PATH_OUTSIDE = "path_outside"
    CONFLICT = "conflict"
    TOOL_NOT_APPROVED = "tool_not_approved"


_TEXTS = {
    LimitCode.TIER2_DISABLED: "tier-2 disabled by default; set CI_AUTO_TOOLS_TIER_MAX=2 to enable",
    LimitCode.TIER2_CONFIG_IGNORED: "tier-2 requires CI_AUTO_TOOLS_TIER_MAX=2 (config ignored)",
    LimitCode.SESSION_UNAVAILABLE: "session continuity unavailable; fallback to stateless exec",
    LimitCode.SINGLE_ENTRY: "tool invocation must go through orchestrator",
    LimitCode.TOOL_TIMEOUT: "tool timeout; degraded to plan-only",
    LimitCode.TOOL_FAILED: "tool failed; skipped",
    LimitCode.BUDGET_EXCEEDED: "budget exceeded; results truncated",
    LimitCode.OUTPUT_INVALID: "orchestrator output invalid; fallback to empty context",
    LimitCode.CORE_UNAVAILABLE: "orchestrator unavailable",
    LimitCode.TOOL_UNAVAILABLE: "tool unavailable; skipped",
    LimitCode.LEGACY_MODE: "legacy mode enabled; using legacy policy",
    LimitCode.CLAMPED: "{name} clamped to {value}",
    LimitCode.INJECTION_FILTERED: "filtered potential injection content",
    LimitCode.NO_GIT_ROOT: "no-git-root",
    LimitCode.REPO_UNREADABLE: "repository not readable",
    LimitCode.SWITCHED_OFF: "switched off by {origin}",
    LimitCode.NOT_ABOUT_CODE: "the prompt is not about code; nothing was looked up",
    LimitCode.NOT_A_USER_PROMPT: "not a prompt of the user; nothing was looked up",
    LimitCode.PREPARED_ELSEWHERE: "this turn is prepared by codex-auto; the hook stays silent",
    LimitCode.CONFIG_INVALID: "configuration invalid",
    LimitCode.CONFIG_UNTRUSTED: "project configuration may only tighten until you trust it (upbeat trust)",
    LimitCode.CONFIG_MISPLACED: "configuration not read",
    LimitCode.INPUT_UNREADABLE: "request not readable",
    LimitCode.PATH_OUTSIDE: "path outside the repository; not looked at",
    LimitCode.CONFLICT: "tools disagree; both statements are shown",
    LimitCode.TOOL_NOT_APPROVED: "tool not approved; skipped",
}


def text_of(code: LimitCode, detail: str = "", **values: object) -> str:
    """The stable English sentence of a limit, with ``detail`` behind a colon where there is one."""
    sentence = _TEXTS[code].format(**values) if values else _TEXTS[code]
    return f"{sentence}: {detail}" if detail else sentence
