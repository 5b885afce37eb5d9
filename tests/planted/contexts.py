"""Contexts of secrets: settings, code, URLs, logs, prose; wrapped, encoded, split, and across a truncation."""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Callable
from urllib.parse import quote

PLAIN = {
    "json": '{{"name": "api", "value": "{}", "retries": 3}}',
    "json in json": '"{{\\"value\\": \\"{}\\"}}"',
    "yaml": "service:\n  value: {}\n  retries: 3",
    "yaml quoted": "service:\n  value: '{}'\n",
    "yaml list": "args:\n  - {}\n  - --verbose",
    "env": "HOST=db1\nVALUE={}\nPORT=1",
    "export": "export VALUE='{}'",
    "toml": '[a]\nvalue = "{}"',
    "ini": "[a]\nvalue = {}\nother = 1",
    "properties": "app.value={}\napp.other=1",
    "xml": "<value>{}</value>",
    "xml attribute": '<add name="v" value="{}"/>',
    "python": 'def connect():\n    return client("{}", timeout=3)',
    "python triple": 'VALUE = """{}"""',
    "javascript": "const v = `{}`; // keep",
    "typescript": "export const v: string = '{}';",
    "go": 'var v = "{}"\nfunc main() {{}}',
    "java": 'private static final String V = "{}";',
    "rust": 'let v = "{}".to_string();',
    "csharp": 'var v = @"{}";',
    "ruby": "v = '{}'.freeze",
    "php": "$v = '{}';",
    "c": 'static const char v[] = "{}";',
    "shell": "run --input {} --times 3",
    "shell header": "curl -H 'X-Value: {}' https://h.example/x",
    "heredoc": "cat <<EOF\n{}\nEOF",
    "dockerfile": "ENV VALUE {}\nRUN make",
    "make": "VALUE := {}\nall:",
    "url": "https://h.example/x?v={}&page=2",
    "url path": "https://h.example/x/{}/y",
    "diff added": "@@ -1,2 +1,3 @@\n a = 1\n+v = '{}'\n b = 2",
    "diff removed": "-v: {}\n+v: none",
    "log": "2026-01-02T03:04:05Z INFO sent v={} in 3 ms",
    "traceback": '  File "a.py", line 3, in f\nValueError: bad value {}',
    "table": "| name | value |\n|---|---|\n| a | {} |",
    "prose": "Please use {} for the tests, and tell nobody.",
    "prose zh": "请用{}来测试，不要告诉别人。",
    "prose zh quoted": "值是“{}”，请保密。",
    "markdown": "Run it with `{}` first.",
    "comment": "# old value: {}\nx = 1",
    "numbered": "11: a = 1\n12: v = '{}'\n13: b = 2",
    "csv": "1,jane,{},active",
    "escaped lines": '"first\\n{}\\nlast"',
    "sql": "INSERT INTO t VALUES (1, '{}');",
}
"""Texts with a place for one secret."""

UNSEEN = ("\u200b", "\u200d", "\ufeff", "\u00ad", "\u2060", "\u202e", "\u2066", "\U000e0041", "\ufe0f", "\x00", "\x08")
SEQUENCES = ("\x1b[1m", "\x1b[0;31m", "\x1b[0m", "\x1b]0;t\x07", "\x9b1m", "\x1b(B")
LIMIT = 4000
"""Characters that truncation leaves."""

Placing = Callable[[random.Random, str], str]


def _wrapped(join: str, first: str = "", last: str = "") -> Placing:
    """Broken into two or three lines, as an editor, a shell or a terminal does."""

    def place(rng: random.Random, text: str) -> str:
        cuts = sorted(rng.sample(range(1, len(text)), min(rng.choice((1, 1, 2)), len(text) - 1)))
        pieces = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
        return f"a = 1\n{first}{join.join(pieces)}{last}\nb = 2"

    return place


def _split(marks: tuple[str, ...]) -> Placing:
    """Split by invisible characters."""

    def place(rng: random.Random, text: str) -> str:
        for cut in sorted((rng.randrange(1, len(text)) for _ in range(rng.randint(1, 4))), reverse=True):
            text = text[:cut] + rng.choice(marks) + text[cut:]
        return f"v = '{text}'"

    return place


def _basic(rng: random.Random, text: str) -> str:
    return f"Authorization: Basic {base64.b64encode(f'app:{text}'.encode()).decode()}"


def _kubernetes(rng: random.Random, text: str) -> str:
    body = base64.b64encode(f"value={text}\n".encode()).decode()
    return f"apiVersion: v1\nkind: Secret\ndata:\n  settings.env: {body}\n"


def _unicode_escapes(rng: random.Random, text: str) -> str:
    return '{"v": "' + "".join(f"\\u{ord(char):04x}" if rng.random() < 0.3 else char for char in text) + '"}'


def _across_the_cut(rng: random.Random, text: str) -> str:
    """So far back that the cut at ``LIMIT`` falls into it."""
    room = LIMIT - rng.randrange(1, len(text)) - 5
    filler = "some words about nothing at all\n" * (room // 32)
    return filler + "." * (room - len(filler)) + f" v: {text} and so on\n" + "more words\n" * 40


PLACINGS: dict[str, Placing] = {
    **{name: (lambda rng, text, shape=shape: shape.format(text)) for name, shape in PLAIN.items()},
    "wrapped": _wrapped("\n"),
    "wrapped, indented": _wrapped("\n    ", "v: "),
    "wrapped in a shell": _wrapped("\\\n", "run "),
    "wrapped in a diff": _wrapped("\n+", "+"),
    "wrapped in a mail": _wrapped("\n> ", "> "),
    "joined strings": _wrapped('"\n    "', 'v = ("', '")'),
    "added strings": _wrapped('" +\n    "', 'v = "', '"'),
    "split by unseen": _split(UNSEEN),
    "split by sequences": _split(SEQUENCES),
    "basic header": _basic,
    "kubernetes secret": _kubernetes,
    "percent": lambda rng, text: f"https://h.example/?v={quote(text, safe='')}&b=1",
    "percent, all": lambda rng, text: "v=" + "".join(f"%{ord(char):02X}" for char in text),
    "escapes": _unicode_escapes,
    "slashes": lambda rng, text: json.dumps({"v": text}).replace("/", "\\/"),
    "entities": lambda rng, text: f"<v>{text.replace('&', '&amp;').replace('=', '&#61;').replace('-', '&#x2d;')}</v>",
    "across the cut": _across_the_cut,
}
