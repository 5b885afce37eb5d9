"""Whether a plan is the same bytes wherever, whenever and under whatever settings of the machine it is made.

One process for each combination of hash seed, time zone, locale and checkout plans every prompt several times. The
missing locale is one that no machine has; ``PYTHONUTF8=0`` makes Python believe the locale that bytes are ASCII.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

from processes import UPBEAT, environment
from repositories import FILES, git, make_repository

from upbeat.adapters.cli.prepare import prepare_report
from upbeat.adapters.system.environment import decode_argument
from upbeat.core.contract.report import PrepareRequest

from .promise import Scenario, Seen, none_of
from .workers import TESTS, command, results

PART = "Determinism"

RECORDED = TESTS / "recorded/prompts"
SEEDS = ("0", "1", "2", "random")
ZONES = ("UTC", "Asia/Shanghai", "America/St_Johns")
LOCALES: tuple[Mapping[str, str], ...] = (
    {"LANG": "", "LC_ALL": "C.UTF-8"},
    {"LANG": "", "LC_ALL": "C"},
    {"LANG": "POSIX"},
    {"LANG": "zh_CN.UTF-8", "LC_ALL": "xx_XX.ISO-8859-15"},
    {"LANG": "", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
)
PLACES = ("repository", "another place 别处 é")
NAMED = {"模块/文件.py": "def 计算(行):\n    return 行\n", "docs/用法.md": "# 用法\n"}
PATHS = (
    *("shop/cart.py", "模块/文件.py", "shop/../shop/retry.py", "../outside.py"),
    *("docs/", "shop/没有.py", "./README.md:3"),
)
TEMPLATES = (
    "fix the crash in {}",
    "为什么 {} 里的 total_price 算错了？",
    "請解釋 {} 做什麼",
    "`{}` throws since yesterday, why",
    "refactor {} and add tests",
    "{} 第 12 行 🙂 报错: KeyError 'e\u0301'",
    "where is send_with_retry called from {}?",
)


@dataclass(frozen=True, slots=True)
class Combination:
    """What a process is started with. ``root`` is the repository's path as it is given, empty when it is found."""

    seed: str
    zone: str
    locale: Mapping[str, str]
    place: Path
    root: str = ""

    def environment(self, home: Path) -> dict[str, str]:
        more = {"PYTHONHASHSEED": self.seed, "TZ": self.zone, "PYTHONPATH": str(TESTS), **self.locale}
        return environment(home, {name: value for name, value in more.items() if value})


@dataclass(frozen=True, slots=True)
class Amount:
    """How many prompts are planned, and in how many combinations: all processes, with a path, by the command."""

    prompts: int
    processes: int
    each_with_path: int
    commands: int


def plan_everywhere(folder: Path, amount: Amount) -> Iterator[Seen]:
    """Plan prompts in processes that have little in common."""
    repository = make_repository(folder / PLACES[0], {**FILES, **NAMED})
    git(folder, "clone", "-q", str(repository), str(folder / PLACES[1]))
    prompts = some_prompts(amount.prompts)
    every = [Combination(*parts) for parts in product(SEEDS, ZONES, LOCALES, [folder / name for name in PLACES])]
    chosen = sample(every, amount.processes)
    yield plan_in_process(folder, prompts, chosen, 3, "whatever")
    with_path = [replace(each, place=folder, root=str(each.place)) for each in chosen[:: amount.each_with_path]]
    how = "with the repository given by its path, but for that path, whatever"
    yield plan_in_process(folder, prompts, with_path, 1, how)
    yield plan_by_command(folder, prompts, sample(chosen, amount.commands))


