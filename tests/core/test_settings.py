"""Layers of settings are merged; untrusted ones only tighten; all problems are reported at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upbeat.core.settings import (
    DEFAULTS,
    KEYS,
    KEYS_BY_NAME,
    Activation,
    ExecutionMode,
    SessionMode,
    Settings,
    resolve_settings,
)
from upbeat.core.settings_layers import MAX_PROBLEMS, Layer

DEFAULT_FILE = Path(__file__).parents[2] / "config/auto-tools.toml"
"""``docs/generate.py`` makes it, and ``tests/test_golden.py`` compares both."""
TIER2_IGNORED = "tier-2 requires CI_AUTO_TOOLS_TIER_MAX=2 (config ignored)"
UNTRUSTED = "project configuration may only tighten until you trust it (upbeat trust)"


def user(**values: Any) -> Layer:
    return Layer("user.toml", {name.replace("__", "."): value for name, value in values.items()})


def project(trusted: bool = False, **values: Any) -> Layer:
    named = {name.replace("__", "."): value for name, value in values.items()}
    return Layer("project.toml", named, dict.fromkeys(named, 7), is_trusted=trusted)


def environment(**values: Any) -> Layer:
    named = {name.replace("__", "."): value for name, value in values.items()}
    return Layer("environment", named, is_environment=True)


def test_no_layers_are_the_defaults() -> None:
    """Without layers the defaults apply, without limits and problems."""
    resolved = resolve_settings([])

    assert (DEFAULTS, (), ()) == (resolved.settings, resolved.limits, resolved.problems)


def test_defaults() -> None:
    """The defaults are those of the acceptance criteria."""
    assert (
        Settings(
            enabled=Activation.AUTO,
            mode=ExecutionMode.RUN,
            tier_max=1,
            repo_root="",
            budget_wall_ms=5000,
            budget_max_concurrency=3,
            budget_max_injected_chars=12000,
            tools_disabled=(),
            codex_session_mode=SessionMode.RESUME,
            legacy=False,
            habits_enabled=False,
            origins={},
        )
        == DEFAULTS
    )


@pytest.mark.parametrize(
    ("name", "first", "last", "expected"),
    [
        ("enabled", "on", "auto", Activation.AUTO),
        ("mode", "run", "plan", ExecutionMode.PLAN),
        ("budget.wall_ms", 4000, "3000", 3000),
        ("budget.max_concurrency", 5, 2, 2),
        ("budget.max_injected_chars", 9000, 300, 300),
        ("repo_root", "/a", "b", "b"),
        ("tools.disabled", [], ["ci_search"], ("ci_search",)),
        ("codex.session_mode", "resume_last", "exec", SessionMode.EXEC),
        ("legacy", True, "0", False),
        ("legacy", "1", " FALSE ", False),
        ("legacy", 0, "1", True),
        ("legacy", False, "true", True),
        ("legacy", "0", 1, True),
    ],
)
def test_a_later_layer_wins(name: str, first: Any, last: Any, expected: Any) -> None:
    """The last layer with a key sets its value and is its origin."""
    resolved = resolve_settings([Layer("first", {name: first}), Layer("last", {name: last})])

    assert expected == getattr(resolved.settings, KEYS_BY_NAME[name].attribute)
    assert {name: "last"} == resolved.settings.origins
    assert () == resolved.limits + resolved.problems


def test_layers_are_merged() -> None:
    """Each key has the value of the last layer that sets it."""
    resolved = resolve_settings(
        [user(mode="plan"), project(budget__wall_ms=1234), environment(budget__max_concurrency="7")]
    )

    assert (
        Settings(
            mode=ExecutionMode.PLAN,
            budget_wall_ms=1234,
            budget_max_concurrency=7,
            origins={"mode": "user.toml", "budget.wall_ms": "project.toml:7", "budget.max_concurrency": "environment"},
        )
        == resolved.settings
    )


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        pytest.param({"enabled": "on"}, [f"{UNTRUSTED}: project.toml:7: enabled"], id="more often"),
        pytest.param({"enabled": "off"}, [], id="never"),
        pytest.param({"enabled": "auto"}, [], id="as often"),
        pytest.param({"mode": "plan"}, [], id="plan only"),
        pytest.param({"budget__wall_ms": 5001}, [f"{UNTRUSTED}: project.toml:7: budget.wall_ms"], id="longer"),
        pytest.param({"budget__wall_ms": 5000}, [], id="as long"),
        pytest.param(
            {"budget__max_injected_chars": 12001}, [f"{UNTRUSTED}: project.toml:7: budget.max_injected_chars"]
        ),
        pytest.param({"tools__disabled": ["ci_search"]}, [], id="fewer tools"),
        pytest.param({"legacy": True}, [f"{UNTRUSTED}: project.toml:7: legacy"], id="more output"),
        pytest.param({"habits__enabled": True}, [f"{UNTRUSTED}: project.toml:7: habits.enabled"], id="remembers more"),
        pytest.param({"habits__enabled": False}, [], id="remembers nothing"),
        pytest.param({"repo_root": "packages/a"}, [], id="folder of the project"),
        pytest.param({"repo_root": "/etc"}, [f"{UNTRUSTED}: project.toml:7: repo_root"], id="absolute"),
        pytest.param({"repo_root": "~/other"}, [f"{UNTRUSTED}: project.toml:7: repo_root"], id="home"),
        pytest.param({"repo_root": "a/../../b"}, [f"{UNTRUSTED}: project.toml:7: repo_root"], id="above"),
        pytest.param({"tier_max": 2}, [TIER2_IGNORED], id="tier 2"),
        pytest.param({"tier_max": 1}, [], id="tier 1"),
    ],
)
def test_an_untrusted_project_only_tightens(values: dict[str, Any], expected: list[str]) -> None:
    """A value with which an untrusted project loosens has no effect; a limit names file, line and key."""
    resolved = resolve_settings([project(**values)])
    kept = resolve_settings([]) if expected else resolve_settings([project(trusted=True, **values)])

    assert expected == [limit.text for limit in resolved.limits]
    assert kept.settings.origins == resolved.settings.origins
    assert kept.settings == resolved.settings


def test_untrusted_values_are_compared_with_the_users() -> None:
    """A project cannot loosen what the user has tightened, nor enable a tool that the user disabled."""
    mine = user(enabled="off", budget__wall_ms=1000, tools__disabled=["ci_search"])
    resolved = resolve_settings([mine, project(enabled="auto", budget__wall_ms=2000, tools__disabled=["ci_hotspot"])])

    assert 3 == len(resolved.limits)
    assert resolve_settings([mine]).settings == resolved.settings


def test_an_equal_value_is_not_looser() -> None:
    """A project may disable what the user has disabled."""
    resolved = resolve_settings([user(tools__disabled=["ci_search"]), project(tools__disabled=["ci_search"])])

    assert ((), ("ci_search",)) == (resolved.limits, resolved.settings.tools_disabled)


def test_a_trusted_project_loosens() -> None:
    """A trusted project's file has the effect of the user's own."""
    resolved = resolve_settings([user(enabled="off"), project(trusted=True, enabled="on", budget__wall_ms=9000)])

    assert (Activation.ON, 9000, ()) == (resolved.settings.enabled, resolved.settings.budget_wall_ms, resolved.limits)


@pytest.mark.parametrize("layer", [user(tier_max=2), project(trusted=True, tier_max=2)])
def test_tier_2_comes_from_the_environment_only(layer: Layer) -> None:
    """Tier 2 in a file is ignored with a limit, even if the file is trusted."""
    resolved = resolve_settings([layer])

    assert (1, [TIER2_IGNORED]) == (resolved.settings.tier_max, [limit.text for limit in resolved.limits])


@pytest.mark.parametrize(
    ("name", "raw", "value", "text"),
    [
        ("tier_max", "2", 2, None),
        ("tier_max", "9", 2, "tier_max clamped to 2"),
        ("tier_max", "0", 1, "tier_max clamped to 1"),
        ("budget.wall_ms", "99", 100, "budget.wall_ms clamped to 100"),
        ("budget.wall_ms", "100", 100, None),
        ("budget.wall_ms", "60000", 60000, None),
        ("budget.wall_ms", "60001", 60000, "budget.wall_ms clamped to 60000"),
        ("budget.wall_ms", "-5", 100, "budget.wall_ms clamped to 100"),
        ("budget.max_concurrency", "17", 16, "budget.max_concurrency clamped to 16"),
        ("budget.max_injected_chars", "199", 200, "budget.max_injected_chars clamped to 200"),
    ],
)
def test_numbers_are_clamped(name: str, raw: str, value: int, text: str | None) -> None:
    """A number outside its range is clamped, with a limit."""
    resolved = resolve_settings([Layer("environment", {name: raw}, is_environment=True)])

    assert value == getattr(resolved.settings, KEYS_BY_NAME[name].attribute)
    assert ([text] if text else []) == [limit.text for limit in resolved.limits]


@pytest.mark.parametrize(
    ("name", "raw", "problem"),
    [
        ("enabled", "of", "enabled takes off, auto, on; found 'of'; did you mean 'off'?"),
        ("enabled", True, "enabled takes off, auto, on; found True"),
        ("mode", 3, "mode takes plan, run; found 3"),
        ("legacy", "yes", "legacy takes true or false; found 'yes'"),
        ("legacy", [], "legacy takes true or false; found []"),
        ("budget.wall_ms", "fast", "budget.wall_ms takes a whole number from 100 to 60000; found 'fast'"),
        ("budget.wall_ms", True, "budget.wall_ms takes a whole number from 100 to 60000; found True"),
        ("budget.wall_ms", 1.5, "budget.wall_ms takes a whole number from 100 to 60000; found 1.5"),
        ("budget.wall_ms", "--5", "budget.wall_ms takes a whole number from 100 to 60000; found '--5'"),
        ("budget.wall_ms", "³", "budget.wall_ms takes a whole number from 100 to 60000; found '³'"),
        pytest.param(
            "budget.wall_ms",
            "9" * 5000,
            f"budget.wall_ms takes a whole number from 100 to 60000; found '{'9' * 58}…",
            id="more digits than int() reads",
        ),
        ("tools.disabled", "ci_search", "tools.disabled takes a list of names; found 'ci_search'"),
        ("tools.disabled", [1], "tools.disabled takes a list of names; found [1]"),
        ("repo_root", 5, "repo_root takes a text; found 5"),
        ("budget.wal_ms", 5, "unknown key 'budget.wal_ms'; did you mean 'budget.wall_ms'?"),
        ("colour", 5, "unknown key 'colour'"),
        pytest.param("k" * 58, 5, f"unknown key '{'k' * 58}'", id="60 characters are shown"),
        pytest.param("k" * 59, 5, f"unknown key '{'k' * 58}…", id="61 are not"),
        ("\x1b[31mred", 5, "unknown key '\\x1b[31mred'"),
        ("a\u202eb", 5, "unknown key 'a\\u202eb'"),
    ],
)
def test_problems_name_location_key_and_fix(name: str, raw: Any, problem: str) -> None:
    """A problem names the location and the valid values; the invalid value has no effect."""
    resolved = resolve_settings([Layer("f.toml", {name: raw}, {name: 4})])

    assert (f"f.toml:4: {problem}",) == resolved.problems
    assert (DEFAULTS, ()) == (resolved.settings, resolved.limits)


def test_all_problems_are_reported_at_once() -> None:
    """Every problem of every layer is reported, and valid values apply."""
    resolved = resolve_settings([user(enabled="never", mode="plan"), environment(budget__wall_ms="soon")])

    assert (
        "user.toml: enabled takes off, auto, on; found 'never'",
        "environment: CI_AUTO_TOOLS_BUDGET_WALL_MS takes a whole number from 100 to 60000; found 'soon'",
    ) == resolved.problems
    assert ExecutionMode.PLAN is resolved.settings.mode


def test_the_number_of_problems_is_bounded() -> None:
    """A file full of unknown keys has at most ``MAX_PROBLEMS`` problems."""
    resolved = resolve_settings([Layer("f.toml", {f"key{number}": 1 for number in range(1000)})])

    assert MAX_PROBLEMS == len(resolved.problems)


def test_unknown_names_in_lists() -> None:
    """A misspelled name is a problem with line and nearest name; the others count, as do names of the user's tools."""
    names = {"policies.off": ["truncate-tool-output", "pursue-goal"], "tools.disabled": ["ci_search"]}
    lists = {
        "policies.off": ["truncate-tool-outpt", "pursue-goal", "nope"],
        "tools.disabled": ["ci_serch", "ci_search", "docs", "docs.ci_find"],
    }
    resolved = resolve_settings([Layer("f.toml", lists, {"policies.off": 4, "tools.disabled": 7})], names.__getitem__)

    assert (
        "f.toml:4: unknown name 'truncate-tool-outpt' in policies.off; did you mean 'truncate-tool-output'?",
        "f.toml:4: unknown name 'nope' in policies.off",
        "f.toml:7: unknown name 'ci_serch' in tools.disabled; did you mean 'ci_search'?",
    ) == resolved.problems
    assert ("pursue-goal",) == resolved.settings.policies_off
    assert ("ci_search", "docs", "docs.ci_find") == resolved.settings.tools_disabled


