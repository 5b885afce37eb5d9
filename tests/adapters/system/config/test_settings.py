"""Settings files are read; nothing in one breaks a turn; an untrusted file can only add restrictions."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest
from case_files import read_cases

from upbeat.adapters.system.config.settings import PROJECT_FILES, load_settings, load_user_settings, project_file
from upbeat.adapters.system.config.trust import trust
from upbeat.adapters.system.environment import Environment
from upbeat.core.contract.codes import LimitCode
from upbeat.core.settings import DEFAULTS, Activation, ExecutionMode, ResolvedSettings, Settings
from upbeat.core.tool_servers import LaunchSpec, ServerConfig, ServerTool

UNTRUSTED = "project configuration may only tighten until you trust it (upbeat trust)"
KEY = "AKIA" + "Q3EGRRZ7ZKD5LMNO"


def put(root: Path, name: str, text: str | bytes) -> Path:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def put_user(home: Environment, text: str) -> Path:
    return put(home.config_home, "upbeat/auto-tools.toml", text)


def limits(resolved: ResolvedSettings) -> list[str]:
    return [limit.text for limit in resolved.limits]


IGNORED = "configuration invalid and not trusted, so it is ignored: "


def ignored(resolved: ResolvedSettings) -> list[str]:
    """Return the mistakes of an untrusted file."""
    return [limit.text.removeprefix(IGNORED) for limit in resolved.limits if limit.code == LimitCode.CONFIG_IGNORED]


def test_no_files(root: Path, home: Environment) -> None:
    """Nothing there is nothing wrong: the defaults."""
    assert ResolvedSettings(DEFAULTS, (), ()) == load_settings(str(root), home)


@pytest.mark.parametrize("name", ["config/auto-tools.toml", ".upbeat/auto-tools.toml"])
def test_precedence(root: Path, home: Environment, name: str) -> None:
    """The environment outweighs the project's file, which outweighs the user's."""
    put_user(home, 'enabled = "off"\nmode = "plan"\n[budget]\nwall_ms = 4000\nmax_concurrency = 2\n')
    put(root, name, "[budget]\nwall_ms = 3000\nmax_concurrency = 1\n")
    environment = replace(home, settings={"CI_AUTO_TOOLS_BUDGET_WALL_MS": "2000"})

    assert ResolvedSettings(
        Settings(
            enabled=Activation.OFF,
            mode=ExecutionMode.PLAN,
            budget_wall_ms=2000,
            budget_max_concurrency=1,
            origins={
                "enabled": f"{home.config_home}/upbeat/auto-tools.toml:1",
                "mode": f"{home.config_home}/upbeat/auto-tools.toml:2",
                "budget.wall_ms": "environment",
                "budget.max_concurrency": f"{name}:3",
            },
        ),
        (),
        (),
    ) == load_settings(str(root), environment)


@pytest.mark.parametrize(("variables", "key", "fields"), read_cases(Path(__file__).with_name("settings_variables.tsv")))
def test_each_variable(root: Path, home: Environment, variables: str, key: str, fields: str) -> None:
    """Each variable of the control plane sets its key."""
    expected = Settings(**json.loads(fields), origins={key: "environment"} if key else {})
    environment = replace(home, settings=json.loads(variables))

    assert ResolvedSettings(expected, (), ()) == load_settings(str(root), environment)


def test_misspelled_names(root: Path, home: Environment) -> None:
    """A policy or tool that upbeat does not have is a problem, and is not among those that count."""
    put_user(
        home, '[policies]\noff = ["truncate-tool-outpt"]\non = ["pursue-goal"]\n[tools]\ndisabled = ["ci_serch"]\n'
    )
    resolved = load_settings(str(root), home)
    file = home.config_home / "upbeat/auto-tools.toml"

    assert (
        f"{file}:2: unknown name 'truncate-tool-outpt' in policies.off; did you mean 'truncate-tool-output'?",
        f"{file}:5: unknown name 'ci_serch' in tools.disabled; did you mean 'ci_search'?",
    ) == resolved.problems
    assert ((), ("pursue-goal",)) == (resolved.settings.policies_off, resolved.settings.policies_on)


def test_a_wrong_dry_run_is_told(root: Path, home: Environment) -> None:
    """A value other than 0 or 1 is a problem and is not interpreted."""
    resolved = load_settings(str(root), replace(home, settings={"CI_AUTO_TOOLS_DRY_RUN": "yes"}))

    assert ("environment: CI_AUTO_TOOLS_DRY_RUN must be 0 or 1; found 'yes'",) == resolved.problems


def test_both_project_files(root: Path, home: Environment) -> None:
    """Two project files are an error that names both, and neither counts."""
    put(root, "config/auto-tools.toml", 'enabled = "off"')
    put(root, ".upbeat/auto-tools.toml", 'mode = "plan"')
    resolved = load_settings(str(root), home)

    assert ["config/auto-tools.toml and .upbeat/auto-tools.toml are both present; keep one of them"] == ignored(
        resolved
    )
    assert (DEFAULTS, None) == (resolved.settings, project_file(str(root))[0])


@pytest.mark.parametrize("name", PROJECT_FILES)
def test_a_folder_in_place_of_a_project_file(root: Path, home: Environment, name: str) -> None:
    """A folder with the name of a settings file is an error, not a missing file."""
    (root / name).mkdir(parents=True)

    assert [f"{name} is a folder; replace it with a file of settings"] == ignored(load_settings(str(root), home))


def test_all_problems_of_all_files(root: Path, home: Environment) -> None:
    """The problems of all files are reported together, each with file and line."""
    put_user(home, 'enable = "off"\n')
    put(root, "config/auto-tools.toml", '# x\n[budget]\nwall_ms = "long"\nmax_concurency = 2\n')
    resolved = load_settings(str(root), replace(home, settings={"CI_AUTO_TOOLS_MODE": "dry"}), assume_trusted=True)

    assert (
        f"{home.config_home}/upbeat/auto-tools.toml:1: unknown key 'enable'; did you mean 'enabled'?",
        "config/auto-tools.toml:3: budget.wall_ms takes a whole number from 100 to 60000; found 'long'",
        "config/auto-tools.toml:4: unknown key 'budget.max_concurency'; did you mean 'budget.max_concurrency'?",
        "environment: CI_AUTO_TOOLS_MODE takes plan, run; found 'dry'",
    ) == resolved.problems


def test_mistakes_of_an_untrusted_file(root: Path, home: Environment) -> None:
    """Mistakes in a file that the user does not trust are limits: a clone cannot switch off the user's turns."""
    put(root, "config/auto-tools.toml", 'mode = "fast"\nenable = "off"\n[budget]\nwall_ms = 200\n')
    resolved = load_settings(str(root), home)

    assert ((), 200) == (resolved.problems, resolved.settings.budget_wall_ms)
    assert [
        "config/auto-tools.toml:1: mode takes plan, run; found 'fast'",
        "config/auto-tools.toml:2: unknown key 'enable'; did you mean 'enabled'?",
    ] == ignored(resolved)


