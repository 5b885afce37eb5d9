"""Whether anything that upbeat prints acts on the terminal, with pyte as the terminal.

Streams of control sequences, direction marks, tags and zero-width characters stand in every text that a tool, a model,
a file, a command line or a stored record can hold. What comes out is shown on a screen that has been written on before:
only the cells below that may change, and nothing else of the terminal.
"""

from __future__ import annotations

import os
import random
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass, field
from io import BytesIO, StringIO, TextIOWrapper
from itertools import islice
from pathlib import Path
from unittest import mock

import pyte

from upbeat.adapters.cli.main import main
from upbeat.adapters.codex.transport import base as codex
from upbeat.adapters.codex_auto.app import main as codex_auto
from upbeat.adapters.codex_auto.app.json_lines import JsonLinesPrinter
from upbeat.adapters.codex_auto.app.loop import join_segments
from upbeat.adapters.codex_auto.texts import load_texts
from upbeat.adapters.codex_auto.view.show import TurnPrinter
from upbeat.adapters.system.clock import SystemClock
from upbeat.adapters.system.journal.store import SqliteJournal
from upbeat.core.contract.codes import LimitCode
from upbeat.core.contract.effect import Explanation
from upbeat.core.contract.report import Limit
from upbeat.core.journal.record import Record

from .hostile_texts import IGNORABLE, unseen

COLUMNS, ROWS, WRITTEN = 250, 600, 5
SENTINEL = "written before"
STYLED = re.compile(r"\x1b\[[0-9;]{0,20}m")
"""The one kind of sequence that codex-auto's printer has of its own."""
_INVISIBLE = tuple(chr(code) for first, last in IGNORABLE for code in {first, last})
_FINALS = "ABCDEFGHJKLMPSTXZ`abcdefghlmnpqrstu@{|}~"


WITH_A_NAME = (
    *("", "why", "log", "prepare", "index", "schema", "install", "hook", "backtest", "workflow show", "features show"),
    *("rules show", "rules remove", "tools call", "learned show"),
)
"""Commands, and none, that are given a word that they do not know."""