def test_a_problem_of_a_variable_names_the_variable() -> None:
    """A problem in the environment names the variable and not the key of a file."""
    resolved = resolve_settings([environment(enabled="maybe")])

    assert ("environment: CI_AUTO_TOOLS takes off, auto, on; found 'maybe'",) == resolved.problems


@given(
    st.dictionaries(
        st.sampled_from(sorted(KEYS_BY_NAME)),
        st.one_of(st.text(), st.integers(), st.booleans(), st.none(), st.floats(), st.lists(st.text())),
    ),
    st.booleans(),
    st.booleans(),
)
def test_any_values_give_settings_in_range(values: dict[str, Any], trusted: bool, is_environment: bool) -> None:
    """With any values the settings stay in range, and each key is applied, limited or a problem."""
    resolved = resolve_settings([Layer("x", values, is_trusted=trusted, is_environment=is_environment)])
    numbers = [key for key in KEYS if key.maximum]

    assert all(key.minimum <= getattr(resolved.settings, key.attribute) <= key.maximum for key in numbers)
    problems = (*resolved.problems, *resolved.ignored_problems)
    assert len(values) <= len(resolved.settings.origins) + len(resolved.limits) + len(problems) + 1


@given(
    st.dictionaries(
        st.sampled_from(sorted(KEYS_BY_NAME)),
        st.one_of(
            st.sampled_from(["off", "auto", "on", "plan", "run", "exec", "resume_last"]),
            st.integers(0, 70000),
            st.booleans(),
            st.lists(st.sampled_from("abc")),
        ),
    )
)
def test_an_untrusted_layer_never_loosens(values: dict[str, Any]) -> None:
    """No value of an untrusted layer permits more than the user allows."""
    mine = user(enabled="auto", mode="plan", budget__wall_ms=700, tools__disabled=["a"], codex__session_mode="exec")
    before, after = (
        resolve_settings([mine]).settings,
        resolve_settings([mine, Layer("p", values, is_trusted=False)]).settings,
    )
    order = {key.attribute: key.choices for key in KEYS if key.choices}

    assert all(c.index(getattr(after, name)) <= c.index(getattr(before, name)) for name, c in order.items())
    assert all(getattr(after, key.attribute) <= getattr(before, key.attribute) for key in KEYS if key.maximum)
    assert set(before.tools_disabled) <= set(after.tools_disabled)
    assert before.legacy >= after.legacy