def test_an_unreadable_file(root: Path, home: Environment) -> None:
    """A file that cannot be parsed is one problem, and its settings do not count."""
    put(root, "config/auto-tools.toml", b"enabled = ")
    resolved = load_settings(str(root), home)

    assert (DEFAULTS, ["config/auto-tools.toml: not valid TOML: Invalid value (at end of document)"]) == (
        resolved.settings,
        ignored(resolved),
    )


def test_many_unknown_keys(root: Path, home: Environment) -> None:
    """Of many mistakes only the first are reported."""
    put(root, "config/auto-tools.toml", "\n".join(f"k{number} = 1" for number in range(20000)))

    assert 1 <= len(ignored(load_settings(str(root), home))) <= 50


def test_messages_are_clean(root: Path, home: Environment) -> None:
    """What a file holds cannot reach a terminal as control sequences, nor a log as a secret."""
    put(root, "config/auto-tools.toml", f'mode = "{KEY}"\n"\\u001b[31mred\\u202e" = 1\n')
    resolved = load_settings(str(root), home)

    assert [
        "config/auto-tools.toml:1: mode takes plan, run; found '<redacted:aws-access-key>'",
        "config/auto-tools.toml: unknown key '\\x1b[31mred\\u202e'",
    ] == ignored(resolved)


