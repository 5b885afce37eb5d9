"""What source code deletes, runs and overwrites."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upbeat.core.destructive.code import find_in_code


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ('import shutil; shutil.rmtree("/home/dev")', [("tree", "/home/dev")]),
        ("shutil.rmtree(os.path.expanduser('~'))", [("tree", "~")]),
        ("d = '/srv/' + 'data'\nshutil.rmtree(d)", [("tree", "/srv/data")]),
        ("require('fs').rmSync(require('os').homedir(), {recursive: true})", [("tree", "~")]),
        ("FileUtils.rm_rf(Dir.home)", [("tree", "~")]),
        ("remove_tree($ENV{HOME})", [("tree", "~")]),
        ('new File("/home/dev").deleteDir()', [("tree", "/home/dev")]),
        ("import os\nfor f in os.listdir('/srv'): os.remove(f)", [("tree", "/srv")]),
        ("for p in Path('.').rglob('*.pyc'): p.unlink()", []),
        ("d = tempfile.mkdtemp(); shutil.rmtree(d)", []),
        ("def rmtree(path): pass", []),
        ("print('rm -rf ~')", []),
        ("os.system('rm -rf ~')", [("shell", "rm -rf ~")]),
        ("subprocess.run(['rm', '-rf', '/srv'])", [("shell", "rm -rf /srv")]),
        ("cursor.execute('DROP TABLE a')", [("sql", "DROP TABLE a")]),
        ("open('/etc/passwd', 'w')", [("write", "/etc/passwd")]),
        ("redis.Redis().flushall()", [("service", "flushall")]),
    ],
)
def test_findings(code: str, found: list[tuple[str, str]]) -> None:
    """Literal paths, the home directory and assigned ones are found; unknown and temporary ones are not."""
    assert found == [(one.kind, one.text) for one in find_in_code(code)]


@given(st.text(alphabet="rmtree(\"'/~+=;\n`)", max_size=60))
def test_any_code(code: str) -> None:
    """No code raises."""
    list(find_in_code(code))
