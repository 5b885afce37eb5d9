"""``upbeat trust``: let this project's settings and workflow files, with their present content, do what they ask for.

Until then its settings may only tighten and its workflows do not count: a cloned repository is not its user.
Its `.mcp.json` is trusted with them where your settings take a server from it. A change of a file ends the trust in it.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from ...core.turn.strip import strip
from ..claude.servers import servers_file
from ..local.environment import read_environment
from ..local.git import find_root
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
    if not paths:
        names = ", ".join((*PROJECT_FILES, PROJECT_FILE))
        print(f"upbeat: nothing to trust: {root} has none of {names}", file=sys.stderr)
        return 2
    for path in paths:
        _show(path, trust(path, environment), root)
        print(f"upbeat: {path} is trusted with this content; a change of it ends that", file=sys.stderr)
    return 0


def _show(path: Path, data: bytes, root: str) -> None:
    """The very content that is trusted from now on, under its name."""
    print(f"# {path.relative_to(root)}", strip(data.decode("utf-8", "replace")).rstrip(), sep="\n", flush=True)
