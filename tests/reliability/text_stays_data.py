"""Text from outside stays data: it never escapes a frame, acts on a terminal or hides from a reader."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from .frames import fuzzed, nonces
from .promise import Scenario, Seen, none_of
from .terminals import of_commands, of_turns

PART = "Text stays data"
SEED = 7


def attack_models(_folder: Path, count: int) -> Iterator[Seen]:
    """Play sessions until ``count`` hostile texts were made."""
    fuzz, read = fuzzed(count, SEED)
    yield none_of(
        "Nothing that a tool, a file, a name or an agent says gets out of its frame, opens one, or stands outside of "
        "every frame as more than a word of one line",
        "0 escapes of 100,000 hostile texts",
        read.faults,
        f"of {fuzz.made:,}, in {read.answers:,} texts with {read.frames:,} frames, "
        f"{read.planted:,} with something hostile in them",
        holds=read.frames > 0 and read.planted > read.answers // 10,
    )


def compare_nonces(_folder: Path, count: int) -> Iterator[Seen]:
    """Answer the same event ``count`` times."""
    different = nonces(count)
    yield Seen(
        "Each answer to the same event has another nonce, from the system's random number generator",
        "no nonce twice",
        f"{different:,} nonces in {count:,} answers to one event",
        different == count,
    )


def attack_terminals(folder: Path, count: int) -> Iterator[Seen]:
    """Print ``count`` streams by each of both programs."""
    for claim, (streams, watch) in {
        "Nothing in a stored record, a repository or a command line affects the user's terminal": of_commands(
            folder, count, SEED
        ),
        "Nothing that Codex, a model or a tool says acts on the terminal of codex-auto": of_turns(count, SEED),
    }.items():
        yield none_of(
            claim,
            "0 effects of 50,000 streams of control, direction and invisible characters",
            watch.faults,
            f"of {streams.made:,} streams, {watch.outputs:,} outputs, {watch.characters:,} characters",
            holds=watch.characters > 0,
        )


SCENARIOS = (
    Scenario(attack_models, 1_500, 100_000),
    Scenario(compare_nonces, 200, 5_000),
    Scenario(attack_terminals, 700, 50_000),
)
