"""Whether planted secrets come through, whether real code stays as it is, and what the worst texts cost."""

from __future__ import annotations

import importlib.util
import statistics
import sysconfig
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from planted.adversarial import SIZE, adversarial
from planted.formats import leaks, templates
from planted.generator import ASSIGNED, FREE, STRUCTURED, Case, cases

from upbeat.core.sanitize.control_chars import strip_controls
from upbeat.core.sanitize.redact import find_secrets, redact
from upbeat.core.sanitize.secrets.formats import SECRET_FORMATS
from upbeat.core.sanitize.secrets.scan import ScannedText, load_re2_engine
from upbeat.core.sanitize.text import sanitize_text
from upbeat.core.sanitize.truncate import TextLimit, truncate_to_limit

from .promise import Scenario, Seen, none_of
from .secret_sinks import run_turns

PART = "Secrets"
SEED = 20_261_122
LEAST_HELD_BACK = {STRUCTURED: 0.995, ASSIGNED: 0.97}
MOST_FLAGGED = 0.001
MOST_SECONDS = 0.5
DISTRIBUTIONS = (
    *("pydantic", "rich", "prompt_toolkit", "hypothesis", "pip", "mcp", "dulwich", "pygments", "_pytest", "starlette"),
)
"""What is installed for development, by the name that it is imported by."""
NOT_CODE = {"site-packages", "test", "tests", "idle_test", "__pycache__"}


def comes_through(case: Case) -> bool:
    """Whether eight characters in a row of the secret are in what is left of the text."""
    text = sanitize_text(case.text).text
    return leaks(case.secret, truncate_to_limit(text, TextLimit(case.limit))[0] if case.limit else text)


def hold_back(_folder: Path, count: int) -> Iterator[Seen]:
    """Clean ``count`` texts with a planted secret each."""
    planted = list(cases(SEED, count))
    total = Counter(case.kind for case in planted)
    leaked = Counter(case.kind for case in planted if comes_through(case))
    held_back = {kind: 1 - leaked[kind] / total[kind] for kind in total}
    figures = {kind: f"{held_back[kind]:.2%} of {total[kind]:,} held back" for kind in total}
    kinds = {secret_format.kind for secret_format in SECRET_FORMATS}
    places = {case.place for case in planted if case.kind == STRUCTURED}
    yield Seen(
        f"A secret of a published format does not come through: {len(SECRET_FORMATS)} rows for {len(kinds)} kinds, "
        f"tried with {len(templates())} independently written formats, in {len(places)} places (quoted, "
        "encoded, wrapped, split by invisible characters, across a truncation)",
        "99.5 %, of each no run of eight characters",
        figures[STRUCTURED],
        held_back[STRUCTURED] >= LEAST_HELD_BACK[STRUCTURED],
    )
    yield Seen(
        "A secret that is assigned to a telling name does not come through",
        "97 %, of each no run of eight characters",
        figures[ASSIGNED],
        held_back[ASSIGNED] >= LEAST_HELD_BACK[ASSIGNED],
    )
    yield Seen(
        "A secret without a format and without a name beside it is not looked for: it looks like a hash",
        "published",
        figures[FREE],
        True,
    )


def compare_engines(_folder: Path, count: int) -> Iterator[Seen]:
    """Redact ``count`` texts with both scanners, where RE2 is installed."""
    if engine := load_re2_engine():
        texts = [strip_controls(case.text) for case in cases(SEED + 1, count)]
        differing = sum(
            find_secrets(ScannedText(text, engine)) != find_secrets(ScannedText(text, None)) for text in texts
        )
        figure = f"{differing} differ of {len(texts):,} planted texts"
        yield Seen("With RE2 and without it the same is found", "0 differ", figure, differing == 0)


def read_real_code(_folder: Path, every: int) -> Iterator[Seen]:
    """Redact every so manieth file of what is installed."""
    lines, flagged = _flagged(Path(sysconfig.get_paths()["stdlib"]), every)
    yield Seen(
        "Real code stays as it is: the standard library of this Python",
        "under 0.1 % of its lines",
        f"{flagged / lines:.4%}: {flagged} of {lines:,} lines",
        flagged / lines < MOST_FLAGGED,
    )
    specs = [spec for name in DISTRIBUTIONS if (spec := importlib.util.find_spec(name)) and spec.origin]
    counts = [_flagged(Path(spec.origin or "").parent, every) for spec in specs]
    lines, flagged = (sum(numbers) for numbers in zip(*counts, strict=True))
    worst = max(flagged / lines for lines, flagged in counts)
    yield Seen(
        f"Real code stays as it is: {len(specs)} installed projects ({', '.join(DISTRIBUTIONS)})",
        "under 0.1 % of the lines of each",
        f"{flagged / lines:.4%}: {flagged} of {lines:,} lines; the worst of them {worst:.4%}",
        len(specs) == len(DISTRIBUTIONS) and worst < MOST_FLAGGED,
    )


def _flagged(folder: Path, every: int) -> tuple[int, int]:
    """Return the lines of Python below ``folder``, and those that redaction changes."""
    lines = flagged = 0
    for path in sorted(folder.rglob("*.py"))[::every]:
        if NOT_CODE.isdisjoint(path.relative_to(folder).parts):
            text = path.read_text(encoding="utf-8", errors="replace")
            before, after = text.split("\n"), redact(text, preserve_lines=True).text.split("\n")
            lines += len(before)
            flagged += sum(old != new for old, new in zip(before, after, strict=True))
    return lines, flagged


def clean_adversarial_texts(_folder: Path, every: int) -> Iterator[Seen]:
    """Measure the processor's time for every so manieth text; of some runs the fastest one where the first was slow."""
    sanitize_text("a" * 5000)
    seconds: dict[str, float] = {}
    for name, make in list(adversarial())[::every]:
        text = make()
        seconds[name] = _seconds(text)
        for _ in range(3):
            if seconds[name] > MOST_SECONDS * 0.8:
                seconds[name] = min(seconds[name], _seconds(text))
    worst = max(seconds, key=lambda name: seconds[name])
    median = statistics.median(seconds.values())
    yield Seen(
        "No text makes cleaning slow: strip, redact and screen of a megabyte that is made to make them slow",
        f"under {MOST_SECONDS * 1000:.0f} ms of one core",
        f"{seconds[worst] * 1000:.0f} ms at most ({worst}), {median * 1000:.0f} ms in the middle,"
        f" of {len(seconds)} texts of {SIZE:,} characters",
        seconds[worst] < MOST_SECONDS,
    )


def _seconds(text: str) -> float:
    began = time.process_time()
    sanitize_text(text)
    return time.process_time() - began


def read_sinks(folder: Path, is_whole: bool) -> Iterator[Seen]:
    """Run turns full of secrets, and read everything that was written or said."""
    sinks = run_turns(folder, is_whole)
    size = sum(map(len, sinks.texts.values()))
    read = ", ".join(f"{name} {len(text):,}" for name, text in sinks.texts.items())
    yield none_of(
        "Nothing that upbeat writes or says has a planted secret in it; it has no dashboard and sends no telemetry",
        f"0 of {len(sinks.planted)}",
        sinks.leaked(),
        f"seen in {size:,} bytes ({read})",
    )


SCENARIOS = (
    Scenario(hold_back, 600, 10_000),
    Scenario(compare_engines, 600, 10_000),
    Scenario(read_real_code, 12, 1),
    Scenario(clean_adversarial_texts, 12, 1),
    Scenario(read_sinks, False, True),
)
