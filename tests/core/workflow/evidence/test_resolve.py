"""What a command of the project runs."""

from __future__ import annotations

import pytest
from project_files import proven_programs

PACKAGE = '{"workspaces": ["packages/*"], "scripts": {"test": "jest", "all": "npm run test -ws"}}'
FILES = {
    "package.json": PACKAGE,
    "packages/a/package.json": '{"name": "@x/a", "scripts": {"test": "vitest run"}}',
    "packages/b/package.json": '{"name": "b"}',
    "run.sh": '#!/bin/bash -e\ncd "$(dirname "$0")"\npytest "$@"\necho done\n',
    "loose.sh": "pytest\ntrue\n",
    "tool.py": "#!/usr/bin/env python3\nprint()\n",
    "lib.sh": "run_tests() { pytest -q; }\n",
    "pyproject.toml": '[tool.pdm.scripts]\ntest = "pytest -q"\n[tool.poe.tasks]\ntest = "pytest -p"\n',
    ".cargo/config.toml": '[alias]\nt = "check"\nut = ["test", "--lib"]\n',
    "deno.json": '{"tasks": {"test": "deno test -A"}}',
    "mise.toml": '[tasks.test]\nrun = "pytest"\n',
    "tasks.py": "@task\ndef test(c):\n    c.run('pytest')\n",
}


@pytest.mark.parametrize(
    ("command", "program"),
    [
        ("npm test", "jest"),
        ("npm t -- --ci", "jest --ci"),
        ("yarn test --ci", "jest --ci"),
        ("yarn jest src", "jest src"),
        ("pnpm --filter @x/a test", "vitest run"),
        ("npm test -w packages/a", "vitest run"),
        ("yarn workspace @x/a test", "vitest run"),
        ("npm run all", "vitest run"),
        ("./run.sh -k x", "pytest -k x"),
        ("bash run.sh", ""),
        ("sh -e loose.sh", "pytest"),
        ("./tool.py", "python3 ./tool.py"),
        ("source lib.sh && run_tests", "pytest -q"),
        ("pdm run test", "pytest -q"),
        ("poetry run poe test", "pytest -p"),
        ("cargo t", "cargo check"),
        ("cargo ut", "cargo test --lib"),
        ("deno task test", "deno test -A"),
        ("mise run test", "pytest"),
        ("invoke test", "pytest"),
        ("script -qec 'pytest -q' /dev/null", "pytest -q"),
        ("nix-shell --run 'pytest -q'", "pytest -q"),
        ("docker run --rm -v $PWD:/app -w /app x ./run.sh", "pytest"),
    ],
)
def test_a_command(command: str, program: str) -> None:
    """Exit code 0 proves the program that the task or script runs."""
    assert (program in proven_programs(command, FILES)) == bool(program)


@pytest.mark.parametrize(
    "command", ["./loose.sh", "source none.sh && pytest", "./none.sh", "npm run none", "../run.sh"]
)
def test_a_command_that_proves_no_program(command: str) -> None:
    """A script that goes on after a failure, or that cannot be read, proves nothing that it runs."""
    assert "pytest" not in proven_programs(command, FILES)
