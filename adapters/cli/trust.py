"""``upbeat trust``: let this project's settings, workflows, rules and prompts do what they ask for, as they are now.

Until then its settings and rules may only tighten, its workflows and prompts (`.claude/commands`) do not count, and
rules that it has for other programs (`.cursor/rules`, `.claude/rules`, `.github/instructions`) are not shown: a cloned
repository is not its user.
Its `.mcp.json` is trusted with them where your settings take a server from it. A change of a file ends the trust in it.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from ...core.turn.strip import strip
from ..claude.servers import servers_file
from ..local.documents import read_text
from ..local.environment import Environment, read_environment
from ..local.git_root import find_root
from ..local.guidance import guidance_files
from ..local.prompt_files import COMMANDS, project_prompts
from ..local.rules import ENDING, FOLDER, MAX_BYTES, find_rules
from ..local.settings import PROJECT_FILES, load_user_settings, project_file
from ..local.trust import trust
from ..local.workflows import PROJECT_FILE, workflow_file


def run(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="upbeat trust", description=__doc__)
    parser.add_argument("--repo", default=".", help="the project (default: the one around this folder)")
    start = os.path.realpath(parser.parse_args(arguments).repo)
    root = find_root(start).worktree or start
    environment = read_environment()
    takes_servers = any(server.taken_from == "claude" for server in load_user_settings(environment).servers)
    of_servers = servers_file(root) if takes_servers else None
    paths = [path for path in (project_file(root), workflow_file(root), of_servers) if path]
    paths += _of_rules(root, environment)
    paths += project_prompts(root)
    if not paths:
        names = ", ".join((*PROJECT_FILES, PROJECT_FILE, f"{FOLDER}/*{ENDING}", COMMANDS))
        print(f"upbeat: nothing to trust: {root} has none of {names}", file=sys.stderr)
        return 2
    for path in paths:
        _show(path, trust(path, environment), root)
        print(f"upbeat: {path} is trusted with this content; a change of it ends that", file=sys.stderr)
    return 0


def _of_rules(root: str, environment: Environment) -> Iterator[Path]:
    """The project's rule files that can be read; of the others it is told why not."""
    found = find_rules(root, environment)
    for problem in found.problems:
        print(f"upbeat: {problem}", file=sys.stderr)
    own = [(file.path, file.shown) for file in found.files if not file.is_users]
    for path, shown in [*own, *((file.path, file.shown) for file in guidance_files(root))]:
        if problem := read_text(path, root, MAX_BYTES).problem:
            print(f"upbeat: {shown}: {problem}", file=sys.stderr)
        else:
            yield path


def _show(path: Path, data: bytes, root: str) -> None:
    """The very content that is trusted from now on, under its name."""
    print(f"# {path.relative_to(root)}", strip(data.decode("utf-8", "replace")).rstrip(), sep="\n", flush=True)