def test_the_default_file_reads_back_as_the_defaults() -> None:
    """The default file has every key with its default."""
    import tomli

    read = tomli.loads(DEFAULT_FILE.read_text(encoding="utf-8"))
    flat = {
        (f"{name}.{inner}" if isinstance(value, dict) else name): (value[inner] if inner else value)
        for name, value in read.items()
        for inner in (value if isinstance(value, dict) else [""])
    }

    assert [key.name for key in KEYS] == list(flat)
    assert DEFAULTS == Settings(
        **{k: v for k, v in vars_of(resolve_settings([user(**flat)]).settings).items() if k != "origins"}
    )


def vars_of(settings: Settings) -> dict[str, Any]:
    return {name: getattr(settings, name) for name in Settings.__slots__}


def test_the_default_file_says_what_each_key_takes() -> None:
    """Above each key are its purpose, its values and its environment variable."""
    text = DEFAULT_FILE.read_text(encoding="utf-8")

    assert text.startswith(
        "# Settings of upbeat with their defaults. Copy what you change to one of\n"
        "#   $XDG_CONFIG_HOME/upbeat/auto-tools.toml   for you\n"
        "#   config/auto-tools.toml or .upbeat/auto-tools.toml   "
        "for a project (may only tighten until `upbeat trust`)\n"
        "# Precedence: flag > environment > project file > user file > default. Generated from core/settings.py.\n"
    )
    assert (
        "\n[budget]\n\n# Milliseconds that all tools of a turn may take together; tier 2 adds 5000.\n"
        "# 100 to 60000; environment: CI_AUTO_TOOLS_BUDGET_WALL_MS\nwall_ms = 5000\n"
    ) in text
    assert '\n# off | auto | on; environment: CI_AUTO_TOOLS\nenabled = "auto"\n' in text
    assert "\n# Names of tools that are never planned.\ndisabled = []\n" in text


@pytest.mark.parametrize("value", [1, 65536])
def test_a_project_cannot_change_the_journal(value: int) -> None:
    """One project cannot change, in either direction, what is kept of all projects."""
    resolved = resolve_settings([user(journal__max_mb=50), project(journal__max_mb=value)])

    assert 50 == resolved.settings.journal_max_mb
    assert [f"{UNTRUSTED}: project.toml:7: journal.max_mb"] == [limit.text for limit in resolved.limits]
