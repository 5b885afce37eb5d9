"""The scripts that a line runs."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from policy_play import ROOT

from upbeat.core.destructive import ShellLocation, TaskScript, find_hazards


@dataclass(frozen=True, eq=False)
class Files:
    """Files and tasks that a test names."""

    texts: dict[str, str] = field(default_factory=dict)
    scripts: dict[tuple[str, ...], str] = field(default_factory=dict)

    def read(self, path: str) -> str | None:
        """Return the text of a file."""
        return self.texts.get(path)

    def tasks(self, words: tuple[str, ...], _cwd: str) -> tuple[TaskScript, ...]:
        """Return the script of a task."""
        return tuple(TaskScript(text) for name, text in self.scripts.items() if name == words)


FILES = Files(
    {
        f"{ROOT}/wipe.sh": "#!/bin/sh\nrm -rf ~\n",
        f"{ROOT}/clean.sh": "rm -rf build src\n",
        f"{ROOT}/arg.sh": 'rm -rf "$1"\n',
        f"{ROOT}/tool": "#!/usr/bin/env python3\nimport shutil\nshutil.rmtree('/srv')\n",
        f"{ROOT}/w.sql": "DROP TABLE users;",
        f"{ROOT}/play.yml": "- shell: rm -rf /srv\n",
        "/tmp/x.rb": "FileUtils.rm_rf('/opt')",
    },
    {("make", "wipe"): "rm -rf $HOME", ("npm", "run", "x"): "rm -rf dist"},
)


@pytest.mark.parametrize(
    ("line", "is_stopped"),
    [
        ("bash wipe.sh", True),
        ("./wipe.sh", True),
        ("source wipe.sh", True),
        ("bash -n wipe.sh", False),
        ("cat wipe.sh", False),
        ("bash clean.sh", False),
        ("bash arg.sh ~", True),
        ("bash arg.sh build", False),
        ("./tool", True),
        ("ruby /tmp/x.rb", True),
        ("psql -f w.sql prod", True),
        ("mysql shop < w.sql", True),
        ("ansible-playbook play.yml", True),
        ("make wipe", True),
        ("npm run x", False),
        ("echo 'rm -rf ~' > a.sh; bash a.sh", True),
        ("cat > /tmp/a.py <<'E'\nimport shutil\nshutil.rmtree('/srv')\nE\npython3 /tmp/a.py", True),
        ("echo 'rm -rf ~' > a.sh", False),
        ("bash missing.sh", False),
    ],
)
def test_scripts(line: str, is_stopped: bool) -> None:
    """A script counts if the line runs it; what it deletes inside of the project is its purpose."""
    assert is_stopped is bool(find_hazards(line, ShellLocation(ROOT, ROOT), FILES))
