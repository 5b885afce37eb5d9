"""The environment becomes one value; what is empty or relative does not count."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from upbeat.adapters.system import environment


def test_nothing_set() -> None:
    """Without variables the folders are below the root, and no setting is set."""
    assert environment.Environment(
        settings={},
        config_home=Path("/.config"),
        state_home=Path("/.local/state"),
        data_home=Path("/.local/share"),
        language="en",
        is_wrapped=False,
        has_color=True,
    ) == environment.read_environment({})


def test_everything_set() -> None:
    """Settings are taken by name, folders by XDG, and nothing else is kept."""
    assert environment.Environment(
        settings={"CI_AUTO_TOOLS": "off", "CI_AUTO_TOOLS_DRY_RUN": "1", "CI_CODEX_SESSION_MODE": "exec"},
        config_home=Path("/c"),
        state_home=Path("/s"),
        data_home=Path("/d"),
        home=Path("/home/a"),
        client_variables={"CLAUDE_CONFIG_DIR": "/c2"},
        language="zh",
        is_wrapped=True,
        has_color=False,
    ) == environment.read_environment(
        {
            "HOME": "/home/a",
            "CI_AUTO_TOOLS": "off",
            "CI_AUTO_TOOLS_DRY_RUN": "1",
            "CI_AUTO_TOOLS_MODE": "",
            "CI_CODEX_SESSION_MODE": "exec",
            "CI": "1",
            "CLAUDE_CONFIG_DIR": "/c2",
            "XDG_CONFIG_HOME": "/c",
            "XDG_STATE_HOME": "/s",
            "XDG_DATA_HOME": "/d",
            "LC_ALL": "zh_CN.UTF-8",
            "LANG": "en_US.UTF-8",
            "UPBEAT_WRAPPED": "1",
            "NO_COLOR": "",
        }
    )


def test_relative_folders_are_ignored() -> None:
    """Relative paths in XDG variables are ignored."""
    assert Path("/h/.config") == environment.read_environment({"HOME": "/h", "XDG_CONFIG_HOME": "etc"}).config_home


@pytest.mark.parametrize(
    ("variables", "language"),
    [
        ({"LANG": "zh_TW.UTF-8"}, "zh"),
        ({"LC_MESSAGES": "ZH_cn", "LANG": "de"}, "zh"),
        ({"LC_ALL": "C", "LANG": "zh_CN"}, "en"),
        ({"LC_ALL": "", "LC_MESSAGES": "", "LANG": "zh"}, "zh"),
        ({"LANG": "fr"}, "en"),
    ],
    ids=str,
)
def test_language(variables: dict[str, str], language: str) -> None:
    """LC_ALL outweighs LC_MESSAGES outweighs LANG."""
    assert language == environment.read_environment(variables).language


@pytest.mark.parametrize(("variables", "color"), [({}, True), ({"TERM": "xterm"}, True), ({"TERM": "dumb"}, False)])
def test_color(variables: dict[str, str], color: bool) -> None:
    """A dumb terminal gets no colours."""
    assert color == environment.read_environment(variables).has_color


def test_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without an argument the environment of the process is read; a child gets it with additions."""
    monkeypatch.setenv("CI_AUTO_TOOLS_MODE", "plan")

    assert {"CI_AUTO_TOOLS_MODE": "plan"}.items() <= environment.read_environment().settings.items()
    assert {"CI_AUTO_TOOLS_MODE": "plan", "NEW": "1"}.items() <= environment.child_variables({"NEW": "1"}).items()


def test_a_child_finds_no_program_in_its_working_directory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Relative and empty entries of PATH mean the working directory, which is often the repository."""
    monkeypatch.setenv("PATH", ":.:/usr/bin::bin:/bin:")

    assert "/usr/bin:/bin" == environment.child_variables({})["PATH"]


def test_switched_off() -> None:
    """Off in the environment is known before any settings are read."""
    assert [True, False, False] == [
        environment.read_environment({"CI_AUTO_TOOLS": value}).is_switched_off for value in (" OFF", "auto", "")
    ]


def test_variables_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """Variables are given by name, those that are set."""
    monkeypatch.setenv("DOCS_TOKEN", "t")
    monkeypatch.delenv("NOT_SET", raising=False)

    assert {"DOCS_TOKEN": "t"} == environment.variables_named(["DOCS_TOKEN", "NOT_SET"])


@pytest.mark.parametrize(
    ("bytes_typed", "encoding", "expected"),
    [
        ("为什么".encode(), "utf-8", "为什么"),
        ("为什么".encode(), "ascii", "为什么"),
        pytest.param("é".encode(), "iso8859-15", "Ã©", id="the locale's word, where it has one"),
        ("为什么".encode("gbk"), "gbk", "为什么"),
        pytest.param(b"a\xff", "utf-8", "a\udcff", id="no text"),
    ],
)
def test_an_argument_as_it_was_typed(
    bytes_typed: bytes, encoding: str, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An argument that the locale cannot decode is decoded as UTF-8 if possible."""
    monkeypatch.setattr(os, "fsencode", lambda text: text.encode(encoding, "surrogateescape"))

    assert expected == environment.decode_argument(bytes_typed.decode(encoding, "surrogateescape"))
