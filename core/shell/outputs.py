"""What a program prints, for the few programs whose output the line determines: ``echo``, ``base64 -d``, ``rev``.

Invariant: nothing is run. An output that depends on anything but the words and the input is None.
"""

from __future__ import annotations

import binascii
import posixpath
from base64 import b64decode
from collections.abc import Callable, Mapping, Sequence

from upbeat.core import lazy_re as re
from upbeat.core.shell.syntax import Words

MAX_OUTPUT_CHARS = 200_000
TEMPORARY_FOLDER = "/tmp/tmp.mktemp"  # noqa: S108 -- a name, nothing is created
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{1,2})|0?([0-7]{1,3})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|(.))", re.DOTALL)
_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "e": "\x1b", "E": "\x1b"}
_PRINTF_FIELD = re.compile(r"%(?:%|[-+ 0#]*\d*(?:\.\d+)?([sbqdicxXou]))")


def known_output(words: Words, stdin_text: str | None) -> str | None:
    """Return what ``words`` print with the input ``stdin_text`` (None: not known); None if the line does not say."""
    program = _PROGRAMS.get(words[0]) if words else None
    try:
        output = program(words[1:], stdin_text) if program else None
    except ValueError:
        return None
    return output if output is None or len(output) <= MAX_OUTPUT_CHARS else None


def decode_escapes(text: str) -> str:
    """Return ``text`` with the escapes of ``$'…'`` and ``printf`` replaced."""
    return _ESCAPE.sub(_decode_escape, text)


def _decode_escape(found: re.Match[str]) -> str:
    hexadecimal, octal, short, long, letter = found.groups()
    if letter is not None:
        return _LETTERS.get(letter, letter)
    code = int(octal, 8) if octal else int(hexadecimal or short or long, 16)
    return chr(code) if code < 0x110000 else ""


def _echo(words: Sequence[str], _stdin: str | None) -> str:
    at = 0
    while at < len(words) and re.fullmatch(r"-[neE]+", words[at]):
        at += 1
    text = " ".join(words[at:])
    return (decode_escapes(text) if any("e" in word for word in words[:at]) else text) + "\n"


def _printf(words: Sequence[str], _stdin: str | None) -> str | None:
    rest = list(words[1:] if words[:1] == ["--"] else words)
    if not rest or rest[0] == "-v":
        return None
    pattern, values, parts = rest[0], rest[1:], []
    while True:
        before = len(values)
        parts.append(_PRINTF_FIELD.sub(lambda found: _field(found, values), decode_escapes(pattern)))
        if not values or len(values) == before:
            return "".join(parts)


def _field(found: re.Match[str], values: list[str]) -> str:
    if not found[1]:
        return "%"
    value = values.pop(0) if values else ""
    return decode_escapes(value) if found[1] == "b" else value


def _cat(words: Sequence[str], stdin: str | None) -> str | None:
    return stdin if all(word == "-" or word.startswith("-") for word in words) else None


def _tee(_words: Sequence[str], stdin: str | None) -> str | None:
    return stdin


def _printenv(words: Sequence[str], _stdin: str | None) -> str | None:
    return f"${words[0]}" if len(words) == 1 and words[0].isidentifier() else None


def _base64(words: Sequence[str], stdin: str | None) -> str | None:
    if stdin is None or not {"-d", "-D", "--decode", "-di"} & set(words):
        return None
    return b64decode("".join(stdin.split())).decode("utf-8", "replace")


def _openssl(words: Sequence[str], stdin: str | None) -> str | None:
    return _base64(words, stdin) if {"base64", "-base64", "-a"} & set(words) else None


def _sed(words: Sequence[str], stdin: str | None) -> str | None:
    """Follow plain substitutions: ``s/a/b/;s/c/d/g``."""
    parts = words[-1].split(";") if words and stdin is not None else []
    for part in parts:
        found = re.fullmatch(r"s([/|#,])([\w ~.-]*)\1([\w ~./-]*)\1(g?)", part.strip())
        if found is None or stdin is None:
            return None
        stdin = stdin.replace(found[2], found[3], -1 if found[4] else 1)
    return stdin if parts else None


def _xxd(words: Sequence[str], stdin: str | None) -> str | None:
    flags = "".join(word for word in words if word.startswith("-"))
    if stdin is None or "r" not in flags or "p" not in flags:
        return None
    return binascii.unhexlify("".join(stdin.split())).decode("utf-8", "replace")


def _rev(_words: Sequence[str], stdin: str | None) -> str | None:
    return None if stdin is None else "\n".join(line[::-1] for line in stdin.split("\n"))


def _tr(words: Sequence[str], stdin: str | None) -> str | None:
    if stdin is None or not words:
        return None
    if words[0] == "-d":
        return "".join(char for char in stdin if char not in _char_set(words[1]))
    if len(words) != 2 or words[0].startswith("-"):
        return None
    before, after = _char_set(words[0]), _char_set(words[1])
    return stdin.translate({ord(char): after[min(at, len(after) - 1)] for at, char in enumerate(before) if after})


def _char_set(text: str) -> str:
    return re.sub(
        r"(.)-(.)", lambda found: "".join(map(chr, range(ord(found[1]), ord(found[2]) + 1))), decode_escapes(text)
    )


def _dirname(words: Sequence[str], _stdin: str | None) -> str | None:
    return f"{words[-1].rstrip('/')}/.." if words and not words[-1].startswith("-") else None


def _last_word(words: Sequence[str], _stdin: str | None) -> str | None:
    return words[-1] if words and not words[-1].startswith("-") else None


def _basename(words: Sequence[str], _stdin: str | None) -> str | None:
    return posixpath.basename(words[0]) if words and not words[0].startswith("-") else None


def _mktemp(_words: Sequence[str], _stdin: str | None) -> str:
    return TEMPORARY_FOLDER


_PROGRAMS: Mapping[str, Callable[[Sequence[str], str | None], str | None]] = {
    "echo": _echo,
    "printf": _printf,
    "cat": _cat,
    "tee": _tee,
    "printenv": _printenv,
    "base64": _base64,
    "openssl": _openssl,
    "sed": _sed,
    "xxd": _xxd,
    "rev": _rev,
    "tr": _tr,
    "dirname": _dirname,
    "realpath": _last_word,
    "readlink": _last_word,
    "basename": _basename,
    "mktemp": _mktemp,
}
