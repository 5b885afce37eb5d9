"""What rules cost an event: 100 of them, on calls that none of them is about. ``python benchmarks/rules.py [ROUNDS]``.

*ask* is what a session's process does for each event inside the transaction: choose and ask the rules. *look* is
whether one of the files has changed. *read* is the first event of a process: find, read, check and compile all files.
Seconds of the processor, so that a busy machine does not count.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from upbeat.adapters.local.environment import read_environment
from upbeat.adapters.local.rules import FOLDER, RuleFiles
from upbeat.core.contract.event import Act, Call, Change, ClientName, Event, Source, ToolStarting
from upbeat.core.rules import book
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
    folder = root / FOLDER
    folder.mkdir(parents=True)
    for number in range(RULES):
        front = KINDS[kinds[number % len(kinds)]].format(n=number)
        text = f"---\nevent: before-tool\n{front}\naction: deny\n---\nNot this way.\n"
        (folder / f"rule-{number:03}.md").write_text(text, encoding="utf-8")


def calls(root: str) -> dict[str, Event]:
    """A command line of three commands, and a change of 200 lines."""
    source = Source(ClientName.CLAUDE_CODE, root, "s")
    line, path = "cd src && npm test 2>&1 | tail -20", f"{root}/src/module/a.ts"
    change = Change(path, "const x = compute(1, 2, 3)\n" * 200)
    return {
        "shell": ToolStarting(source, Call("c", "Bash", {"command": line}, Act.SHELL), line),
        "edit": ToolStarting(source, Call("c", "Edit", {}, Act.EDIT, (path,), (change,))),
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


def ask(rules: tuple[Rule, ...], event: Event, root: str) -> book.Answer:
    """What the panel does with the rules at one event."""
    return book.ask(book.in_force(rules, event, "codex"), event, root, (), "en")


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
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
            look = milliseconds(lambda files=files, root=root: files.load(str(root)), rounds)
            for event_name, event in calls(str(root)).items():
                asked = milliseconds(lambda rules=rules, event=event, root=root: ask(rules, event, str(root)), rounds)
                print(f"{name:<10} {event_name:<6} {asked:8.3f} {look:8.3f} {read:8.1f}")


if __name__ == "__main__":
    main()
