"""Try a command against the stub model by hand, in a sandbox, and see what the model got.

PYTHONPATH=tests python -m e2e.by_hand [--keep DIR] [--script FILE] [--env NAME=VALUE]… -- codex exec --json "hello"
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from .clients import CLIENTS, install
from .received import read_requests
from .runs import LAUNCHER
from .sandbox import Sandbox, make_sandbox


def main() -> int:
    """Run the command on this terminal, then print the conversation of every request."""
    options = _options()
    root = Path(options.keep or tempfile.mkdtemp(prefix="upbeat-by-hand-")).absolute()
    programs = {name: install(name) for name in CLIENTS}
    sandbox = Sandbox(root) if (root / "home").exists() else make_sandbox(root, programs)
    record = root / "requests.jsonl"
    record.unlink(missing_ok=True)
    script = ["--script", os.path.abspath(options.script)] if options.script else []
    files = ["--record", str(record), "--report", str(root / "report.json"), *script]
    env = sandbox.environment(**dict(pair.split("=", 1) for pair in options.env))
    launcher = [sys.executable, "-E", str(LAUNCHER), *files, "--cwd", str(sandbox.repository)]
    code = subprocess.run([*launcher, "--", *options.command], env=env).returncode
    for request in read_requests(record):
        print(f"\n--- request {request.number}: {request.method} {request.path} ({request.kind})", file=sys.stderr)
        for said in request.conversation():
            print(f"[{said.role} {said.kind}] {said.text[: options.width]}", file=sys.stderr)
    print(f"\nsandbox: {root}\nrecord:  {record}\nreport:  {(root / 'report.json').read_text()}", file=sys.stderr)
    return code


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", help="make the sandbox here, or use the one that is here (e.g. to resume a session)")
    parser.add_argument("--script", help="what the stub answers (see stubs/script.py)")
    parser.add_argument("--env", action="append", default=[], metavar="NAME=VALUE", help="set this as well")
    parser.add_argument("--width", type=int, default=300, help="characters shown of each text")
    parser.add_argument("command", nargs="+")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
