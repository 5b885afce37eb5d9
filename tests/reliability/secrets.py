"""Whether planted secrets come through, whether real code stays as it is, and what the worst texts cost."""

from __future__ import annotations

import importlib.util
import statistics
import sysconfig
import tempfile
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

from .promise import Seen
from .secret_sinks import Sinks, run_turns

PART = "Secrets"
SEED = 20_261_122
ALL, SOME = 10_000, 600
LEAST = {STRUCTURED: 0.995, ASSIGNED: 0.97}
MOST_FLAGGED = 0.001
MOST_SECONDS = 0.5
DISTRIBUTIONS = (
    *("pydantic", "rich", "prompt_toolkit", "hypothesis", "pip", "mcp", "dulwich", "pygments", "_pytest", "starlette"),
)
"""What is installed for development, by the name that it is imported by."""
NOT_CODE = {"site-packages", "test", "tests", "idle_test", "__pycache__"}


def look(full: bool) -> Iterator[Seen]:
    """Plant, read code, be slow on purpose, and run whole turns."""
    yield from _planted(list(cases(SEED, ALL if full else SOME)))
    yield from _engines(list(cases(SEED + 1, ALL if full else SOME)))
    yield from _real_code(full)
    yield _adversarial(full)
    yield from _sinks(full)


def comes_through(case: Case) -> bool:
    """Whether eight characters in a row of the secret are in what is left of the text."""
    text = sanitize_text(case.text).text
    return leaks(case.secret, truncate_to_limit(text, TextLimit(case.limit))[0] if case.limit else text)


def _planted(planted: list[Case]) -> Iterator[Seen]:
    whole = Counter(case.kind for case in planted)
    leaked = Counter(case.kind for case in planted if comes_through(case))
    held = {kind: 1 - leaked[kind] / whole[kind] for kind in whole}
    figures = {kind: f"{held[kind]:.2%} of {whole[kind]:,} held back" for kind in whole}
    places = len({case.place for case in planted if case.kind == STRUCTURED})
    yield Seen(
        f"A secret of a published format does not come through: {len(SECRET_FORMATS)} rows for {len(set(_kinds()))}"
        f" kinds, tried with {len(templates())} formats that were written apart from them, in {places} places (quoted,"
        " encoded, wrapped, split by what nobody sees, across a cut)",
        "99.5 %, of each no run of eight characters",
        figures[STRUCTURED],
        held[STRUCTURED] >= LEAST[STRUCTURED],
    )
    yield Seen(
        "A secret that is assigned to a telling name does not come through",
        "97 %, of each no run of eight characters",
        figures[ASSIGNED],
        held[ASSIGNED] >= LEAST[ASSIGNED],
    )
    yield Seen(
        "A secret without a format and without a name beside it is not looked for: it looks like a hash",
        "published",
        figures[FREE],
        True,
    )


def _kinds() -> Iterator[str]:
    yield from (rule.kind for rule in SECRET_FORMATS)


def _engines(planted: list[Case]) -> Iterator[Seen]:
    engine = load_re2_engine()
    if engine is None:
        return
    texts = [strip_controls(case.text) for case in planted]
    other = sum(find_secrets(ScannedText(text, engine)) != find_secrets(ScannedText(text, None)) for text in texts)
    yield Seen(
        "With RE2 and without it the same is found",
        "0 differ",
        f"{other} differ of {len(texts):,} planted texts",
        other == 0,
    )


def _real_code(full: bool) -> Iterator[Seen]:
    standard = Path(sysconfig.get_paths()["stdlib"])
    installed = [folder for name in DISTRIBUTIONS if (folder := _folder(name))]
    lines, flagged = _flagged(standard, 1 if full else 12)
    yield Seen(
        "Real code stays as it is: the standard library of this Python",
        "under 0.1 % of its lines",
        f"{flagged / lines:.4%}: {flagged} of {lines:,} lines",
        flagged / lines < MOST_FLAGGED,
    )
    counts = [_flagged(folder, 1 if full else 12) for folder in installed]
    lines, flagged = (sum(numbers) for numbers in zip(*counts, strict=True))
    worst = max(flagged / lines for lines, flagged in counts)
    yield Seen(
        f"Real code stays as it is: {len(installed)} installed projects ({', '.join(DISTRIBUTIONS)})",
        "under 0.1 % of the lines of each",
        f"{flagged / lines:.4%}: {flagged} of {lines:,} lines; the worst of them {worst:.4%}",
        len(installed) == len(DISTRIBUTIONS) and worst < MOST_FLAGGED,
    )


def _folder(name: str) -> Path | None:
    found = importlib.util.find_spec(name)
    return Path(found.origin).parent if found and found.origin else None


def _flagged(folder: Path, every: int) -> tuple[int, int]:
    """Lines of Python below ``folder`` (of every so manieth file), and those that redaction changes."""
    lines = flagged = 0
    for path in sorted(folder.rglob("*.py"))[::every]:
        if not NOT_CODE.isdisjoint(path.relative_to(folder).parts):
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        before, after = text.split("\n"), redact(text, preserve_lines=True).text.split("\n")
        lines += len(before)
        flagged += sum(one != other for one, other in zip(before, after, strict=True))
    return lines, flagged


def _adversarial(full: bool) -> Seen:
    """The processor's time; of two runs the faster one where the first was slow, for others use the machine too."""
    sanitize_text("a" * 5000)
    seconds: dict[str, float] = {}
    for number, (name, make) in enumerate(adversarial()):
        if full or number % 12 == 0:
            text = make()
            seconds[name] = _seconds(text)
            for _ in range(3):
                if seconds[name] > MOST_SECONDS * 0.8:
                    seconds[name] = min(seconds[name], _seconds(text))
    worst = max(seconds, key=lambda name: seconds[name])
    median = statistics.median(seconds.values())
    return Seen(
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


def _sinks(full: bool) -> Iterator[Seen]:
    with tempfile.TemporaryDirectory() as folder:
        sinks = run_turns(Path(folder), full)
        leaked = sinks.leaked()
    yield _seen_in(sinks, leaked)


def _seen_in(sinks: Sinks, leaked: list[str]) -> Seen:
    size = sum(map(len, sinks.texts.values()))
    read = ", ".join(f"{name} {len(text):,}" for name, text in sinks.texts.items())
    return Seen(
        "Nothing that upbeat writes or says has a planted secret in it; it has no dashboard and sends no telemetry",
        f"0 of {len(sinks.planted)}",
        f"{len(leaked)} seen in {size:,} bytes ({read}){'; ' + ', '.join(leaked[:5]) if leaked else ''}",
        not leaked,
    )