class Streams:
    """Makes streams, always the same for a seed."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.made = 0

    def __call__(self, most: int = 5) -> str:
        """One stream of up to ``most`` sequences between words."""
        self.made += 1
        pieces = []
        for _ in range(self.chance.randint(1, most)):
            pieces += [self._sequence(), self.chance.choice(("word", "a\nb", " ", "", "见", "x" * 30))]
        return "".join(pieces)

    def name(self) -> str:
        """A stream that can be the name of a file."""
        return _utf8(self(2).replace("/", "").replace("\0", "").replace("\n", "")[:40]) or "x"

    def _sequence(self) -> str:
        chance = self.chance
        match chance.randrange(9):
            case 0 | 1:
                numbers = ";".join(str(chance.randint(0, 1100)) for _ in range(chance.randint(0, 3)))
                final = chance.choice(_FINALS)
                return chance.choice(("\x1b[", "\x9b")) + chance.choice(("", "?", ">", "!", "=")) + numbers + final
            case 2:
                order = chance.choice(("0;owned", "2;owned", "8;;http://x", "52;c;b3duZWQ=", "4;1;red", "9;hello", ""))
                return chance.choice(("\x1b]", "\x9d")) + order + chance.choice(("\x07", "\x1b\\", "\x9c", ""))
            case 3:
                begin = chance.choice(("\x1bP", "\x1b_", "\x1b^", "\x1bX", "\x90", "\x98", "\x9e", "\x9f"))
                return begin + "q\x41" + chance.choice(("\x1b\\", "\x9c", ""))
            case 4:
                return "\x1b" + chance.choice((*"c78DEHMZ=>N", "#8", "(0", ")B", "%G"))
            case 5:
                return chr(chance.choice((*range(1, 9), *range(11, 32), *range(0x7F, 0xA0), 0xD800, 0xDCFF)))
            case 6:
                return chance.choice(("\u202e", "\u2066", "\u2069", "\u202b", "\u200f", "\u061c", "\u2028", "\u2029"))
            case 7:
                return "".join(chr(0xE0000 + chance.randint(0x20, 0x7F)) for _ in range(5))
            case _:
                return chance.choice(_INVISIBLE)


class Watched(pyte.HistoryScreen):
    """A screen that has been written on, and remembers whether anything was sent back to the program."""

    def __init__(self) -> None:
        super().__init__(COLUMNS, ROWS)
        self.sent: list[str] = []
        self.set_mode(pyte.modes.LNM)
        self.stream = pyte.Stream(self)
        self.stream.feed(f"{SENTINEL}\n" * WRITTEN)

    def write_process_input(self, data: str) -> None:
        self.sent.append(data)

    def modes(self) -> tuple[object, ...]:
        """All of the terminal but its cells and the row of its cursor."""
        sets = self.charset, self.g0_charset, self.g1_charset, self.margins, tuple(self.savepoints)
        texts = self.title, self.icon_name, tuple(self.sent)
        return frozenset(self.mode), frozenset(self.tabstops), sets, texts, self.cursor.attrs, self.cursor.hidden


def acted(text: str, *, is_styled: bool = False) -> list[str]:
    """What ``text`` does to a terminal beside putting characters below what stands there."""
    invisible = unseen(STYLED.sub("", text) if is_styled else text)
    effects = [f"unseen: {invisible[:10]!a}"] if invisible else []
    lines = iter(text.split("\n"))
    while screenful := list(islice(lines, 100)):
        effects += _shown([line[: COLUMNS * 4] for line in screenful], is_styled=is_styled)
    return effects


def _shown(lines: list[str], *, is_styled: bool) -> list[str]:
    screen = Watched()
    before = screen.modes()
    try:
        screen.stream.feed("\n".join(lines) + "\n")
    except (TypeError, ValueError, IndexError) as error:  # an order that pyte does not know is one all the same
        return [f"an order to the terminal: {error}"]
    effects = [] if screen.modes() == before else ["the terminal is in another mode"]
    above = ["".join(cell.data for _, cell in sorted(screen.buffer[row].items())) for row in range(WRITTEN)]
    if above != [SENTINEL] * WRITTEN or screen.history.top:
        effects.append("what was written before has changed")
    if screen.cursor.x != 0:
        effects.append("the cursor is not at the beginning of a line")
    if not is_styled:
        styles = {cell._replace(data=" ") for row in screen.buffer.values() for cell in row.values()}
        if styles - {screen.default_char._replace(data=" ")}:
            effects.append("cells have another style")
        if (seen := _letters(screen)) != (meant := "".join("".join(lines).split())):
            effects.append(f"shown are {seen[:60]!a}, meant were {meant[:60]!a}")
    return effects


def _letters(screen: Watched) -> str:
    """All that stands on the screen below what was written before, without blanks."""
    rows = (screen.buffer[row] for row in range(WRITTEN, screen.cursor.y + 1))
    return "".join("".join(cell.data for _, cell in sorted(row.items())) for row in rows).replace(" ", "")


# What is printed


def of_codex(fuzz: Streams) -> Iterator[codex.TurnEvent]:
    """One event of each kind that codex-auto shows, full of what a model, a tool or a file may say."""
    changes = tuple(codex.FileDiff(kind, f"/repo/{fuzz()}", fuzz()) for kind in ("add", "update", "delete", fuzz()))
    item = fuzz()
    yield codex.Delta(item, fuzz())
    yield codex.Delta(item, fuzz())
    yield codex.Message(fuzz(), item)
    yield codex.Message(f"# {fuzz()}\n\n- `{fuzz()}`\n\n```\n{fuzz()}\n```\n[{fuzz()}](http://{fuzz.name()})")
    yield codex.Reasoning(fuzz())
    yield codex.CommandFinished(item, f"/bin/bash -lc '{fuzz()}'", fuzz(), 3)
    yield codex.FilesChanged(item, changes)
    yield codex.ToolCall(item, fuzz(), fuzz())
    yield codex.WarningIssued(fuzz())
    yield codex.Reconnecting(fuzz())
    yield codex.PlanUpdated((codex.PlanStep(fuzz(), fuzz()),))
    yield codex.ApprovalDecided(
        codex.ApprovalRequest(codex.ApprovalKind.COMMAND, fuzz()), codex.ApprovalDecision.DECLINE, is_by_person=False
    )


class Tty(StringIO):
    """A terminal, as far as a program can tell."""

    def isatty(self) -> bool:
        return True


def codex_auto_shows(fuzz: Streams, language: str, *, is_one: bool) -> tuple[str, str]:
    """What codex-auto prints of one turn: the answer's stream, and the other one."""
    answer, aside = Tty(), Tty()
    show = TurnPrinter(answer, answer if is_one else aside, load_texts(language), has_color=is_one, root="/repo")
    show.show_limits([Limit.of(LimitCode.TOOL_FAILED, fuzz())])
    show.begin_turn()
    for event in of_codex(fuzz):
        show.show_event(event)
    show.show_continuation(fuzz())
    show.show_failure(codex.Failed(codex.FailureReason.TURN_FAILED, fuzz()), fuzz())
    show.print_lines([fuzz(), join_segments([fuzz(), fuzz()], 80)])
    return answer.getvalue(), aside.getvalue()


