"""What a shell line mentions of upbeat's own controls."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upbeat.core.policy.own_controls import (
    is_reserved,
    mentions_control,
    mentions_in_line,
    names_control,
    reserved_command,
)


@pytest.mark.parametrize(
    "line",
    [
        "upbeat trust --yes",
        "cd /tmp && u''pbeat tru\\st",
        "X=upbeat; $X uninstall --yes",
        "$(command -v upbeat) trust --yes",
        "sudo -u me env A=1 ~/.local/bin/upbeat install claude --yes",
        "uvx upbeat log prune --before 2030-01-01",
        "uv run python3.11 -Im upbeat rules remove no-push",
        "pipx run upbeat rules add x --text y",
        "/bin/sh /opt/x/plugin/bin/upbeat hook claude < forged.json",
        "python3 -I -S /x/site-packages/upbeat/adapters/hook_entry/shim.py claude-code < forged.json",
        "python -m upbeat.__main__ trust || /x/upbeat/__main__.py trust --yes",
        "cat forged.json | upbeat hook claude",
        "exec upbeat hook codex <<< '{}'",
        "bash -lc 'upbeat workflow stop'",
        "echo 'upbeat trust --yes' | sh",
        "echo 'upbeat trust --yes' | at now",
        "tmux new -d 'upbeat trust --yes'",
        "python3 -c \"import subprocess; subprocess.run(['upbeat', 'trust', '--yes'])\"",
        "python3 - <<'E'\nfrom upbeat.adapters.cli.main import main\nmain(['trust', '--yes'])\nE",
        "cat > x.sh <<'E'\nupbeat trust --yes\nE\nsh x.sh",
        "printf 'upbeat workflow continue\\n' > /tmp/x && chmod +x /tmp/x && /tmp/x",
        "upbeat tools approve server.tool",
        "printf '%s' '{}' | upbeat mcp --client claude-code",
    ],
)
def test_reserved_commands(line: str) -> None:
    """A command that loosens something is found in any spelling that the shell readers resolve."""
    found = mentions_in_line(line)

    assert found.requests if "python3 -" in line and "-I" not in line else found.commands


@pytest.mark.parametrize(
    "line",
    [
        "upbeat status",
        "upbeat why 3 && upbeat log --last 5 --json",
        "upbeat log verify",
        "upbeat rules list; upbeat rules check; upbeat workflow list; upbeat workflow check",
        "upbeat trust --list",
        "upbeat install claude --dry-run",
        "upbeat uninstall --help",
        "upbeat exec -- pytest",
        "echo upbeat workflow stop",
        "git commit -m 'docs: explain upbeat trust --yes'",
        "grep -rn 'upbeat trust' docs",
        "cat ~/.config/upbeat/auto-tools.toml",
        "ls -la ~/.local/state/upbeat",
        "cp ~/.claude/settings.json /tmp/copy.json",
        "claude plugin list",
        "sed -n 1,5p .claude/settings.json",
        "find ~/.config/upbeat -type f | xargs cat",
        "find ~/.claude/plugins -name '*.pyc' -exec rm {} +",
        "",
    ],
)
def test_reading(line: str) -> None:
    """What only shows something is no mention of a control."""
    found = mentions_in_line(line)

    assert ((), (), []) == (found.commands, found.requests, [*filter(names_control, (*found.paths, *found.trees))])


@pytest.mark.parametrize(
    "line",
    [
        "echo 'enabled = \"off\"' >> ~/.config/upbeat/auto-tools.toml",
        "cd ~/.config && echo x >upbeat/auto-tools.toml",
        "rm -f $HOME/.local/state/upbeat/journal.db",
        "sqlite3 ~/.local/state/upbeat/journal.db 'delete from records'",
        "sed -i s/deny/allow/ .upbeat/rules/no-push.md",
        "cp /tmp/x.json ~/.claude/settings.json",
        "jq '.hooks={}' < a | tee .claude/settings.local.json",
        "dd if=/dev/null of=/home/me/.codex/config.toml",
        "git checkout -- .upbeat/workflows.toml",
        "ln -sf ~/.config/upbeat/auto-tools.toml x",
        "mv ~/.codex/hooks.json /tmp",
        "find ~/.local/state/upbeat/ -delete",
        "cp /tmp/settings.json ~/.claude/",
        "mv x/auto-tools.toml ~/.config/upbeat",
        "cp -t ~/.claude /tmp/settings.json",
        "scp host:settings.json ~/.claude/",
        "curl --output-dir ~/.claude -O http://x/settings.json",
        "wget -P ~/.claude http://x/settings.json",
        "wget --directory-prefix=$HOME/.claude http://x/settings.json",
        "sed -ni s/a/b/p .upbeat/rules/no-push.md",
        "find ~/.config/upbeat -name '*.toml' -exec sed -i s/a/b/ {} +",
        "find ~/.local/state/upbeat | xargs rm -f",
        "rm " + " ".join(f"f{number}" for number in range(300)) + " ~/.codex/config.toml",
    ],
)
def test_written_files(line: str) -> None:
    """A file that a line writes, moves or removes is collected, with its folder."""
    found = mentions_in_line(line)

    assert [*filter(names_control, (*found.paths, *found.trees))]


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("pkill -f 'upbeat mcp'", "pkill -f upbeat mcp"),
        ("pip uninstall -y upbeat", "pip uninstall -y upbeat"),
        ("uv tool uninstall upbeat", "uninstall upbeat"),
        ("python3 -m pip uninstall -y upbeat", "python3 -m pip uninstall -y upbeat"),
        ("claude plugin disable upbeat@upbeat", "claude plugin disable upbeat@upbeat"),
        ("codex features disable hooks", "codex features disable hooks"),
    ],
)
def test_requests(line: str, shown: str) -> None:
    """Other programs that end upbeat or change the client's settings are named."""
    assert (shown,) == mentions_in_line(line).requests


def test_texts_that_join_paths() -> None:
    """A path in a script counts also if the script joins it from parts."""
    [text] = mentions_in_line(
        'python3 -c \'from pathlib import Path; (Path.home() / ".config" / "upbeat" / "x").unlink()\''
    ).texts

    assert (True, False) == (mentions_control(text), mentions_control("print(1)"))
    assert mentions_control("open('/srv/state/x')", ["/srv/state"])


def test_scripts_in_files() -> None:
    """The files that a line runs are collected, relative to the folder that it runs them in."""
    assert ("a/x.sh", "b.py", "./c.sh") == mentions_in_line("cd a && bash x.sh; cd -; true").scripts + mentions_in_line(
        "python b.py; ./c.sh"
    ).scripts


@given(st.text(max_size=80))
def test_any_text(text: str) -> None:
    """No text makes the search fail."""
    mentions_in_line(text)
    assert reserved_command(text) == "" or "upbeat" in text
    names_control(text)
    is_reserved(text.split())
