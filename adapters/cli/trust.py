r"""``upbeat trust``: trust this project's settings, workflows, rules and prompts with their present content.

Until you trust it, a project can only make settings and rules stricter. Its workflows and prompts
(`.claude/commands`) do not count, and its rules for other programs (`.cursor/rules`, `.claude/rules`,
`.opencode/rules`, `.github/instructions`) are not shown to agents: the author of a repository is not necessarily you.
A script that `evidence.tests` names does not count as a run of the tests. Its `.mcp.json` is part of the question if
your settings take a server from it. Changing a file ends the trust in it.

The command prints each file exactly, with what would not be visible as `\u{1b}`, and what it would do, and then asks.
Without a terminal it trusts nothing unless you pass `--yes`. `--list` shows everything you trust on this machine;
`--revoke` ends the trust in this project.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import partial
from pathlib import Path

from upbeat.adapters.cli.command_line import add_repo_option, confirm, create_parser, project_root
from upbeat.adapters.cli.exact_output import bytes_rows, output_rows, show_rows
from upbeat.adapters.clients.client import Client
from upbeat.adapters.clients.registry import CLIENTS
from upbeat.adapters.system.config.guidance import guidance_files
from upbeat.adapters.system.config.prompt_files import COMMANDS_FOLDER, project_prompts
from upbeat.adapters.system.config.rules import FILE_SUFFIX, PROJECT_FOLDER, find_rule_files
from upbeat.adapters.system.config.rules import MAX_BYTES as MAX_RULE_BYTES
from upbeat.adapters.system.config.settings import PROJECT_FILES, load_settings, load_user_settings, project_file
from upbeat.adapters.system.config.trust import digest_of, read_trust_store, revoke, trust
from upbeat.adapters.system.config.workflows import PROJECT_FILE, project_workflow_file
from upbeat.adapters.system.environment import Environment, read_environment
from upbeat.adapters.system.files.bounded_read import read_content
from upbeat.adapters.system.files.toml_file import MAX_BYTES
from upbeat.adapters.system.option_parser import OptionParser
from upbeat.adapters.system.terminal import are_terminals
from upbeat.core.engine.observe_run import named_scripts
from upbeat.core.errors import ToolFailure
from upbeat.core.sanitize.exact import Marks, escape_exactly
from upbeat.core.settings import KEYS
from upbeat.core.tool_servers import ServerConfig

EXIT_REFUSED = 1

RULE_CONSEQUENCE = "decides like one of your own rules, and shows its text to you and the model"
GUIDANCE_CONSEQUENCE = "is added to the model's context when a matching file is touched"
PROMPT_CONSEQUENCE = "is added to the model's context when you type its name after a slash"
WORKFLOWS_CONSEQUENCE = "adds workflows and agents that count like your own"
SCRIPT_CONSEQUENCE = "counts as a run of the tests when it exits with 0 (evidence.tests)"
NO_CONSEQUENCE = "changes nothing: its settings are already in effect"


@dataclass(frozen=True, slots=True)
class TrustRequest:
    """A file to trust, its present content, and one sentence for each thing it would do."""

    path: Path
    data: bytes
    consequences: Sequence[str]


_TrustableFile = tuple[Path | None, int, Callable[[bytes], Sequence[str]]]
"""A file if there is one, the most bytes that are read of it, and what trusting its content would do."""


def build_parser() -> OptionParser:
    """Return the parser of this command."""
    parser = create_parser("trust", __doc__)
    add_repo_option(parser, "the project (default: the one around this folder)")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    parser.add_argument("--list", action="store_true", help="list the files you trust, and which have changed")
    parser.add_argument("--revoke", action="store_true", help="end the trust in all files of this project")
    return parser


def run(arguments: Sequence[str]) -> int:
    options = build_parser().parse_args(arguments)
    environment = read_environment()
    if options.list:
        return _list(environment)
    read_trust_store(environment)  # a damaged store takes no trust: report it before asking
    root = project_root(options.repo)
    if options.revoke:
        return _revoke(root, environment)
    requests = list(_trust_requests(root, environment))
    if not requests:
        names = ", ".join((*PROJECT_FILES, PROJECT_FILE, f"{PROJECT_FOLDER}/*{FILE_SUFFIX}", COMMANDS_FOLDER))
        print(f"upbeat: nothing to trust: {root} has none of {names}", file=sys.stderr)
        return 2
    for request in requests:
        if not _show(request, root, is_question=not options.yes):
            print("upbeat: nothing was trusted: not all of it was shown", file=sys.stderr)
            return EXIT_REFUSED
    if not options.yes and not are_terminals(sys.stdin, sys.stderr):
        print("upbeat: nothing was trusted: cannot prompt without a terminal; pass --yes to trust", file=sys.stderr)
        return EXIT_REFUSED
    files = "this file" if len(requests) == 1 else f"these {len(requests)} files"
    if not options.yes and not confirm(f"upbeat: trust {files} as shown?"):
        print("upbeat: nothing was trusted", file=sys.stderr)
        return EXIT_REFUSED
    for request in requests:
        trust(request.path, request.data, environment)
        print(f"upbeat: {escape_exactly(str(request.path))} is trusted until its content changes", file=sys.stderr)
    return 0


def _show(request: TrustRequest, root: str, *, is_question: bool) -> bool:
    """Show the whole file, exactly, and what trusting it would do; return whether all of it was shown."""
    name = os.path.relpath(request.path, root)
    rows = [*output_rows(name, Marks("# ", "# ")), *bytes_rows(request.data)]
    if not show_rows(rows, is_question=is_question):
        return False
    for consequence in request.consequences:
        print(f"upbeat: with your trust {escape_exactly(name)} {consequence}", file=sys.stderr)
    return True


def _trust_requests(root: str, environment: Environment) -> Iterator[TrustRequest]:
    """Yield the files of the project to trust; report on stderr those that cannot be read."""
    rules = find_rule_files(root, environment)
    for problem in rules.problems:
        print(f"upbeat: {problem}", file=sys.stderr)
    files: list[_TrustableFile] = [
        (project_file(root)[0], MAX_BYTES, lambda _: _settings_consequences(root, environment)),
        (project_workflow_file(root), MAX_BYTES, lambda _: [WORKFLOWS_CONSEQUENCE]),
        *((path, MAX_BYTES, lambda _: [SCRIPT_CONSEQUENCE]) for path in _evidence_scripts(root, environment)),
        *_servers_files(root, load_user_settings(environment).servers),
        *((file.path, MAX_RULE_BYTES, lambda _: [RULE_CONSEQUENCE]) for file in rules.files if not file.is_user_owned),
        *((file.path, MAX_RULE_BYTES, lambda _: [GUIDANCE_CONSEQUENCE]) for file in guidance_files(root)),
        *((path, MAX_BYTES, lambda _: [PROMPT_CONSEQUENCE]) for path in project_prompts(root)),
    ]
    for path, max_bytes, consequences in files:
        if path is None:
            continue
        content = read_content(path, root, max_bytes)
        if content.problem:
            print(f"upbeat: {escape_exactly(os.path.relpath(path, root))}: {content.problem}", file=sys.stderr)
        else:
            yield TrustRequest(path, content.data, consequences(content.data))


def _settings_consequences(root: str, environment: Environment) -> list[str]:
    """Return which settings the project would loosen."""
    before, after = (load_settings(root, environment, assume_trusted=trusted).settings for trusted in (False, True))
    values = ((key.name, getattr(before, key.attribute), getattr(after, key.attribute)) for key in KEYS)
    return [
        f"sets {name} = {_display_value(new)} (without trust: {_display_value(old)})"
        for name, old, new in values
        if old != new
    ] or [NO_CONSEQUENCE]


def _evidence_scripts(root: str, environment: Environment) -> list[Path]:
    """Return the scripts of the project that the settings name as runs of its tests."""
    settings = load_settings(root, environment, assume_trusted=True).settings
    named = dict.fromkeys(path for line in settings.evidence_tests for path in named_scripts(tuple(line.split())))
    return [Path(root, path) for path in named if os.path.isfile(os.path.join(root, path))]


def _servers_files(root: str, servers: Sequence[ServerConfig]) -> Iterator[_TrustableFile]:
    """Yield the files of the project that name servers, for the clients from which the user takes any."""
    for client in CLIENTS:
        taken = [server for server in servers if server.imported_from == client.cli_name]
        if taken:
            yield client.servers_file(root), MAX_BYTES, partial(_server_consequences, client, taken, root)


def _server_consequences(client: Client, servers: Sequence[ServerConfig], folder: str, data: bytes) -> list[str]:
    """Return what a file of servers would start for those of the user's servers that are taken from it."""
    consequences = []
    for server in servers:
        try:
            launch = client.parse_launch(data, server.name, folder)
        except ToolFailure as failure:
            consequences.append(f"starts nothing for your server {server.name}: {failure}")
            continue
        command = escape_exactly(shlex.join((launch.command, *launch.args)))
        consequences.append(f"starts, as you, for your server {server.name}: {command}")
    return consequences


def _list(environment: Environment) -> int:
    """Print every trusted file on one line, with its state."""
    trusted = read_trust_store(environment)
    if not trusted:
        print("upbeat: you trust no file yet; run `upbeat trust` in a project to review its files", file=sys.stderr)
    for name, digest in sorted(trusted.items()):
        content = read_content(Path(name), None, MAX_BYTES)
        state = "trusted" if digest_of(content.data) == digest else "changed since"
        print(f"{state if content.exists else 'missing':13}  {escape_exactly(name)}")
    return 0


def _revoke(root: str, environment: Environment) -> int:
    revoked = revoke(root, environment)
    for name in revoked:
        print(f"upbeat: {escape_exactly(name)} is no longer trusted", file=sys.stderr)
    if not revoked:
        print(f"upbeat: nothing in {root} was trusted; `upbeat trust --list` shows what is", file=sys.stderr)
    return 0 if revoked else 2


def _display_value(value: object) -> str:
    shown = value.value if isinstance(value, Enum) else list(value) if isinstance(value, tuple) else value
    return escape_exactly(str(shown))
