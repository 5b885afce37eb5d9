"""Which scripts of package.json a package manager runs."""

from __future__ import annotations

import pytest
from project_files import proven_programs

from upbeat.core.workflow.evidence.package_managers import take_option

FILES = {
    "package.json": '{"workspaces": {"packages": ["packages/*"]}, "scripts": {"test": "run-s lint unit:*", '
    '"lint": "eslint .", "unit:a": "jest a", "unit:b": "jest b", '
    '"both": "concurrently \\"npm:unit:a\\" \\"tsc -w no\\""}}',
    "packages/a/package.json": '{"name": "@x/a", "scripts": {"test": "vitest run"}}',
    "packages/b/package.json": '{"name": "b", "scripts": {"test": "mocha"}}',
}


@pytest.mark.parametrize(
    ("command", "programs"),
    [
        ("npm test", {"eslint .", "jest a", "jest b"}),
        ("npm run both", {"jest a", "tsc -w no"}),
        ("npm test --workspaces", {"vitest run", "mocha"}),
        ("npm test -w b", {"mocha"}),
        ("npm --prefix packages/a test", {"vitest run"}),
        ("yarn workspaces foreach -A run test", {"vitest run", "mocha"}),
        ("yarn run -T jest --ci", {"jest --ci"}),
        ("pnpm -r test", {"vitest run", "mocha"}),
        ("pnpm install", set()),
    ],
)
def test_scripts(command: str, programs: set[str]) -> None:
    """Lists of scripts, workspaces and binaries are followed."""
    assert programs <= set(proven_programs(command, FILES))


def test_take_option() -> None:
    """The value of an option is taken out of the arguments."""
    arguments = ["-a", "1", "--b=2", "c"]

    assert ("1", "2", None) == tuple(take_option(arguments, name) for name in ("-a", "--b", "-z"))
    assert ["c"] == arguments
