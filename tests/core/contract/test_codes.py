"""The codes are a promise: none may go, each has its sentence."""

from __future__ import annotations

import pytest

from upbeat.core.contract.codes import ErrorCode, ExitCode, LimitCode, limit_text

SENTENCES = {
    "tier2_disabled": "tier-2 disabled by default; set CI_AUTO_TOOLS_TIER_MAX=2 to enable",
    "tier2_config_ignored": "tier-2 requires CI_AUTO_TOOLS_TIER_MAX=2 (config ignored)",
    "session_unavailable": "session continuity unavailable; fallback to stateless exec",
    "single_entry": "tool invocation must go through orchestrator",
    "tool_timeout": "tool timeout; degraded to plan-only",
    "tool_failed": "tool failed; skipped",
    "budget_exceeded": "budget exceeded; results truncated",
    "output_invalid": "orchestrator output invalid; fallback to empty context",
    "core_unavailable": "orchestrator unavailable",
    "tool_unavailable": "tool unavailable; skipped",
    "legacy_mode": "legacy mode enabled; using legacy policy",
    "injection_filtered": "filtered potential injection content",
    "no_git_root": "no-git-root",
    "repo_unreadable": "repository not readable",
    "not_about_code": "the prompt is not about code; nothing was looked up",
    "not_a_user_prompt": "not a prompt of the user; nothing was looked up",
    "prepared_elsewhere": "this turn is prepared by codex-auto; the hook stays silent",
    "config_invalid": "configuration invalid",
    "config_untrusted": "project configuration may only tighten until you trust it (upbeat trust)",
    "config_misplaced": "configuration not read",
    "input_unreadable": "request not readable",
    "path_outside": "path outside the repository; not looked at",
    "conflict": "tools disagree; both statements are shown",
    "tool_not_approved": "tool not approved; skipped",
}


def test_error_codes_of_1_0_stay() -> None:
    """Every error code of version 1.0 is still there under its name."""
    promised = {
        *("E_TIMEOUT", "E_PARSE", "E_TOOL_UNAVAILABLE", "E_BUDGET_EXCEEDED"),
        *("E_INVALID_ARGS", "E_REPO_ROOT", "E_SESSION", "E_UNKNOWN"),
    }

    assert promised <= {code.value for code in ErrorCode}


def test_exit_codes_are_as_documented() -> None:
    """The exit codes are those of the contract."""
    assert [0, 10, 20, 30, 40, 50] == [code.value for code in ExitCode]


@pytest.mark.parametrize(("code", "sentence"), SENTENCES.items())
def test_sentences_are_stable(code: str, sentence: str) -> None:
    """People and scripts may look for the sentence of a limit."""
    assert sentence == limit_text(LimitCode(code))
    assert f"{sentence}: ci_search {{x}}" == limit_text(LimitCode(code), "ci_search {x}")


def test_sentences_with_values() -> None:
    """Two sentences name what they are about."""
    assert "depth clamped to 2" == limit_text(LimitCode.CLAMPED, name="depth", value=2)
    assert "switched off by environment" == limit_text(LimitCode.SWITCHED_OFF, origin="environment")
    assert {code.value for code in LimitCode} == {*SENTENCES, "clamped", "switched_off"}