def some_prompts(most: int) -> list[str]:
    """Return recorded prompts and made-up ones with paths, in English and Chinese; always the same."""
    recorded = [
        line.split("\t", 1)[1]
        for name in ("labelled.tsv", "held_out.tsv")
        for line in (RECORDED / name).read_text(encoding="utf-8").splitlines()
        if "\t" in line
    ]
    made = [template.format(path) for template, path in product(TEMPLATES, PATHS)][: most // 2]
    return [*made, *random.Random(7).sample(recorded, most - len(made))]


def sample(every: Sequence[Combination], most: int) -> list[Combination]:
    """Return some of all combinations, every locale in turn."""
    chosen: list[Combination] = []
    chance = random.Random(3)
    while len(chosen) < min(most, len(every)):
        locale = LOCALES[len(chosen) % len(LOCALES)]
        chosen.append(chance.choice([each for each in every if each.locale == locale and each not in chosen]))
    return chosen


def plan_in_process(folder: Path, prompts: list[str], every: Sequence[Combination], runs: int, how: str) -> Seen:
    """Plan all prompts in each combination, ``runs`` times."""
    file = folder / "prompts.json"
    file.write_text(json.dumps(prompts), encoding="utf-8")
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        planned = pool.map(
            lambda each: results([command(plan_hashes, file, runs, each.root)], each.environment(folder), each.place),
            every,
        )
        whole = [hashes for lines in planned for hashes in lines]
    differing = [prompt for prompt, *hashes in zip(prompts, *whole, strict=True) if len(set(hashes)) != 1]
    missing = (len(every) * runs - len(whole)) * len(prompts)
    return none_of(
        f"the plan for a prompt is the same bytes {how} the hash seed, time zone, locale, order and checkout",
        "0 prompts with two plans",
        [repr(prompt) for prompt in differing],
        f"of {len(prompts)} prompts with two plans, {len(whole) * len(prompts):,} plans in {len(every)} processes, "
        f"{missing:,} missing",
        holds=not missing,
    )


def plan_hashes(file: str, runs: int, root: str) -> Iterator[list[str]]:
    """Yield the hashes of all plans of a run, in the order of the prompts; each run plans them in another order."""
    prompts: list[str] = json.loads(Path(file).read_text(encoding="utf-8"))
    for run in range(runs):
        order = random.Random(run).sample(range(len(prompts)), len(prompts))
        hashes = {number: _plan_hash(prompts[number], root) for number in order}
        yield [hashes[number] for number in range(len(prompts))]


def _plan_hash(prompt: str, root: str) -> str:
    """Return the hash of what ``upbeat prepare --plan`` prints, in which ``root`` is written as ``ROOT``."""
    report = prepare_report(PrepareRequest(prompt=prompt, repo_root=root or None), plan=True, strict=False).report
    plan = report.to_json().encode("utf-8", "replace") + b"\n"
    if root:
        plan = plan.replace(json.dumps(decode_argument(root), ensure_ascii=False)[1:-1].encode("utf-8"), b"ROOT")
    return hashlib.sha256(plan).hexdigest()


def plan_by_command(folder: Path, prompts: list[str], every: Sequence[Combination]) -> Seen:
    """Plan a prompt each by ``upbeat prepare --plan`` itself in two combinations."""

    def printed(each: Combination, prompt: str) -> tuple[int, bytes]:
        words = [UPBEAT, "prepare", "--plan", "--prompt", prompt]
        done = subprocess.run(words, cwd=each.place, env=each.environment(folder), capture_output=True, check=False)
        return done.returncode, done.stdout

    chance = random.Random(5)
    chosen = [chance.choice(prompts) for _ in every]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        here = list(pool.map(printed, every, chosen))
        there = list(pool.map(printed, [every[0]] * len(every), chosen))
    pairs = zip(chosen, here, there, strict=True)
    differing = [repr(prompt) for prompt, plan, other in pairs if plan != other or plan[0] != 0]
    return none_of(
        "so it is for `upbeat prepare --plan` as a process of its own, with the prompt on its command line",
        "0 differ",
        differing,
        f"of {len(every)} differ",
    )


SCENARIOS = (Scenario(plan_everywhere, Amount(40, len(LOCALES), 3, 3), Amount(500, 120, 5, 60)),)
