"""Payloads of hooks that are broken in every way that bytes can be, made from the recorded ones of both clients.

Invariant: the same seed gives the same payloads.
"""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

RECORDED = Path(__file__).parents[1] / "recorded"
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

Bend = Callable[[random.Random, bytes], bytes]


def recorded(client: str) -> list[dict[str, Any]]:
    """What the client's own program has sent."""
    if client == "claude-code":
        paths = sorted((RECORDED / "claude-code/hooks").glob("*.json"))
        return [json.loads(path.read_text(encoding="utf-8"))["payload"] for path in paths]
    files = sorted((RECORDED / "codex/hooks").glob("*.jsonl"))
    lines = (line for file in files for line in file.read_text(encoding="utf-8").split("\n"))
    return [json.loads(line)["stdin"] for line in lines if line]


def payloads(client: str, seed: int, count: int, cwd: str) -> Iterator[bytes]:
    """``count`` payloads of ``client``, most of them broken; those that are not happen in ``cwd`` or nowhere."""
    chance = random.Random(f"{client} {seed}")
    known = recorded(client)
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
            fields[name] = chance.choice(SAID)
    given = fields.get("tool_input")
    if isinstance(given, dict):
        for name, texts in (
            ("command", COMMANDS),
            ("subagent_type", AGENTS),
            ("agent_type", AGENTS),
            ("prompt", SAID),
            ("message", SAID),
        ):
            if name in given:
                given[name] = chance.choice(texts)


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
        return chance.choice(LONG)()
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


SAID = (
    *(
        "where is the retry limit in send_with_retry enforced?",
        "fix the retry bug in shop/retry.py",
        "深入: 看看 send_with_retry 为什么失败",
    ),
    *(
        "/upbeat:tdd add retries",
        "$upbeat:tdd add retries",
        "/upbeat:secure add a login",
        "/upbeat:stop",
        "stop",
        "continue",
        "/upbeat:goal ship it",
    ),
    *("PASS", "FAIL: 2 tests", "VERDICT: PASS", "测试未通过", "Done.", "What shall I do?", ""),
)
COMMANDS = (
    "rm -rf /",
    "git push --force",
    "vim a.py",
    "pytest -q",
    "tmux new -d -s work",
    "cat a.py; rm -rf ~",
    "git rebase -i HEAD~3",
    "ls",
)
AGENTS = ("upbeat:tester", "upbeat:developer", "upbeat:code-reviewer", "upbeat:nobody", "general-purpose")
TEXTS = (
    *(
        "",
        " ",
        "\0",
        "a\0b",
        "\ud800",
        "\udfff\ud800",
        "\u202e",
        "\ufeff",
        "\x1b[2J\x1b]52;c;eA==\x07",
        "\x85\u2028",
        "e\u0301" * 50,
    ),
    *(
        "../../etc/passwd",
        "/proc/self/mem",
        "/dev/stdin",
        "~",
        "-rf",
        "a" * 300 + "/" + "b" * 300,
        "NaN",
        "null",
        "{",
        '{"a":1}',
        "[1,2",
    ),
    *(
        "rm -rf /",
        "$(",
        "`" * 99,
        "'" * 99,
        "\\" * 99,
        "<<EOF\n" * 50,
        "(" * 300 + ")" * 300,
        "a;" * 500,
        "find . -name '*.py' | xargs rm",
    ),
    *(
        "PreToolUse",
        "PostToolUse",
        "Stop",
        "UserPromptSubmit",
        "SessionStart",
        "SubagentStop",
        "Tea",
        "Agent",
        "Bash",
        "Write",
        "apply_patch",
    ),
    *(
        "fix the retry bug in shop/retry.py",
        "深入: 看看 send_with_retry 为什么失败",
        "explain parse()",
        "/upbeat:tdd add retries",
        "stop",
    ),
    *("AKIA" + "Q3EGRRZ7ZKD5LMNO", "%s%n%x", "{0}{1}", "</upbeat-context>", "<task-notification>"),
)
LONG = (
    lambda: "a" * 20_000,
    lambda: "仓库 " * 5_000,
    lambda: "a@" * 10_000,
    lambda: " " * 20_000,
    lambda: "\n" * 20_000,
    lambda: "x=y;" * 5_000,
    lambda: 'File "a.py", line 1, in f\n' * 800,
    lambda: "=" * 20_000 + "!",
    lambda: "((((" * 2_000,
    lambda: [{}] * 5_000,
    lambda: {str(number): number for number in range(3_000)},
)
RAW = (
    *(
        b"NaN",
        b"Infinity",
        b"-Infinity",
        b"1e400",
        b"-1e400",
        b"1" * 5000,
        b"-" + b"9" * 4300,
        b"1e-999",
        b"01",
        b"+1",
        b".5",
        b"0x1f",
    ),
    *(
        b'{"a":1,"a":2}',
        b'{"hook_event_name":"Stop","hook_event_name":"Tea"}',
        b"tru",
        b"nul",
        b"'a'",
        b"undefined",
        b"",
        b"{",
        b"]",
        b",",
    ),
    *(
        b'"\\ud800"',
        b'"\\udc00\\ud800"',
        b'"\\u12"',
        b'"\\x41"',
        b'"\x00"',
        b'"\x01\x1f"',
        b'"\n"',
        b'"\xff\xfe"',
        b'"\xc0\xaf"',
        b'"\xed\xa0\x80"',
    ),
    *(b'"\xf4\x90\x80\x80"', b"/* c */1", b"1,", b'"a" "b"', b"\xef\xbb\xbf1"),
)
"""What stands in the place of a value."""


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
PIECES = (
    *(
        b"\0",
        b"\xff",
        b"\xc3\x28",
        b"\xe2\x82",
        b"\xf0\x9f\x98",
        b"\xed\xa0\x80",
        b"\xef\xbb\xbf",
        b"\x1b[31m",
        b"\x07",
        b"\r",
        b"\n",
    ),
    *(
        b'"',
        b"\\",
        b"{",
        b"}",
        b"[",
        b"]",
        b",",
        b":",
        b"null",
        b" " * 1000,
        b"\x80" * 64,
        b"\\u0000",
        b"\\ud83d",
        b"e999",
        b"-",
    ),
)
