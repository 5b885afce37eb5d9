"""Which runs of the tests count as evidence on the real clients, and what the agent is told of the others."""

from __future__ import annotations

from processes import read_log

from .sandbox import Sandbox
from .workflow_sessions import (
    TEST,
    Played,
    carry_out,
    course,
    effects,
    facts,
    prepare,
    read_rounds,
    shared,
)

DOCKER = '#!/bin/sh\nwhile [ "$1" != app ]; do shift; done\nshift\nexec "$@"\n'
"""Stands for Docker: it runs the command of the service here."""
SETUP = (
    "mkdir -p empty fake ev && "
    "printf 'test:\\n\\t-python3 -m unittest discover -s ../checks\\n' > ev/Makefile && "
    'printf \'{"scripts": {"test": "echo 5 passed"}}\' > ev/package.json && '
    "printf '#!/bin/sh\\nset -e\\npython3 -m unittest discover -s checks\\n' > ev/run_tests.sh && "
    "chmod +x ev/run_tests.sh && "
    "printf 'services:\\n  app:\\n    image: python\\n    volumes: [\"..:/app\"]\\n' > ev/compose.yaml"
)
SUBSET = "python3 -m unittest checks.test_it"
RECORDED = "upbeat exec -- ev/run_tests.sh 2>&1 | tail -20"
RUNS = [
    ("(cd empty && python3 -m unittest)", "nothing_ran"),
    ("python3 -m unittest discover -s empty", "nothing_ran"),
    ("make -C ev test", "hidden"),
    ("npm test --prefix ev", "no_runner"),
    (f"PATH=$PWD/fake:$PATH {TEST}", "environment"),
    (f"(cd /tmp && {TEST.replace('checks', '.')})", "outside"),
    (f"{TEST} 2>&1 | tail -20", "hidden"),
    (f"set -o pipefail && {TEST} 2>&1 | tail -20", ""),
    ("docker compose -f ev/compose.yaml run --rm app " + TEST, ""),
    ("upbeat exec -- ev/run_tests.sh", ""),
    (RECORDED, ""),
    (SUBSET, ""),
]
"""Commands of the tester, and the reasons why they are refused."""
ROUNDS = [
    [["tester", "Write the behaviour down."]],
    [["developer", "Write the code.", "PASS", "GREEN", SETUP]],
    [["tester", "Test the code.", "PASS", *(command for command, _ in RUNS)]],
    "All of it is done.",
]


def work(sandbox: Sandbox, client: str) -> Played:
    """Run `tdd`, whose tester tries all of the commands."""
    docker = sandbox.bin / "docker"
    docker.write_text(DOCKER)
    docker.chmod(0o755)
    prepare(sandbox, client)
    done = carry_out(sandbox, client, "[workflow:tdd] add retries to save_order", read_rounds(ROUNDS))
    return Played(sandbox, done, read_log(sandbox.home))


tried = shared(work)


def runs(played: Played) -> list[dict[str, object]]:
    """The runs that were judged, in order; a command that is retried counts once."""
    judged = {fact["evidence"]["command"]: fact["evidence"] for fact in facts(played.records, "command_ran")}
    return list(judged.values())


def test_what_counts(tried: Played, client: str) -> None:
    """A run of no test, elsewhere, or with a hidden exit code does not count; pipefail, containers, scripts do.

    Codex runs commands in a login shell, where `upbeat` is not on the sandbox's PATH.
    """
    expected = {command: why for command, why in RUNS if client != "codex" or command != RECORDED}
    judged = {str(run["command"]): run.get("refusal", "") for run in runs(tried)}

    assert expected == {command: judged.get(command, "missing") for command in expected}


def test_what_is_known_of_a_run(tried: Played) -> None:
    """A run in a container and a run of some of the tests are known as that."""
    judged = {str(run["command"]): run for run in runs(tried)}
    container = next(run for command, run in judged.items() if command.startswith("docker"))

    assert ("container", "checks.test_it") == (container.get("place"), judged[SUBSET].get("scope"))


def test_the_agent_is_told(tried: Played) -> None:
    """Each refusal is one line in the tester's context before its turn ends."""
    told = [text for text in effects(tried.records, "inject_context") if "does not count as a test run" in text]
    heard = [
        turn for turn in tried.done.turns if turn.from_subagent and turn.texts_with("does not count as a test run")
    ]

    assert len({refusal for _, refusal in RUNS} - {""}) <= len(told) <= len(RUNS)
    assert any("its summary says that no test was executed" in text for text in told)
    assert heard


def test_the_workflow_ends_with_the_scope(tried: Played) -> None:
    """The workflow is complete, and the last word says that the latest run was one of some tests."""
    assert "run complete" == course(tried.records)[-1]
    assert any("The tests ran as a subset (checks.test_it)" in text for text in effects(tried.records, "notify_user"))
