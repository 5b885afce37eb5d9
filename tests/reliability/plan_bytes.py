"""Whether a plan is the same bytes wherever, whenever and under whatever settings of the machine it is made.

One process for each combination of hash seed, time zone, locale and checkout plans every prompt several times. The
missing locale is one that no machine has; ``PYTHONUTF8=0`` makes Python believe the locale that bytes are ASCII.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from processes import UPBEAT, environment
from repositories import FILES, git, make_repository

from .plan_bytes_worker import without
from .promise import Seen

PART = "Determinism"

TESTS = Path(__file__).resolve().parents[1]
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
    "shop/cart.py",
    "模块/文件.py",
    "shop/../shop/retry.py",
    "../outside.py",
    "docs/",
    "shop/没有.py",
    "./README.md:3",
)
SAID = (
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
    """What a process is started with. ``given`` is the repository's path as it is given, empty when it is found."""

    seed: str
    zone: str
    locale: Mapping[str, str]
    place: Path
    given: str = ""

    def environment(self, home: Path) -> dict[str, str]:
        more = {"PYTHONHASHSEED": self.seed, "TZ": self.zone, "PYTHONPATH": str(TESTS), **self.locale}
        return environment(home, {name: value for name, value in more.items() if value})


def look(full: bool) -> Iterator[Seen]:
    with tempfile.TemporaryDirectory(prefix="upbeat-plans-") as folder:
        work = Path(folder)
        repository = make_repository(work / PLACES[0], {**FILES, **NAMED})
        git(work, "clone", "-q", str(repository), str(work / PLACES[1]))
        prompts = some_prompts(500 if full else 40)
        every = [Combination(*one) for one in product(SEEDS, ZONES, LOCALES, [work / name for name in PLACES])]
        found = every if full else sample(every, len(LOCALES))
        yield in_process(work, prompts, found, 3, "whatever")
        given = [
            Combination(one.seed, one.zone, one.locale, work, str(one.place)) for one in found[:: 5 if full else 3]
        ]
        yield in_process(work, prompts, given, 1, "with the repository given by its path, but for that path, whatever")
        yield real_processes(work, prompts, sample(found, 60 if full else 3))


def some_prompts(most: int) -> list[str]:
    """Recorded prompts and made-up ones with paths, in English and Chinese; always the same."""
    recorded = [
        line.split("\t", 1)[1]
        for name in ("labelled.tsv", "held_out.tsv")
        for line in (RECORDED / name).read_text(encoding="utf-8").splitlines()
        if "\t" in line
    ]
    made = [words.format(path) for words, path in product(SAID, PATHS)]
    chance = random.Random(7)
    return [*made[: most // 2], *chance.sample(recorded, most - len(made[: most // 2]))]


def sample(every: Sequence[Combination], most: int) -> list[Combination]:
    """Some of all combinations; every locale, and at least two seeds, zones and places, are among them."""
    found: list[Combination] = []
    chance = random.Random(3)
    while len(found) < min(most, len(every)):
        locale = LOCALES[len(found) % len(LOCALES)]
        found.append(chance.choice([one for one in every if one.locale == locale and one not in found]))
    return found


def in_process(work: Path, prompts: list[str], every: Sequence[Combination], runs: int, how: str) -> Seen:
    """Plan all prompts in each combination, ``runs`` times."""
    file = work / "prompts.jsonl"
    file.write_text("".join(json.dumps(prompt) + "\n" for prompt in prompts), encoding="utf-8")

    def hashes(one: Combination) -> list[list[str]]:
        command = [sys.executable, "-m", "reliability.plan_bytes_worker", str(file), str(runs)]
        done = subprocess.run(
            [*command, *([one.given] if one.given else [])],
            cwd=one.place,
            env=one.environment(work),
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            print(one, done.stderr, file=sys.stderr)
        return [line.split() for line in done.stdout.splitlines()]

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        told = [line for lines in pool.map(hashes, every) for line in lines]
    whole = [line for line in told if len(line) == len(prompts)]
    differing = [prompt for prompt, *seen in zip(prompts, *whole, strict=True) if len(set(seen)) != 1]
    for prompt in differing[:5]:
        print(f"differs: {prompt!r}", file=sys.stderr)
    plans = sum(map(len, whole))
    missing = len(every) * runs * len(prompts) - plans
    return Seen(
        f"the plan for a prompt is the same bytes {how} the hash seed, time zone, locale, order and checkout",
        "0 prompts with two plans",
        f"{len(differing)} of {len(prompts)} prompts with two plans, {plans:,} plans in {len(every)} processes"
        + (f", {missing:,} plans missing" if missing else ""),
        not differing and not missing,
    )


def real_processes(work: Path, prompts: list[str], every: Sequence[Combination]) -> Seen:
    """A prompt each, planned by ``upbeat prepare --plan`` itself in two combinations."""
    first = every[0]

    def printed(one: Combination, prompt: str) -> tuple[int, str]:
        command = [UPBEAT, "prepare", "--plan", "--prompt", prompt]
        done = subprocess.run(command, cwd=one.place, env=one.environment(work), capture_output=True, check=False)
        return done.returncode, without("", done.stdout)

    chance = random.Random(5)
    pairs = [(one, chance.choice(prompts)) for one in every]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        here = list(pool.map(lambda pair: printed(*pair), pairs))
        there = list(pool.map(lambda pair: printed(first, pair[1]), pairs))
    differing = [pair for pair, one, other in zip(pairs, here, there, strict=True) if one != other or one[0] != 0]
    for pair in differing[:5]:
        print(f"differs: {pair}", file=sys.stderr)
    return Seen(
        "so it is for `upbeat prepare --plan` as a process of its own, with the prompt on its command line",
        "0 differ",
        f"{len(differing)} of {len(pairs)} differ",
        not differing,
    )
