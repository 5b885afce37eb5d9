"""Adversarial texts of a megabyte, which make a matcher scan the same characters again and again."""

from __future__ import annotations

import random
import string
from collections.abc import Callable, Iterator

from .formats import ALPHABETS, issue, templates

SIZE = 1_000_000
"""Characters of each text."""

BEGIN, END = "-----BEGIN RSA PRIVATE " + "KEY-----", "-----END RSA PRIVATE " + "KEY-----"
LINE = "MIIEowIBAAKCAQEAvR1b2c3d4e5f6g7h8i9j0k1l2m3n4o5p6q7r8s9t0u1v2w3x"

PIECES = (
    *"aA0 \n\t=\"'`-_./\\<>&;@:%+",
    *("é", "密", "е", "𝒂", "e\u0301", "🙂", "。", "ſ", "İ", "\u212a"),
    *("password", "password=", 'password="', "password='", "password = x ", 'password:"', 'password\\"', "token=a("),
    *("token=token.", "token;", 'token="abcdefgh" ', 'token="a b c d"', "secret: ", "api_key ", "api", "pass", "_pass"),
    *(
        "password: | \n  ",
        "name value ",
        "password\n-",
        '"password", "',
        "<password>",
        "密码",
        "密码是",
        "密码：",
        "pw ",
    ),
    *("pw: a1", "pass: ab12cd ", "token abcdefgh12345678 ", "secret to ", "password to a1b2c3 ", "key=", "key=value;"),
    *("KEY=VALUE\n", "A_KEY=a1b2c3d4e5\n", "export TOKEN=abcdef1234567890\n", "token=", "token-", "token_", "api-api-"),
    *("AKIA", "AKIA" + "A" * 15, "-AKIA", "eyJ", "-eyJ", "_eyJ", ".eyJ", "eyJaaaaaaaa.", "-eyJaaaaaaaa"),
    *("-eyJaaaaaaaa.-",),
    *("eyJaaaaaaaa.eyJaaaaaaaa", "eyJaaaaaaaa.a.", "eyJaaaaaaaa.eyJ.", "ghp_", "-ghp_", "ghp_" + "a" * 19),
    *("x" * 40 + ".",),
    *("sk-", "sk-a", "-sk-", "sk-ant-", "sk", "-sk", "xox", "xoxb-", "xoxb-a", "SG.", "SG." + "a" * 16 + ".", "-SG.a"),
    *(":AA", "1:AA", "12345678:AA", "hf_", "key-", "r8_", "SK", "SKa", "-us", "a" * 31 + "-us1", "0" * 32 + "-"),
    *("-us1",),
    *("0" * 32 + ".", "M" * 24 + ".aaaaaa.", "M.", ".a", "00D", "!", "00D" + "a" * 12 + "!", "0" * 24 + ":", "pat"),
    *("pata.",),
    *("1/", "1/1", "1/" + "1" * 16 + ":", "dapi", "AIza", "-AIza", "glpat-", "glpat-a.", "tskey-", "hvs.", "EAA"),
    *("EAAa-",),
    *("+ASt", "A+ASt", "JQQJ99", "AzFu", "Q~", "aaa1Q~", "AAAA", ":APA91b", "NRAL", "AQE", "AQEahm", "dp.pt.a."),
    *("t1.", "-t1."),
    *("perm:a.", "perm:a.a.", "pdl_live_apikey_", "otpauth://", "otpauth://totp/", "bce-v3/ALTAK-", "A" * 20),
    *("A" * 20 + "%",),
    *("://", "://:", "://a:", "://a:b@", "a://b:c@d ", "://" + "a" * 19, "://a@", "http://a:b:c:d", "@://"),
    *("https://a/@",),
    *("Bearer ", "Bearer aaaaaa ", "bearer a1b2c3d4e5f6a7b8 ", "basic aaaa", "Basic dXNlcjpwYXNzd29yZA== ", "token  "),
    *("authorization: ", "Authorization: Bearer ", "SSWS ", "--", "--a", "--password ", "--password=", "--token a1 "),
    *("---",),
    *("-u ", "-u a:", "-u a:b", "-u a:b1c2d3e4 ", "--user=", "&sig=", "AccountKey=", "AccountKey=a;"),
    *(BEGIN, BEGIN + "\n", END, END + "\n", BEGIN + "\n" + LINE + "\n", LINE + "\n", "A: b\n", "a\n" + END),
    *("PRIVATE KEY",),
    *(BEGIN + "\nA: b\n", BEGIN + " ", BEGIN + LINE[:20] + " ", LINE + "\n" + END + "\n", LINE + END, "-----BEGIN "),
    *("-----",),
    *("%41", "%2541", "%", "%4", "\\u0041", "\\u004", "\\x41", "\\\\u0041", "&#65;", "&#x41;", "&amp;", "&quot;"),
    *("=3D", "\\/"),
    *("=\n", "%41KIA", "%70assword%3D", "\\u0070w: a1 ", "cGFzc3dvcmQ9", "cGFzc3dvcmQ9aHVudGVyMjI= "),
    *("aGVsbG8gd29ybGQ", "=="),
    *("ghp_\n", "ghp_a\n", "a\n", "a1\n", "gh\np_", '"a" +\n', "a\\\n", "+a\n", "> a1\n", LINE[:40] + "\n", "sk-\na"),
    *("eyJ\n",),
    *(
        "\x1b[",
        "\x1b[1m",
        "\x1b]0;x",
        "\x1b]",
        "\x1b",
        "\x1bP",
        "\x90",
        "\x9b",
        "\x9d",
        "\x1b(",
        "\x1b]0;x\x07",
        "\x1b[1;",
        "\x07",
    ),
    *("\u200b", "a\u200b", "\u202e", "\U000e0041", "\ufe0f", "\x00", "\r", "\r\n", "\u2028", "\ud800", "a\x1b[0m"),
    *("\u00ad\n",),
    *(
        "ignore all previous ",
        "ignore previous instructions. ",
        "ignore",
        "忽略",
        "忽略以上指令",
        "忽略以上指令。",
        "you are now ",
    ),
    *("system", "<system-reminder>", "</system>", "<system", "from now on you ", "do not tell the user "),
    *("instructions",),
    *("i g n o r e ", "ignoreall", "a. ", "x" * 300 + ". ", "x" * 300 + "\n", "disregard the above\n", "[INST]"),
    *("<|im_start|>",),
)
"""Pieces that are repeated up to a megabyte."""