def test_a_byte_order_mark_is_no_problem(root: Path, home: Environment) -> None:
    """Editors that write a mark do no harm."""
    put(root, "config/auto-tools.toml", b'\xef\xbb\xbfenabled = "off"\r\n')

    assert Activation.OFF is load_settings(str(root), home).settings.enabled


def test_trust_is_for_a_content_at_a_place(root: Path, home: Environment) -> None:
    """Until it is trusted a project only tightens; a change, or another place, ends the trust."""
    path = put(root, "config/auto-tools.toml", "[budget]\nwall_ms = 9000\n")
    untrusted = load_settings(str(root), home)
    trust(path, path.read_bytes(), home)
    trusted = load_settings(str(root), home)
    put(root.parent / "copy", "config/auto-tools.toml", path.read_bytes())
    copied = load_settings(str(root.parent / "copy"), home)

    assert (5000, [f"{UNTRUSTED}: config/auto-tools.toml:2: budget.wall_ms"]) == (
        untrusted.settings.budget_wall_ms,
        limits(untrusted),
    )
    assert (9000, [], 5000) == (
        trusted.settings.budget_wall_ms,
        limits(trusted),
        copied.settings.budget_wall_ms,
    )

    path.write_text("[budget]\nwall_ms = 9001\n")

    assert 5000 == load_settings(str(root), home).settings.budget_wall_ms


def test_links_out_of_the_project_are_not_its_settings(root: Path, home: Environment) -> None:
    """A project cannot make another file its settings, nor be read without end."""
    secret = put(root.parent, "outside.toml", 'enabled = "off"')
    (root / "config").mkdir(parents=True)
    (root / ".devbooks").mkdir()
    (root / "config/auto-tools.toml").symlink_to(secret)
    (root / ".devbooks/config.yaml").symlink_to("/dev/zero")

    assert ResolvedSettings(DEFAULTS, (), ()) == load_settings(str(root), home)


def test_a_pipe_is_no_settings_file(root: Path, home: Environment) -> None:
    """A named pipe is not opened, because reading it would block."""
    (root / "config").mkdir(parents=True)
    os.mkfifo(root / "config/auto-tools.toml")

    assert ResolvedSettings(DEFAULTS, (), ()) == load_settings(str(root), home)


def test_a_users_pipe_is_no_settings_file(root: Path, home: Environment) -> None:
    """Not even the user's own."""
    (home.config_home / "upbeat").mkdir(parents=True)
    os.mkfifo(home.config_home / "upbeat/auto-tools.toml")

    assert (f"{home.config_home}/upbeat/auto-tools.toml: not a regular file",) == load_settings(
        str(root), home
    ).problems


def test_misplaced_settings_are_told(root: Path, home: Environment) -> None:
    """Settings in files that upbeat does not read are reported with line, key and the right place."""
    put(root, "config/auto-tools.yaml", "tier_max: 2")
    put(root, ".devbooks/config.yaml", "name: x\nauto_tools:\n  tier_max : 2\n  other: 1\n  CI_AUTO_TOOLS_MODE: plan\n")

    assert [
        f"configuration not read: {place}; move it to config/auto-tools.toml"
        for place in (
            "config/auto-tools.yaml is not read",
            ".devbooks/config.yaml:2: auto_tools is not read there",
            ".devbooks/config.yaml:3: tier_max is not read there",
            ".devbooks/config.yaml:5: CI_AUTO_TOOLS_MODE is not read there",
        )
    ] == limits(load_settings(str(root), home))


def test_a_neighbour_without_our_keys_is_none_of_our_business(root: Path, home: Environment) -> None:
    """The other tool's own settings are not spoken about."""
    put(root, ".devbooks/config.yaml", "name: x\n# auto_tools: old\nmax: 3\n")

    assert [] == limits(load_settings(str(root), home))