class TtyBytes(BytesIO):
    """A terminal that takes bytes."""

    def isatty(self) -> bool:
        return True


def codex_auto_tells(fuzz: Streams) -> str:
    """What ``codex-auto --json`` prints at a terminal: Codex's lines among it."""
    lines, aside = TtyBytes(), StringIO()
    show = JsonLinesPrinter(aside, aside, load_texts("en"), lines_stream=lines)
    show.show_event(codex.RawLine((f'{{"type":"x","text":"{_in_json(fuzz())}"}}').encode("utf-8", "replace")))
    show.show_continuation(fuzz())
    return lines.getvalue().decode() + aside.getvalue()


def _in_json(text: str) -> str:
    """``text`` inside a JSON string as Codex writes it: only what JSON asks for is escaped."""
    return "".join(f"\\u{ord(char):04x}" if char < " " or char in '"\\' else char for char in text)


def store(folder: Path, fuzz: Streams, records: int) -> None:
    """Fill the journal with records that hold a stream wherever text from outside goes."""
    journal = SqliteJournal(folder, SystemClock())
    for number in range(records):
        explanation = Explanation(fuzz(), fuzz(), fuzz(), {fuzz(): fuzz()}, fuzz())
        record = Record(
            at="2026-01-02T03:04:05.678Z",
            event=fuzz(2),
            client=fuzz(1),
            session_id=f"s{number % 50}{fuzz(1)}",
            agent_id=fuzz(1),
            root="/",
            event_fields={"prompt": fuzz(), "paths": [fuzz(), fuzz()], fuzz(1): fuzz()},
            explanations=(explanation,),
            effects=({"kind": fuzz(1), "text": fuzz(), "part": fuzz(1)},),
            turn={"tools": [fuzz()]},
        )
        with journal.transaction() as transaction:
            transaction.append(record)


