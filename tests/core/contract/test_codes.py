"""Codes are never removed or renamed, and each limit has its sentence."""

from __future__ import annotations

from pathlib import Path

import pytest
from case_files import read_cases

from upbeat.core.contract.codes import ErrorCode, ExitCode, LimitCode
from upbeat.core.contract.report import Limit

SENTENCES = dict(read_cases(Path(__file__).with_name("limit_sentences.tsv")))


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
    """Scripts may search for the sentence of a limit."""
    assert sentence == Limit.of(LimitCode(code)).text
    assert f"{sentence}: ci_search {{x}}" == Limit.of(LimitCode(code), "ci_search {x}").text


def test_sentences_with_values() -> None:
    """Two sentences have values."""
    assert "depth clamped to 2" == Limit.of(LimitCode.CLAMPED, name="depth", value=2).text
    assert "switched off by environment" == Limit.of(LimitCode.SWITCHED_OFF, origin="environment").text
    assert {code.value for code in LimitCode} == {*SENTENCES, "clamped", "switched_off"}
