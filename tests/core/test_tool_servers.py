"""The servers in a settings file, and all problems at once, with their lines."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upbeat.core.settings_layers import MAX_PROBLEMS, Layer
from upbeat.core.tool_servers import (
    MAX_SERVERS,
    LaunchSpec,
    ServerConfig,
    ServerTool,
    parse_servers,
    qualified_tool_name,
    split_tool_name,
)

KEY = "AKIA" + "Q3EGRRZ7ZKD5LMNO"


def layer(servers: Any, lines: dict[str, int] | None = None) -> Layer:
    return Layer("user.toml", {"mcp": {"servers": servers}}, lines or {})


def test_a_whole_server() -> None:
    """Every key of a server and of its tools is parsed."""
    table = {
        "command": "docs-mcp",
        "args": ["--stdio"],
        "env": ["DOCS_TOKEN"],
        "run_in_repository": True,
        "auto_run": ["write"],
        "timeout_ms": 500,
        "tools": {
            "search": {"query_argument": "q", "args": {"limit": 5, "kinds": ["a"]}},
            "write": {"query_argument": "text"},
        },
    }

    assert (
        ServerConfig(
            "docs",
            LaunchSpec("docs-mcp", ("--stdio",), {}, ("DOCS_TOKEN",)),
            "",
            True,
            ("write",),
            500,
            (ServerTool("search", "q", {"limit": 5, "kinds": ["a"]}), ServerTool("write", "text")),
        ),
    ) == parse_servers(layer({"docs": table})).servers


def test_a_minimal_server() -> None:
    """A command, or a client to import the server from, is enough."""
    parsed = parse_servers(layer({"a": {"command": "/usr/bin/a"}, "b": {"import_from": "codex"}}))

    assert ((ServerConfig("a", LaunchSpec("/usr/bin/a")), ServerConfig("b", None, "codex")), ()) == (
        parsed.servers,
        parsed.problems,
    )


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        (5, "docs takes a table; found 5"),
        ({}, "docs needs command or import_from, and not both"),
        ({"command": "a", "import_from": "codex"}, "docs needs command or import_from, and not both"),
        ({"comand": "a", "import_from": "codex"}, "unknown key 'mcp.servers.docs.comand'; did you mean 'command'?"),
        ({"command": "bin/a"}, "docs.command takes a name on the search path or an absolute path; found 'bin/a'"),
        ({"command": "./a"}, "docs.command takes a name on the search path or an absolute path; found './a'"),
        ({"command": ""}, "docs.command takes a name on the search path or an absolute path; found ''"),
        ({"command": "a", "args": "x"}, "docs.args takes a list of texts; found 'x'"),
        ({"command": "a", "args": [5]}, "docs.args takes a list of texts; found [5]"),
        ({"command": "a", "env": ["A=b"]}, "docs.env takes names of variables; found ['A=b']"),
        ({"command": "a", "env": {"A": "b"}}, "docs.env takes names of variables; found {'A': 'b'}"),
        ({"import_from": "cursor"}, "docs.import_from takes codex or claude; found 'cursor'"),
        ({"import_from": "codex", "args": []}, "docs.args comes from the client, as the command does"),
        ({"command": "a", "run_in_repository": 1}, "docs.run_in_repository takes true or false; found 1"),
        ({"command": "a", "timeout_ms": True}, "docs.timeout_ms takes a whole number from 100 to 60000; found True"),
        ({"command": "a", "timeout_ms": 99}, "docs.timeout_ms takes a whole number from 100 to 60000; found 99"),
        ({"command": "a", "tools": []}, "docs.tools takes tables; found []"),
        ({"command": "a", "tools": {"t": 5}}, "docs.tools.t takes a table; found 5"),
        ({"command": "a", "tools": {"t": {}}}, "docs.tools.t.query_argument names the argument that gets the words"),
        (
            {"command": "a", "tools": {"t": {"query_argument": "q", "query_arg": 1}}},
            "docs.tools.t.query_arg'; did you mean 'query_argument'?",
        ),
        (
            {"command": "a", "tools": {"t": {"query_argument": "q", "args": {"d": date(2026, 1, 1)}}}},
            "docs.tools.t.args takes",
        ),
        (
            {"command": "a", "tools": {"t": {"query_argument": "q", "args": {"n": float("inf")}}}},
            "docs.tools.t.args takes a table",
        ),
        (
            {"command": "a", "tools": {"t": {"query_argument": "q", "args": {"q": 1}}}},
            "docs.tools.t.args gives 'q', which",
        ),
        (
            {"command": "a", "tools": {"t": {"query_argument": "q", "args": {"key": KEY}}}},
            "docs.tools.t.args holds a secret",
        ),
        ({"command": "a", "tools": {"a b": {"query_argument": "q"}}}, "a tool's name has letters, digits"),
    ],
)
def test_problems_of_a_server(table: Any, problem: str) -> None:
    """A problem is one sentence with its location, and leaves no server."""
    parsed = parse_servers(layer({"docs": table}))

    assert ((), 1, True) == (parsed.servers, len(parsed.problems), problem in parsed.problems[0])


def test_all_problems_are_reported_at_once() -> None:
    """All problems are reported together, each with its line."""
    lines = {"mcp.servers.a": 3, "mcp.servers.a.comand": 4, "mcp.servers.b": 7}

    assert (
        "user.toml:4: unknown key 'mcp.servers.a.comand'; did you mean 'command'?",
        "user.toml:3: mcp.servers.a needs command or import_from, and not both",
        "user.toml:7: mcp.servers.b takes a table; found 5",
    ) == parse_servers(layer({"a": {"comand": "x"}, "b": 5}, lines)).problems


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        (5, "mcp takes a table; found 5"),
        ({"server": {}}, "unknown key 'mcp.server'; did you mean 'servers'?"),
        ({"servers": []}, "mcp.servers takes tables; found []"),
        ({"servers": {"a.b": {"command": "x"}}}, "a server's name has letters, digits, - and _; found 'a.b'"),
        ({"servers": {f"s{n}": {"command": "x"} for n in range(MAX_SERVERS + 1)}}, "at most 16 are taken"),
    ],
)
def test_problems_of_the_table(values: Any, problem: str) -> None:
    """The table around the servers is checked, too."""
    assert problem in parse_servers(Layer("user.toml", {"mcp": values})).problems[0]


KEYS = st.sampled_from(["servers", "docs", "command", "tools", "query", "args", "x"])
SIMPLE = st.none() | st.booleans() | st.integers() | st.text()
ANY = st.recursive(
    SIMPLE, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=12
)


@given(ANY)
def test_any_value_is_parsed(values: Any) -> None:
    """Any value gives servers or problems, never an exception."""
    parsed = parse_servers(Layer("user.toml", {"mcp": values}))

    assert len(parsed.problems) <= MAX_PROBLEMS
    assert not (parsed.servers and parsed.problems)


@pytest.mark.parametrize(
    ("name", "parts"),
    [("docs.search", ("docs", "search")), ("docs.a.b", ("docs", "a.b")), ("ci_search", ("", "ci_search"))],
)
def test_qualified_names(name: str, parts: tuple[str, str]) -> None:
    """The tool of a server is named server.tool; a built-in one has no server."""
    assert parts == split_tool_name(name)
    assert not parts[0] or name == qualified_tool_name(*parts)