def adversarial(seed: int = 1) -> Iterator[tuple[str, Callable[[], str]]]:
    """Names, and what makes each text."""
    for piece in PIECES:
        yield f"{piece[:24]!r} again and again", lambda piece=piece: _full(piece)
    for name, alphabet in _alphabets().items():
        yield f"random {name}", lambda name=name, alphabet=alphabet: _random(f"{seed} {name}", alphabet)
    shapes = templates()
    rng = random.Random(seed)
    issued = [issue(rng, shape).text for shape in shapes]
    yield "every format", lambda: _full(" ".join(issued) + "\n")
    yield "every format, cut off", lambda: _full(" ".join(text[: len(text) * 3 // 5] for text in issued) + "\n")
    yield "every format, glued", lambda: _full("".join(issued))
    yield "every format, one character a line", lambda: _full("\n".join("\n".join(issued)))
    yield "every prefix", lambda: _full("".join(text[:6] for text in issued))
    yield "every prefix, dashed", lambda: _full("-".join(text[:6] for text in issued) + "-")
    for begin, end in (
        ('{"a":', "}"),
        ("[", "]"),
        ("(", ")"),
        ('\\"', '\\"'),
        ("<a>", "</a>"),
        ('"', "'"),
        ("${", "}"),
    ):
        yield f"nested {begin}", lambda begin=begin, end=end: _nested(begin, end)
    for piece in ("password", "ghp_", "a", "密码", "\u200b", "eyJ", "://", "ignore"):
        yield f"{piece!r} and one long run", lambda piece=piece: piece + "a" * SIZE
        yield f"one long run and {piece!r}", lambda piece=piece: "a" * SIZE + piece


def _alphabets() -> dict[str, str]:
    tokens = "sk-_eyJ.ghp=:/@AKIAxobtoken \"'\\\n%+"
    return {
        **{f"alphabet {name}": letters for name, letters in ALPHABETS.items()},
        "printable": string.printable,
        "words of secrets": "paswordtkenkyi _:='\"",
        "hexadecimal and dots": "0123456789abcdef.",
        "hexadecimal and dashes": "0123456789abcdef-",
        "marks": string.punctuation,
        "base64 and line ends": ALPHABETS["B"] + "\n=",
        "prefixes": tokens,
        "invisible": "a\u200b\u200d\u202e\ufeff\U000e0041\x1b[m]",
        "escapes": "\\u0041%x&#;",
        "pluses and slashes": "+/A",
        "blanks": " \t\n\r\x0b\u2028",
        "letters of all scripts": "aé密е𝒂ß\u0301。",
    }


def _full(piece: str) -> str:
    return (piece * (SIZE // len(piece) + 1))[:SIZE]


def _random(seed: str, alphabet: str) -> str:
    return "".join(random.Random(seed).choices(alphabet, k=SIZE))


def _nested(begin: str, end: str) -> str:
    times = SIZE // (len(begin) + len(end))
    return begin * times + end * times
