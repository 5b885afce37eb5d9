"""Plans many prompts in this process and says for each what the plan was, as a hash.

    python -m reliability.plan_bytes_worker PROMPTS RUNS [ROOT]        one prompt a line, as JSON

A line of output holds the hashes of one run, in the order of the prompts; each run asks them in another order. With
ROOT it is given as the repository, and taken out of the plan again.
"""

from __future__ import annotations

import hashlib
import json
import random
import sys
from pathlib import Path

from upbeat.adapters.cli.prepare import prepare_report
from upbeat.adapters.system.environment import decode_argument
from upbeat.core.contract.request import PrepareRequest


def without(root: str, plan: bytes) -> str:
    """The hash of ``plan``, in which ``root`` is written as ``ROOT``."""
    if root:
        plan = plan.replace(json.dumps(decode_argument(root), ensure_ascii=False)[1:-1].encode("utf-8"), b"ROOT")
    return hashlib.sha256(plan).hexdigest()


def hashed(prompt: str, root: str) -> str:
    """The hash of what ``upbeat prepare --plan`` prints."""
    report = prepare_report(PrepareRequest(prompt=prompt, repo_root=root or None), plan=True, strict=False).report
    return without(root, report.to_json().encode("utf-8", "replace") + b"\n")


def main() -> None:
    lines = Path(sys.argv[1]).read_text(encoding="utf-8").splitlines()
    prompts: list[str] = [json.loads(line) for line in lines]
    root = sys.argv[3] if len(sys.argv) > 3 else ""
    for run in range(int(sys.argv[2])):
        order = list(range(len(prompts)))
        random.Random(run).shuffle(order)
        found = {number: hashed(prompts[number], root) for number in order}
        print(*(found[number] for number in range(len(prompts))))


if __name__ == "__main__":
    main()
