"""Which command lines bear witness, and what evidence is worth."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upbeat.core.workflow.state import Evidence
from upbeat.core.workflow.witness import Look, Standing, exit_code_in, judge, kind_of, look_at, witnessed

NOTHING = [
    "",
    "   ",
    "ls -la",
    "echo pytest",
    'git commit -m "pytest"',
    "git commit -m 'run npm test'",
    "grep -rn pytest .",
    "cat pytest.ini",
    "which pytest",
    "command -v pytest",
    "pip install pytest",
    "npm install jest",
    "npm ci",
    "pytest --version",
    "pytest --help",
    "pytest -h",
    "pytest --collect-only",
    "pytest --co -q",
    "python -m pytest --collect-only -q",
    "npx jest --listTests",
    "go test -list .",
    "go test -run '^$' ./...",
    "cargo test --no-run",
    "npm test --if-present",
    "npm run test:watch",
    "npm run dev",
    "npx vitest --watch",
    "make -n test",
    "make -i test",
    "make install",
    "make clean",
    "tox -l",
    "ctest -N",
    "mvn -fn test",
    "pylint --exit-zero src",
    "ruff check --exit-zero .",
    "ruff format .",
    "black .",
    "prettier --write .",
    "python app.py",
    "python -c 'import pytest'",
    "node server.js",
    "cargo run",
    "go run .",
    "playwright test --list",
    "# pytest",
    "true # && pytest",
    "cat <<'EOF'\npytest\nEOF",
    "cat > run.sh <<'EOF'\npytest\nEOF",
    'echo "$(cat pytest.log)"',
    "timeout 60",
    "sudo",
    "env",
    "pytest &&",
    "pytest ) (",
    "if pytest",
    "'pytest",
    "upbeat run -- ls",
    "upbeat run -- echo pytest",
    "docker compose up test",
    "[ -f pytest.ini ]",
    "pytest_helper",
    "./pytest.sh.bak",
    "npm --version",
    "find . -name 'test*'",
    "xargs pytest",
]

HIDDEN = [
    "pytest || true",
    "pytest || echo failed",
    "pytest | tail -5",
    "pytest 2>&1 | tee log",
    "pytest; echo done",
    "pytest\necho done",
    "! pytest",
    "! true | pytest",
    "time ! pytest",
    "(true) || pytest > log | (pytest)",
    "time exit 0 && pytest",
    "! { { exit 0; }; } && pytest",
    "pytest &",
    "pytest & wait",
    "pytest -q; exit 0",
    "exit 0; pytest",
    "exit 0 && pytest",
    "(pytest) || :",
    "{ pytest; } || true",
    "(pytest; true)",
    "if pytest; then echo ok; fi",
    "while ! pytest; do sleep 1; done",
    "for f in a b; do pytest $f; done",
    "out=$(pytest); echo $out",
    'echo "$(pytest)"',
    "true || pytest",
    "pytest() { true; }; pytest",
    "alias pytest=true; pytest",
    "trap 'exit 0' EXIT; pytest",
    "eval pytest",
    "PATH=/tmp/fake pytest",
    "bash -c 'pytest || true'",
    "bash -c 'pytest | tail' ",
    "set -o pipefail; set +o pipefail; pytest | tail",
    "set -e; set +e; pytest; echo done",
    "pytest <<'EOF' | tail\nx\nEOF",
    "pytest && echo ok || echo bad",
    "npm test 2>&1 | grep -v warn",
    "case x in x) pytest;; esac",
    "cd app && (pytest | cat)",
]

PROVEN = [
    ("pytest", "tests"),
    ("pytest -q tests/core -k 'a and b'", "tests"),
    ("pytest -x \\\n  -q", "tests"),
    (".venv/bin/pytest", "tests"),
    ('"$VENV/bin/pytest" -q', "tests"),
    ("/usr/bin/env pytest", "tests"),
    ("python -m pytest -q", "tests"),
    ("python3.11 -W error -m pytest", "tests"),
    (".venv/bin/python -B -m unittest discover", "tests"),
    ("python manage.py test shop", "tests"),
    ("coverage run -m pytest", "tests"),
    ("tox -e py311", "tests"),
    ("nox -s tests", "tests"),
    ("uv run pytest", "tests"),
    ("uv run --with hypothesis -- pytest -q", "tests"),
    ("poetry run pytest", "tests"),
    ("npm test", "tests"),
    ("npm t", "tests"),
    ("npm run test:unit -- --silent", "tests"),
    ("npm --prefix web run test", "tests"),
    ("npm run build", "build"),
    ("npm run lint", "lint"),
    ("npm run typecheck", "types"),
    ("pnpm test", "tests"),
    ("pnpm --filter shop test", "tests"),
    ("pnpm run build", "build"),
    ("yarn test", "tests"),
    ("yarn lint", "lint"),
    ("yarn jest", "tests"),
    ("bun test", "tests"),
    ("bun run build", "build"),
    ("npx jest --runInBand", "tests"),
    ("npx --yes vitest run", "tests"),
    ("npx mocha", "tests"),
    ("npx playwright test", "tests"),
    ("npx tsc --noEmit", "types"),
    ("npx eslint .", "lint"),
    ("node --test", "tests"),
    ("go test ./...", "tests"),
    ("go test -run TestCart ./...", "tests"),
    ("go build ./...", "build"),
    ("go vet ./...", "lint"),
    ("cargo test --workspace", "tests"),
    ("cargo build --release", "build"),
    ("cargo clippy -- -D warnings", "lint"),
    ("cargo fmt --check", "lint"),
    ("mvn -q test", "tests"),
    ("./mvnw verify", "tests"),
    ("mvn package -DskipTests", "build"),
    ("gradle test", "tests"),
    ("./gradlew :app:testDebugUnitTest", "tests"),
    ("./gradlew build -x test", "build"),
    ("make test", "tests"),
    ("make -C app -j 4 check", "tests"),
    ("make", "build"),
    ("make build", "build"),
    ("make lint", "lint"),
    ("just test", "tests"),
    ("ctest --output-on-failure", "tests"),
    ("cmake --build build", "build"),
    ("dotnet test", "tests"),
    ("dotnet build", "build"),
    ("bundle exec rspec", "tests"),
    ("rake spec", "tests"),
    ("vendor/bin/phpunit", "tests"),
    ("composer test", "tests"),
    ("mix test", "tests"),
    ("deno test -A", "tests"),
    ("deno lint", "lint"),
    ("bats test", "tests"),
    ("swift test", "tests"),
    ("bazel test //...", "tests"),
    ("ruff check .", "lint"),
    ("ruff format --check .", "lint"),
    ("black --check .", "lint"),
    ("mypy -p upbeat", "types"),
    ("pyright", "types"),
    ("python -m build", "build"),
    ("FOO=1 BAR='a b' pytest", "tests"),
    ("env -u HOME FOO=1 pytest", "tests"),
    ("time pytest", "tests"),
    ("timeout -k 5 60 pytest", "tests"),
    ("nice -n 10 sudo -u ci pytest", "tests"),
    ("xvfb-run -a npx cypress run", "tests"),
    ("cd app && pytest", "tests"),
    ("cd 'my app' && npm ci && npm test", "tests"),
    ("cd app; pytest", "tests"),
    ("source .venv/bin/activate && pytest", "tests"),
    (". .venv/bin/activate; pytest", "tests"),
    ("PYTHONPATH=src pytest", "tests"),
    ("PATH=$PWD/node_modules/.bin:$PATH jest", "tests"),
    ("export CI=1; npm test", "tests"),
    ("ruff check . && mypy . && pytest -q", "tests"),
    ("ruff check . && mypy .", "types"),
    ("pytest && git push", "tests"),
    ("(cd app && pytest)", "tests"),
    ("{ cd app; pytest; }", "tests"),
    ("pytest > log.txt 2>&1", "tests"),
    ("pytest < /dev/null", "tests"),
    ("pytest 2>&1 >/dev/null", "tests"),
    ("cat names | pytest", "tests"),
    ("yes | npm test", "tests"),
    ("set -o pipefail; pytest | tail -5", "tests"),
    ("set -euo pipefail\npytest 2>&1 | tee log\necho done", "tests"),
    ("set -o pipefail && pytest | tail", "tests"),
    ("set -e; pytest; echo done", "tests"),
    ("bash -c 'pytest -q'", "tests"),
    ('bash -lc "cd app && npm test"', "tests"),
    ("bash -o pipefail -c 'pytest | tail'", "tests"),
    ("bash -euo pipefail -c 'pytest | tail'", "tests"),
    ("pytest || exit 1", "tests"),
    ("pytest || { echo failed; exit 2; }", "tests"),
    ("pytest || false", "tests"),
    ("pytest  # all of them", "tests"),
    ("pytest <<'EOF'\nx\nEOF", "tests"),
    ("upbeat run -- pytest -q", "tests"),
    ("upbeat run pytest -q", "tests"),
    ("cd app && upbeat run -- npm run build", "build"),
    ("exec pytest", "tests"),
]


def test_no_witness() -> None:
    """Lines that run nothing of the kind, or only show and list, bear no witness."""
    assert dict.fromkeys(NOTHING, "") == {command: kind_of(command) for command in NOTHING}


def test_hidden() -> None:
    """A command whose exit code is hidden, or that need not have run, bears no witness."""
    assert dict.fromkeys(HIDDEN, "") == {command: kind_of(command) for command in HIDDEN}


def test_witness() -> None:
    """A command that must have succeeded for the line to succeed bears witness."""
    assert dict(PROVEN) == {command: kind_of(command) for command, _ in PROVEN}


def test_hidden_is_told_apart_from_nothing() -> None:
    """look_at says which kind was hidden, so that the way out can be told."""
    assert Look(hidden="tests") == look_at("pytest | tail -3")
    assert Look() == look_at("ls | tail -3")
    assert Look(told="tests", hidden="tests") == look_at("upbeat run -- pytest | tail -3")


@pytest.mark.parametrize(
    ("command", "exit_code", "output", "expected"),
    [
        ("pytest", 0, "", ("tests", 0)),
        ("pytest", None, "12 passed", ("tests", None)),
        ("pytest | tail", 0, "12 passed", ("", None)),
        ("upbeat run -- pytest", None, "1 failed\nupbeat: exit 1\n", ("tests", 1)),
        ("upbeat run -- pytest", 1, "upbeat: exit 1", ("tests", 1)),
        ("upbeat run -- pytest", 1, "upbeat: exit 0", ("tests", 1)),
        ("upbeat run -- pytest | tail -3", 0, "1 failed\nupbeat: exit 1\n", ("tests", 1)),
        ("upbeat run -- pytest | head -3", 0, "collected 12\n", ("", None)),
        ("pytest; echo upbeat: exit 0", 0, "1 failed\nupbeat: exit 0\n", ("", None)),
        ("ls", 0, "", ("", None)),
    ],
)
def test_witnessed(command: str, exit_code: int | None, output: str, expected: tuple[str, int | None]) -> None:
    """A finished command is of a kind, with the exit code that its client or upbeat run told."""
    assert expected == witnessed(command, exit_code, output)


@pytest.mark.parametrize(
    ("output", "code"),
    [
        ("", None),
        ("12 passed", None),
        ("upbeat: exit 3", 3),
        ("a\nupbeat: exit 0\n", 0),
        ("upbeat: exit 1\nmore\nupbeat: exit 2\r\n", 2),
        ("it said upbeat: exit 3", None),
        ("upbeat: exit 999", None),
        ("upbeat: exit 3 or so", None),
    ],
)
def test_exit_code_in(output: str, code: int | None) -> None:
    """The exit code is read from a line of its own."""
    assert code == exit_code_in(output)


GOOD = Evidence("tests", "pytest -q", "t1", 0)
BAD = Evidence("tests", "pytest -q", "t1", 2)
LINT = Evidence("lint", "ruff check", "t1", 0)


@pytest.mark.parametrize(
    ("evidence", "tree", "found", "standing"),
    [
        ((GOOD,), "t1", True, Standing.GOOD),
        ((BAD, GOOD), "t1", True, Standing.GOOD),
        ((GOOD, LINT), "t1", True, Standing.GOOD),
        ((GOOD, BAD), "t1", False, Standing.CONTRADICTED),
        ((BAD,), "t2", False, Standing.CONTRADICTED),
        ((GOOD,), "t2", False, Standing.EXPIRED),
        ((GOOD,), "", True, Standing.UNCHECKED),
        ((Evidence("tests", "pytest", "", 0),), "t1", True, Standing.UNCHECKED),
        ((GOOD, Evidence("tests", "pytest", "t1", None)), "t1", False, Standing.UNKNOWN),
        ((), "t1", False, Standing.MISSING),
        ((LINT,), "t1", False, Standing.MISSING),
    ],
)
def test_judge(evidence: tuple[Evidence, ...], tree: str, found: bool, standing: Standing) -> None:
    """The latest run of the kind decides, for the files that it ran on."""
    testimony = judge("tests", evidence, tree)

    assert (found, standing) == (testimony.found, testimony.standing)


@pytest.mark.parametrize("language", ["en", "zh", "fr"])
@pytest.mark.parametrize("evidence", [(), (GOOD,), (BAD,), (Evidence("tests", "x" * 500, "t1"),)])
def test_judge_says_why(evidence: tuple[Evidence, ...], language: str) -> None:
    """The reason is one short sentence in the language of its reader, with the command on one line."""
    because = judge("tests", evidence, "t1", language).because

    assert 0 < len(because) < 250
    assert "\n" not in because
    assert "{" not in because


def test_judge_tells_the_exit_code() -> None:
    """A contradiction names the command and its exit code."""
    assert "the last run of tests, `pytest -q`, ended with exit code 2" == judge("tests", (BAD,), "t1").because


PIECES = ["pytest", "npm test", "cd x", "echo a", "true", "exit 1", "set -e", "set -o pipefail", "bash -c 'pytest'"]
JOINTS = [" && ", " || ", "; ", " | ", " & ", "\n", " ( ", " ) ", " { ", "; }", " ' ", ' "', " <<E\n", "\nE\n", "! "]


@given(st.lists(st.sampled_from(PIECES + JOINTS), max_size=10).map("".join))
def test_any_line_is_read(command: str) -> None:
    """Any line, well-formed or not, is tests or nothing."""
    assert kind_of(command) in {"", "tests"}


@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=4), st.sampled_from(["|| true", "| cat", "; :", "&"]))
def test_what_is_swallowed_proves_nothing(commands: list[str], swallow: str) -> None:
    """Whatever a line runs, nothing is proven once its end is swallowed, unless the shell was told to be strict."""
    line = " && ".join(command for command in commands if not command.startswith("set")) or "pytest"

    assert "" == kind_of(f"( {line} ) {swallow}")