def test_a_flood_of_misplaced_settings_is_cut(root: Path, home: Environment) -> None:
    """Ten are enough to understand."""
    put(root, ".devbooks/config.yaml", "tier_max: 1\n" * 1000)

    assert 10 == len(limits(load_settings(str(root), home)))


SERVER = '[mcp.servers.docs]\ncommand = "docs-mcp"\n[mcp.servers.docs.tools.search]\nquery_argument = "q"\n'


def test_a_users_servers(root: Path, home: Environment) -> None:
    """The user's own file names servers."""
    put_user(home, SERVER)
    resolved = load_settings(str(root), home)

    assert (
        ServerConfig("docs", LaunchSpec("docs-mcp"), tools=(ServerTool("search", "q"),)),
    ) == resolved.settings.servers
    assert resolved.settings.servers == load_user_settings(home).servers
    assert ((), ()) == (resolved.limits, resolved.problems)


@pytest.mark.parametrize("is_trusted", [False, True])
def test_a_project_names_no_server(root: Path, home: Environment, is_trusted: bool) -> None:
    """Servers in a project's file do not count, trusted or not, and a limit reports them."""
    path = put(root, ".upbeat/auto-tools.toml", f'mode = "plan"\n{SERVER}')
    if is_trusted:
        trust(path, path.read_bytes(), home)
    resolved = load_settings(str(root), home)

    assert ((), ExecutionMode.PLAN, ()) == (resolved.settings.servers, resolved.settings.mode, resolved.problems)
    assert [
        "configuration not read: .upbeat/auto-tools.toml:2: mcp is only read in your own file (upbeat/auto-tools.toml)"
    ] == limits(resolved)


def test_wrong_servers_are_told_with_the_rest(root: Path, home: Environment) -> None:
    """Mistakes in servers and in other settings come together, each with file and line."""
    path = put_user(home, 'mod = "plan"\n[mcp.servers.docs]\ncomand = "x"\n')

    assert (
        f"{path}:1: unknown key 'mod'; did you mean 'mode'?",
        f"{path}:3: unknown key 'mcp.servers.docs.comand'; did you mean 'command'?",
        f"{path}:2: mcp.servers.docs needs command or import_from, and not both",
    ) == load_settings(str(root), home).problems


def test_exclusions_add_up_and_pins_need_trust(root: Path, home: Environment) -> None:
    """A project excludes more than its user and never less, and pins nothing until it is trusted."""
    put_user(home, '[context]\nexcluded = ["legal"]\npinned = ["docs/**"]\n')
    project = put(root, PROJECT_FILES[0], '[context]\nexcluded = ["*.key"]\npinned = ["src/**"]\n')
    before = load_settings(str(root), home)
    trust(project, project.read_bytes(), home)
    after = load_settings(str(root), home)

    assert (("legal", "*.key"), ("docs/**",)) == (before.settings.context_excluded, before.settings.context_pinned)
    assert [f"{UNTRUSTED}: {PROJECT_FILES[0]}:3: context.pinned"] == limits(before)
    assert (("legal", "*.key"), ("src/**",)) == (after.settings.context_excluded, after.settings.context_pinned)


@pytest.mark.parametrize(
    ("globs", "problem"),
    [
        ('["!legal"]', "takes no glob that begins with `!`"),
        ('["{a,b"]', ""),
        ('["{1..100000}"]', "has a bad glob: expands to more than 100 globs"),
        ('["#x"]', "has a bad glob: '#x' is a comment"),
    ],
)
def test_a_bad_glob_excludes_everything(root: Path, home: Environment, globs: str, problem: str) -> None:
    """In the user's own file it is a mistake that excludes everything; in an untrusted project's it is ignored."""
    put_user(home, f"[context]\nexcluded = {globs}\n")
    own = load_settings(str(root), home)
    put_user(home, "")
    put(root, PROJECT_FILES[0], f"[context]\nexcluded = {globs}\n")
    foreign = load_settings(str(root), home)

    assert bool(problem) == bool(own.problems)
    assert problem in "".join(own.problems)
    assert (("**",) if problem else ("{a,b",)) == own.settings.context_excluded
    assert () == foreign.problems
    assert problem in "".join(limits(foreign))
