"""Text from outside stays data: it never escapes a frame, acts on a terminal or hides from a reader."""

from __future__ import annotations

from collections.abc import Iterator

from .frames import fuzzed, nonces
from .promise import Seen
from .terminals import first_of, of_commands, of_turns

PART = "Text stays data"
SEED = 7


def look(full: bool) -> Iterator[Seen]:
    """Attack models, then terminals."""
    fuzz, read = fuzzed(100_000 if full else 1_500, SEED)
    yield Seen(
        "Nothing that a tool, a file, a name or an agent says gets out of its frame, opens one, or stands outside of "
        "every frame as more than a word of one line",
        "0 escapes of 100,000 hostile texts",
        f"{len(read.faults)} of {fuzz.made:,}, in {read.answers:,} texts with {read.frames:,} frames, "
        f"{read.planted:,} with something hostile in them{first_of(read.faults)}",
        not read.faults and read.frames > 0 and read.planted > read.answers // 10,
    )
    different, answers = nonces(5_000 if full else 200)
    yield Seen(
        "Each answer to the same event has another nonce, from the system's source of chance",
        "no nonce twice",
        f"{different:,} nonces in {answers:,} answers to one event",
        different == answers,
    )
    for claim, way in (
        (
            "Nothing in a stored record, a repository or a command line acts on the terminal of who asks",
            of_commands,
        ),
        ("Nothing that Codex, a model or a tool says acts on the terminal of codex-auto", of_turns),
    ):
        streams, watch = way(50_000 if full else 700, SEED)
        yield Seen(
            claim,
            "0 effects of 50,000 streams of control, direction and invisible characters",
            f"{len(watch.faults)} of {streams.made:,} streams, {watch.outputs:,} outputs, {watch.characters:,} "
            f"characters{first_of(watch.faults)}",
            not watch.faults and watch.characters > 0,
        )
