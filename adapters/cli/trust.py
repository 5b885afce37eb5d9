"""``upbeat trust``: let this project's settings, workflows, rules and prompts do what they ask for, as they are now.

Until then its settings and rules may only tighten, its workflows and prompts (`.claude/commands`) do not count, and
rules that it has for other programs (`.cursor/rules`, `.claude/rules`, `.github/instructions`) are not shown: a cloned
repository is not its user.
Its `.mcp.json` is trusted with them where your settings take a server from it. A change of a file ends the trust in it.

The content is shown first, with what it would do, and you are asked; where there is no terminal to ask at, nothing is
trusted without `--yes`. `--list` shows all that you trust on this machine, `--revoke` ends the trust in this project.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from ...core.turn.strip import strip
from ..claude.servers import servers_file
from ..local.documents import read_content
from ..local.environment import Environment, read_environment
from ..local.git_root import find_root
from ..local.guidance import guidance_files
from ..local.prompt_files import COMMANDS, project_prompts
from ..local.rules import ENDING, FOLDER, find_rules
from ..local.rules import MAX_BYTES as MOST_OF_RULES
from ..local.settings import PROJECT_FILES, load_user_settings, project_file
from ..local.toml_file import MAX_BYTES
from ..local.trust import digest_of, revoke, trust, trusted_contents
from ..local.workflows import PROJECT_FILE, workflow_file
from ..terminal import are_terminals
from .powers import GUIDANCE, PROMPT, RULE, WORKFLOWS, Asked, of_servers, of_settings

REFUSED = 1
YES = ("y", "yes")


def run(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="upbeat trust", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repo", default=".", help="the project (default: the one around this folder)")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    parser.add_argument("--list", action="store_true", help="show what you trust, and what has changed since")
    parser.add_argument("--revoke", action="store_true", help="end the trust in all files of this project")
    options = parser.parse_args(arguments)
    environment = read_environment()
    if options.list:
        return _list(environment)
    start = os.path.realpath(options.repo)
    root = find_root(start).worktree or start
    if options.revoke:
        return _revoke(root, environment)
    asked = list(_asked(root, environment))
    if not asked:
        names = ", ".join((*PROJECT_FILES, PROJECT_FILE, f"{FOLDER}/*{ENDING}", COMMANDS))
        print(f"upbeat: nothing to trust: {root} has none of {names}", file=sys.stderr)
        return 2
    for one in asked:
        _show(one, root)
    if not options.yes and not are_terminals(sys.stdin, sys.stderr):
        print("upbeat: nothing was trusted, for there is no terminal to ask at; --yes does it", file=sys.stderr)
        return REFUSED
    if not options.yes and not _agrees(len(asked)):
        print("upbeat: nothing was trusted", file=sys.stderr)
        return REFUSED
    for one in asked:
        trust(one.path, one.data, environment)
        print(f"upbeat: {one.path} is trusted with this content; a change of it ends that", file=sys.stderr)
    return 0


def _asked(root: str, environment: Environment) -> Iterator[Asked]:
    """The files of the project that its user is asked to trust; of those that cannot be read it is told why not."""
    servers = load_user_settings(environment).servers
    takes_servers = any(server.taken_from == "claude" for server in servers)
    found: list[tuple[Path | None, int, Callable[[bytes], tuple[str, ...]]]] = [
        (project_file(root), MAX_BYTES, lambda _: of_settings(root, environment)),
        (workflow_file(root), MAX_BYTES, lambda _: (WORKFLOWS,)),
        (servers_file(root) if takes_servers else None, MAX_BYTES, lambda data: of_servers(data, root, servers)),
    ]
    rules = find_rules(root, environment)
    for problem in rules.problems:
        print(f"upbeat: {problem}", file=sys.stderr)
    found += [(file.path, MOST_OF_RULES, lambda _: (RULE,)) for file in rules.files if not file.is_users]
    found += [(file.path, MOST_OF_RULES, lambda _: (GUIDANCE,)) for file in guidance_files(root)]
    found += [(path, MAX_BYTES, lambda _: (PROMPT,)) for path in project_prompts(root)]
    for path, most, powers in found:
        content = read_content(path, root, most) if path else None
        if content and path and content.problem:
            print(f"upbeat: {_name(path, root)}: {content.problem}", file=sys.stderr)
        elif content and path:
            yield Asked(path, content.data, powers(content.data))


def _show(asked: Asked, root: str) -> None:
    """The very content that is to be trusted, under its name, and what it would do."""
    name = _name(asked.path, root)
    print(f"# {name}", strip(asked.data.decode("utf-8", "replace")).rstrip(), sep="\n", flush=True)
    for power in asked.powers:
        print(f"upbeat: with your trust {name} {power}", file=sys.stderr)


def _agrees(count: int) -> bool:
    files = "this file" if count == 1 else f"these {count} files"
    print(f"upbeat: trust {files}, as shown? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in YES


def _list(environment: Environment) -> int:
    """Every trusted file, one a line, with how it is now."""
    for name, digest in sorted(trusted_contents(environment).items()):
        content = read_content(Path(name), None, MAX_BYTES)
        state = "trusted" if digest_of(content.data) == digest else "changed since"
        print(f"{'gone' if not content.is_there else state:13}  {strip(name)}")
    return 0


def _revoke(root: str, environment: Environment) -> int:
    ended = revoke(root, environment)
    for name in ended:
        print(f"upbeat: {strip(name)} is not trusted any more", file=sys.stderr)
    if not ended:
        print(f"upbeat: nothing in {root} was trusted; upbeat trust --list shows what is", file=sys.stderr)
    return 0 if ended else 2


def _name(path: Path, root: str) -> str:
    return strip(os.fsencode(os.path.relpath(path, root)).decode("utf-8", "replace")).replace("\n", " ")
