"""Measure what 100 rules that do not match cost an event.

    python -m benchmarks.rules [--quick] [ROUNDS]

*ask* is what the process of a session does for each event inside the transaction: select and evaluate the rules.
*look* checks whether a rule file has changed. *read* is the first event of a process: find, read, check and compile
all files. All times are processor times, so other load on the machine has little effect.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from upbeat.adapters.system.config.rules import PROJECT_FOLDER, RuleFiles
from upbeat.adapters.system.environment import read_environment
from upbeat.core.contract.client import UNKNOWN_CLIENT
from upbeat.core.contract.event import Call, ClientName, Event, EventSource, FileEdit, ToolKind, ToolStarting
from upbeat.core.rules import ruleset
from upbeat.core.rules.rule import Rule

RULES, ROUNDS, TIMES = 100, 30, 20
KINDS = {
    "shell": "tool: shell\npattern: program{n}\\s+(-\\w+\\s+)*--force",
    "edit": "tool: [edit, write]\npaths: 'src/module{n}/**/*.{{ts,tsx}}'\npattern: forbidden{n}\\(",
    "content": "tool: [edit, write]\npattern: (secret|token){n}\\s*=",
    "path": "paths: '*.kind{n}'",
}


def write_rules(root: Path, kinds: list[str]) -> None:
    """``RULES`` rule files in the repository at ``root``, of these kinds in turn."""
    folder = root / PROJECT_FOLDER
    folder.mkdir(parents=True)
    for number in range(RULES):
        front = KINDS[kinds[number % len(kinds)]].format(n=number)
        text = f"---\nevent: before-tool\n{front}\naction: deny\n---\nNot this way.\n"
        (folder / f"rule-{number:03}.md").write_text(text, encoding="utf-8")


def calls(root: str) -> dict[str, Event]:
    """A command line of three commands, and a change of 200 lines."""
    source = EventSource(ClientName.CLAUDE_CODE, root, "s")
    line, path = "cd src && npm test 2>&1 | tail -20", f"{root}/src/module/a.ts"
    change = FileEdit(path, "const x = compute(1, 2, 3)\n" * 200)
    return {
        "shell": ToolStarting(source, Call("c", "Bash", {"command": line}, ToolKind.SHELL), line),
        "edit": ToolStarting(source, Call("c", "Edit", {}, ToolKind.EDIT, (path,), (change,))),
    }


def milliseconds(do: Callable[[], object], rounds: int, times: int = TIMES) -> float:
    """How long ``do`` takes, the median of ``rounds``."""
    taken = []
    do()
    for _ in range(rounds):
        began = time.process_time()
        for _ in range(times):
            do()
        taken.append((time.process_time() - began) * 1000 / times)
    return statistics.median(taken)


def ask(rules: tuple[Rule, ...], event: Event, root: str) -> ruleset.RulesEvaluation:
    """What the panel does with the rules at one event."""
    return ruleset.evaluate_rules(ruleset.applicable_rules(rules, event, "auto", UNKNOWN_CLIENT), event, root, (), "en")


def main() -> None:
    """Print one row for each set of rules and each event."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("rounds", nargs="?", type=int, default=ROUNDS)
    parser.add_argument("--quick", action="store_true", help="one round")
    options = parser.parse_args()
    rounds = 1 if options.quick else options.rounds
    print(f"{RULES} rules, none of which matches; ms, median of {rounds}")
    print(f"{'rules':<10} {'event':<6} {'ask':>8} {'look':>8} {'read':>8}")
    for name, kinds in (("mixed", list(KINDS)), ("all shell", ["shell"]), ("all edit", ["edit"])):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder).resolve()
            write_rules(root, kinds)
            environment = read_environment({"HOME": f"{folder}/home"})
            files = RuleFiles(environment)
            began = time.process_time()
            rules = files.load(str(root)).rules
            read = (time.process_time() - began) * 1000
            look = milliseconds(partial(files.load, str(root)), rounds)
            for event_name, event in calls(str(root)).items():
                asked = milliseconds(partial(ask, rules, event, str(root)), rounds)
                print(f"{name:<10} {event_name:<6} {asked:8.3f} {look:8.3f} {read:8.1f}")


if __name__ == "__main__":
    main()
