"""Flags of codex exec are translated for the app-server, or named as the reason against it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from case_files import read_groups

from upbeat.adapters.codex.transport.app_server.transport import AppServerFlags, translate_flags

CASES = read_groups(Path(__file__).with_name("transport_flags_cases.tsv"))


@pytest.mark.parametrize(("flags", "arguments", "parameters"), CASES["translated"])
def test_supported_flags_are_translated(flags: str, arguments: str, parameters: str) -> None:
    """A supported flag becomes an argument of the server or a parameter of each thread."""
    translated = AppServerFlags(tuple(json.loads(arguments)), json.loads(parameters))

    assert translated == translate_flags(json.loads(flags))


@pytest.mark.parametrize(("flags", "problem"), CASES["unsupported"])
def test_an_unsupported_flag_is_named(flags: str, problem: str) -> None:
    """No flag is dropped silently."""
    assert AppServerFlags(problem=problem) == translate_flags(json.loads(flags))