def commands(folder: Path, fuzz: Streams, records: int) -> Iterator[tuple[str, ...]]:
    """Yield command lines: what is stored, shown in every way, and words that are no commands, names or options."""
    for line in (
        *(f"log --last {records}", f"log --json --last {records}", "log verify", "status --repo /repo"),
        *("status --json --repo /repo", "stats", "stats --json"),
        *(f"why {number}{how}" for number in range(1, records, max(records // 60, 1)) for how in ("", " --json")),
        *(f"{name} list" for name in ("rules", "features", "workflow", "tools", "learned")),
        *(f"{name} list --json" for name in ("rules", "features", "workflow")),
        *("rules check", "workflow check", "trust --yes", "rules show odd"),
    ):
        yield tuple(line.split())
    for _ in range(10):
        for words in WITH_A_NAME:
            yield (*words.split(), fuzz(2))
        yield ("prepare", "--text", "--plan", "--prompt", _utf8(fuzz()))
        yield ("prepare", "--plan", "--prompt", _utf8(fuzz()), "--repo", f"{folder}/{fuzz.name()}")
        yield ("exec", "--", f"./{fuzz.name()}")


def _utf8(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def repository(folder: Path, fuzz: Streams) -> None:
    """A project whose rules, workflows, prompts, settings and features are streams, in name and in content."""
    for place, ending, text in (
        (".upbeat/rules", ".md", "---\nevent: before-tool\naction: deny\ndescription: {0}\npaths: {1}\n---\n{2}\n"),
        (".claude/commands", ".md", "{0}"),
        (".cursor/rules", ".mdc", "---\nalwaysApply: true\n---\n{0}"),
        ("specs/features/in-progress/odd", ".md", "---\nfeature: {0}\n---\n- [ ] {1}\n- [x] {2}\n"),
    ):
        (folder / place).mkdir(parents=True)
        for name in ("odd", fuzz.name()):
            _write(folder / place / f"{name}{ending}", text.format(fuzz(), fuzz(1), fuzz()))
    _write(folder / "specs/features/in-progress/odd/tasks.md", f"---\nworkflow: {fuzz(1)}\n---\n- [ ] {fuzz()}\n")
    _write(folder / ".upbeat/workflows.toml", f'[workflow."{_in_json(fuzz())}"]\nsteps = ["{_in_json(fuzz())}"]\n')


def _write(path: Path, text: str) -> None:
    path.write_bytes(text.encode("utf-8", "replace"))


@contextmanager
def _at_home(folder: Path) -> Iterator[None]:
    """Let this process have its home and its working directory in ``folder``."""
    with chdir(folder), mock.patch.dict(os.environ, {"HOME": str(folder)}):
        for name in [name for name in os.environ if name.startswith(("XDG_", "CI_", "LC_", "LANG", "COLUMNS"))]:
            del os.environ[name]
        yield


def printed(program: Callable[[tuple[str, ...]], object], words: tuple[str, ...]) -> str:
    """Return all that ``program`` prints, on both streams, as a terminal would get it."""
    out, data = BytesIO(), TextIOWrapper(BytesIO(b""))
    stream = TextIOWrapper(out, "utf-8", errors="surrogatepass", write_through=True)
    with redirect_stdout(stream), redirect_stderr(stream), mock.patch.object(sys, "stdin", data), suppress(SystemExit):
        program(words)
    return out.getvalue().decode("utf-8", "surrogatepass")


@dataclass
class Watch:
    """What was printed so far, and what it did."""

    outputs: int = 0
    characters: int = 0
    faults: list[str] = field(default_factory=list)

    def take(self, where: str, text: str, *, is_styled: bool = False) -> None:
        self.outputs += 1
        self.characters += len(text)
        self.faults += [f"{where}: {fault}" for fault in acted(text, is_styled=is_styled)]


def of_commands(folder: Path, streams: int, seed: int) -> tuple[Streams, Watch]:
    """Print a journal and a repository that hold so many streams, with every command."""
    fuzz, watch = Streams(seed), Watch()
    repository(folder, fuzz)
    records = max(streams // 19, 20)
    store(folder / ".local/state/upbeat", fuzz, records)
    with _at_home(folder):
        for words in commands(folder, fuzz, records):
            watch.take(f"upbeat {ascii(' '.join(words))[:60]}", printed(main, words))
        for words in ((fuzz(2), fuzz(2)), ("--session", fuzz(2)), ("--repo", fuzz(2), "--plan", "x"), (fuzz(2),)):
            watch.take("codex-auto", printed(codex_auto.main, words))
    return fuzz, watch


def of_turns(streams: int, seed: int) -> tuple[Streams, Watch]:
    """Show turns of Codex in which so many streams stand."""
    fuzz, watch = Streams(seed), Watch()
    while fuzz.made < streams:
        for language in ("en", "zh"):
            both, _ = codex_auto_shows(fuzz, language, is_one=True)
            watch.take("codex-auto at a terminal", both, is_styled=True)
            for text in codex_auto_shows(fuzz, language, is_one=False):
                watch.take("codex-auto on two streams", text)
        watch.take("codex-auto --json", codex_auto_tells(fuzz))
    return fuzz, watch
