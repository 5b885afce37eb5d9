"""Watch hostile repositories and print what was not allowed.

    PYTHONPATH=tests .venv/bin/python -m hostile.by_hand [WORD …] [--short]

WORD is a part of the name of a fixture (all without one). The exit code is 1 when anything was seen.
"""

from __future__ import annotations

import argparse
import sys

from .entry_points import SHORT, calls
from .fixtures import FIXTURES, staged
from .judge import judge
from .strace import watch


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", metavar="WORD")
    parser.add_argument("--short", action="store_true", help="only the entry points that read the most")
    options = parser.parse_args()
    count = bad = 0
    for name in FIXTURES:
        if options.words and not any(word in name for word in options.words):
            continue
        with staged(name) as place:
            for entry, call in calls(place).items():
                if options.short and entry not in SHORT:
                    continue
                count += 1
                try:
                    seen = watch(call, place)
                except TimeoutError as error:
                    print(f"{name} | {entry}: {error}", flush=True)
                    bad += 1
                    continue
                for told in judge(place, seen).told():
                    bad += 1
                    print(f"{name} | {entry}: {told}", flush=True)
                if seen.code:
                    print(f"{name} | {entry}: exit {seen.code}: {seen.output[-300:]!r}", flush=True)
    print(f"{bad} things in {count} runs")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
