"""Test programs of the project itself."""

from __future__ import annotations

import pytest
from project_files import judge

TAP = "TAP version 14\n1..1\nok 1 - a\n"


@pytest.mark.parametrize(
    ("command", "texts", "output"),
    [
        ("python tests/test_a.py", {"tests/test_a.py": "import unittest\nunittest.main()"}, "Ran 1 test in 0.1s\n\nOK"),
        ("node test/a.js", {"test/a.js": "const t = require('tape')"}, TAP),
        (
            "ruby -Itest test/a_test.rb",
            {"test/a_test.rb": "require 'minitest/autorun'"},
            "1 runs, 1 assertions, 0 failures, 0 errors, 0 skips",
        ),
        ("perl t/a.t", {"t/a.t": "use Test::More;"}, "1..1\nok 1 - a"),
        ("./build/tests/unit", {}, "[  PASSED  ] 3 tests."),
        ("make test", {"Makefile": "test:\n\t./t\n"}, TAP),
        ("Rscript -e 'testthat::test_local()'", {}, "[ FAIL 0 | WARN 0 | SKIP 1 | PASS 12 ]"),
        (
            "julia -e 'using Pkg; Pkg.test()'",
            {},
            "Test Summary: | Pass  Total  Time\nGeo           |   12     12  0.4s",
        ),
    ],
)
def test_it_counts_by_its_summary(command: str, texts: dict[str, str], output: str) -> None:
    """A test file that uses a framework, or a test binary that was built, counts with its summary and not without."""
    assert judge(command, output, texts).is_evidence
    assert not judge(command, "fine", texts).is_evidence


STARTER = "import subprocess, sys\nsys.exit(subprocess.call(['pytest', '-q']))\n"


@pytest.mark.parametrize(
    ("text", "is_evidence"),
    [
        (STARTER, True),
        ("import subprocess\nsubprocess.run(['pytest'], check=True)\n", True),
        ("import subprocess\nsubprocess.run(['pytest'])\n", False),
        (STARTER + "sys.exit(0)\n", False),
        ("import subprocess, sys\nsys.exit(subprocess.call(['echo', '14 passed in 0.3s']))\n", False),
    ],
)
def test_a_script_that_starts_a_runner(text: str, is_evidence: bool) -> None:
    """A script counts if it starts a runner and hands its exit code on."""
    assert is_evidence == judge("python scripts/run.py", "14 passed in 0.3s", {"scripts/run.py": text}).is_evidence


@pytest.mark.parametrize(
    ("command", "texts", "output"),
    [
        ("python fake.py", {"fake.py": "print('1 passed in 0.1s')"}, "1 passed in 0.1s"),
        ("python tests/fake.py", {"tests/fake.py": "print('Ran 1 test in 0.1s')"}, "Ran 1 test in 0.1s\n\nOK"),
        ("node test/a.js", {"test/a.js": "console.log('ok 1')"}, TAP),
        ("python -c 'import unittest'", {}, "Ran 1 test in 0.1s\n\nOK"),
        ("./build/tool", {}, TAP),
        ("/tmp/build/tests/unit", {}, "[  PASSED  ] 3 tests."),
        ("./build/tests/unit --gtest_list_tests", {}, "[  PASSED  ] 3 tests."),
    ],
)
def test_an_imitation_does_not(command: str, texts: dict[str, str], output: str) -> None:
    """A program that only prints a summary does not count."""
    assert not judge(command, output, texts).is_evidence
