"""Payloads of hooks that are broken in every way that bytes can be, made from the recorded ones of both clients.

What they are broken with is in ``malformed.json``: texts, or texts and how often they stand there, one after the other.
Bytes are written as characters of Latin-1. Invariant: the same seed gives the same payloads.
"""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from recorded_hooks import claude_payloads, codex_payloads

_CORPUS = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))


def _texts(section: str) -> tuple[str, ...]:
    """Read a section of the corpus."""
    return tuple(
        entry
        if isinstance(entry, str)
        else "".join(text * times for text, times in zip(entry[::2], entry[1::2], strict=True))
        for entry in _CORPUS[section]
    )


PROMPTS, COMMANDS, AGENTS, TEXTS = map(_texts, ("prompts", "commands", "agents", "texts"))
RAW = tuple(text.encode("latin-1") for text in _texts("raw"))
"""What stands in the place of a value."""
PIECES = tuple(text.encode("latin-1") for text in _texts("pieces"))
"""What is inserted anywhere."""
LONG: tuple[object, ...] = (
    *(unit * (20_000 // len(unit)) for unit in ("a", "仓库 ", "a@", " ", "\n", "x=y;", "((((")),
    'File "a.py", line 1, in f\n' * 800,
    "=" * 20_000 + "!",
    [{}] * 5_000,
    {str(number): number for number in range(3_000)},
)
CLIENTS = ("claude-code", "codex-cli")
DEEP = (50, 900, 990, 1000, 5000, 100_000)
"""Levels of nesting, most of them around the interpreter's own limit."""
LARGE = 10_000_000
HUGE_EVERY, DEEP_EVERY, HANDED_EVERY = 2500, 150, 20
"""Of so many payloads one is of ten megabytes, nested without end, or a call whose input comes back changed."""

STARTS = {"claude-code": "/upbeat:tdd add retries", "codex-cli": "$upbeat:tdd add retries"}
"""Prompts that start a workflow."""
HANDED: dict[str, tuple[str, dict[str, Any]]] = {
    "claude-code": ("Agent", {"subagent_type": "upbeat:tester", "description": "d", "prompt": "write tests"}),
    "codex-cli": ("spawn_agent", {"agent_type": "upbeat:tester", "message": "write tests"}),
}
"""The call for its first step; its prompt is rewritten, and the rest of its input given back."""

SPOKEN_TO = ("UserPromptSubmit", "PreToolUse", "PostToolUse", "SubagentStart", "SubagentStop", "Stop", "SessionStart")
"""Events that upbeat has most to say to."""

LIVELY = {
    **dict.fromkeys(("prompt", "message"), PROMPTS),
    **dict.fromkeys(("subagent_type", "agent_type"), AGENTS),
    "command": COMMANDS,
}
"""Inputs of calls that upbeat has something to say to."""

Bend = Callable[[random.Random, bytes], bytes]


def payloads(client: str, seed: int, count: int, cwd: str) -> Iterator[bytes]:
    """Yield ``count`` payloads of ``client``, most of them broken; the others happen in ``cwd`` or nowhere."""
    chance = random.Random(f"{client} {seed}")
    known = list((claude_payloads if client == "claude-code" else codex_payloads)().values())
    spoken_to = [fields for fields in known if fields["hook_event_name"] in SPOKEN_TO]
    for number in range(1, count + 1):
        fields = copy.deepcopy(chance.choice(spoken_to if chance.random() < 0.6 else known))
        fields |= {"session_id": f"s{chance.randrange(5)}", "cwd": cwd if chance.random() < 0.5 else "/nowhere"}
        if number % HANDED_EVERY == 0:
            yield _handed(chance, client, f"h{number}", cwd)
        elif number % HANDED_EVERY == HANDED_EVERY - 1:
            yield _started(client, f"h{number + 1}", cwd)
        elif number % HUGE_EVERY == 101:
            yield _huge(chance, fields)
        elif number % DEEP_EVERY == 51:
            yield _deep(chance, fields)
        else:
            yield _broken(chance, fields)


def _started(client: str, session: str, cwd: str) -> bytes:
    prompt = {"hook_event_name": "UserPromptSubmit", "session_id": session, "cwd": cwd, "prompt": STARTS[client]}
    return json.dumps(prompt).encode()


def _handed(chance: random.Random, client: str, session: str, cwd: str) -> bytes:
    """The first call of the workflow that was just started, with one value in its input that no client sends."""
    raw: list[bytes] = []
    tool, given = HANDED[client]
    levels = chance.choice((80, 99, 130, 900))
    raw.append(chance.choice((*RAW, b"[" * levels + b"]" * levels)))
    value = chance.choice((_value(chance, raw), "\N{BULLET}0\N{BULLET}", "\N{BULLET}0\N{BULLET}"))
    call = {"hook_event_name": "PreToolUse", "session_id": session, "cwd": cwd, "tool_name": tool, "tool_use_id": "c"}
    return _encoded({**call, "tool_input": {**given, "x": value}}, raw)


def _broken(chance: random.Random, fields: dict[str, Any]) -> bytes:
    raw: list[bytes] = []
    if chance.random() < 0.5:
        _enliven(chance, fields)
    for _ in range(chance.choice((0, 1, 1, 1, 2, 4))):
        _put(chance, fields, _value(chance, raw))
    data = _encoded(fields, raw)
    for _ in range(chance.choice((0, 0, 0, 1, 1, 3))):
        data = chance.choice(BENDS)(chance, data)
    return data


def _enliven(chance: random.Random, fields: dict[str, Any]) -> None:
    """Let it be an event to which there is something to say: what nobody answers breaks nothing."""
    for name in ("prompt", "last_assistant_message"):
        if name in fields:
            fields[name] = chance.choice(PROMPTS)
    given = fields.get("tool_input")
    if isinstance(given, dict):
        for name in sorted(given.keys() & LIVELY.keys()):
            given[name] = chance.choice(LIVELY[name])


def _value(chance: random.Random, raw: list[bytes]) -> object:
    """A value that no client sends there: a wrong type, a hostile text, or bytes that are no JSON."""
    kind = chance.randrange(6)
    if kind < 3:
        return chance.choice(TEXTS)
    if kind == 3:
        return chance.choice(
            (None, True, False, 0, -1, 2**63, 1.5, [], {}, [None], {"": ""}, [[], {}], {"a": {"b": 1}})
        )
    if kind == 4:
        return copy.deepcopy(chance.choice(LONG))
    raw.append(chance.choice(RAW))
    return f"\N{BULLET}{len(raw) - 1}\N{BULLET}"


def _put(chance: random.Random, place: Any, value: object) -> None:
    """Change, remove or add one value, in any depth."""
    while True:
        names = list(place) if isinstance(place, dict) else list(range(len(place)))
        name = chance.choice(names) if names else None
        if name is not None and isinstance(place[name], dict | list) and place[name] and chance.random() < 0.6:
            place = place[name]
            continue
        break
    act = chance.random()
    if isinstance(place, dict) and act < 0.15:
        place[chance.choice((*TEXTS, "k" * 100_000))] = value
    elif name is not None and act < 0.25:
        del place[name]
    elif name is not None:
        place[name] = value


def _encoded(fields: dict[str, Any], raw: list[bytes]) -> bytes:
    text = json.dumps(fields, ensure_ascii=False)
    data = text.encode("utf-8", "surrogatepass")
    for number, piece in enumerate(raw):
        data = data.replace(f'"\N{BULLET}{number}\N{BULLET}"'.encode(), piece)
    return data


def _huge(chance: random.Random, fields: dict[str, Any]) -> bytes:
    """Ten megabytes of one thing, at the place where a client puts what is long."""
    piece = chance.choice(
        ("x", "a b\n", "仓", "rm -rf / ; ", "'", '{"a":', "[", "\x00", "\ud800", "a.py:1 ", "<!--", "=")
    )
    text = piece * (LARGE // (len(json.dumps(piece, ensure_ascii=False).encode("utf-8", "surrogatepass")) - 2))
    name = next(
        (name for name in ("tool_response", "prompt", "tool_input", "last_assistant_message") if name in fields), "x"
    )
    inner = fields.get(name)
    where = next((key for key in ("stdout", "command", "content") if isinstance(inner, dict) and key in inner), None)
    if where:
        fields[name][where] = text
    else:
        fields[chance.choice((name, text))] = text
    return _encoded(fields, [])


def _deep(chance: random.Random, fields: dict[str, Any]) -> bytes:
    """Nested as JSON, as the text of JSON, or both, at any place."""
    levels = chance.choice(DEEP) + chance.randrange(-12, 12)
    opened, closed = chance.choice((("[", "]"), ('{"a":', "}")))
    text = opened * levels + "1" + closed * levels
    if chance.random() < 0.4:
        _put(chance, fields, text)
        return _encoded(fields, [])
    _put(chance, fields, "\N{BULLET}0\N{BULLET}")
    data = _encoded(fields, [text.encode()])
    return chance.choice((data, data, text.encode(), data[: -levels // 2]))


def _cut(chance: random.Random, data: bytes) -> bytes:
    return data[: chance.randrange(len(data) + 1)]


def _flip(chance: random.Random, data: bytes) -> bytes:
    broken = bytearray(data)
    for _ in range(chance.randrange(1, 9)):
        if broken:
            broken[chance.randrange(len(broken))] ^= 1 << chance.randrange(8)
    return bytes(broken)


def _insert(chance: random.Random, data: bytes) -> bytes:
    where = chance.randrange(len(data) + 1)
    return data[:where] + chance.choice(PIECES) + data[where:]


def _wrap(chance: random.Random, data: bytes) -> bytes:
    before, after = chance.choice(
        (
            (b"[", b"]"),
            (b'"', b'"'),
            (b"  \r\n\t", b"\n\n"),
            (b"", b"}"),
            (b"", data),
            (b"log line\n", b""),
            (b"\0", b"\0"),
        )
    )
    return before + data + after


def _encode(chance: random.Random, data: bytes) -> bytes:
    text = data.decode("utf-8", "replace")
    return text.encode(
        chance.choice(("utf-16", "utf-16-le", "utf-32", "latin-1", "utf-8-sig", "utf-7", "ascii")), "replace"
    )


def _repeat(chance: random.Random, data: bytes) -> bytes:
    """Some of it twice: keys that are there twice, most of all."""
    middle = data.find(b",", chance.randrange(len(data) + 1))
    return data[:middle] + data[1:middle] + data[middle:]


BENDS: tuple[Bend, ...] = (_cut, _flip, _flip, _insert, _insert, _wrap, _encode, _repeat)
