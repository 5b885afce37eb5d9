"""Random secrets: ``templates.txt`` has one published format a line, as the issuer documents it.

``{A20}`` means twenty letters or digits, ``{a}`` for small ones, ``{H}`` for hexadecimal digits, ``{h}`` for
those in capitals, ``{U}`` for capitals or digits, ``{W}`` for letters, digits, ``_`` and ``-``, ``{B}`` for base64's
letters, ``{D}`` for digits, ``{V}`` for base32, ``{X}`` for a UUID, ``{J}`` for base64 of a JSON object. The
secret is the part between ``«`` and ``»``, or all of it.
"""

from __future__ import annotations

import base64
import json
import random
import re
import string
import uuid
from dataclasses import dataclass
from pathlib import Path

from case_files import read_groups

ALPHABETS = {
    "A": string.ascii_letters + string.digits,
    "a": string.ascii_lowercase + string.digits,
    "H": string.digits + "abcdef",
    "h": string.digits + "ABCDEF",
    "U": string.ascii_uppercase + string.digits,
    "W": string.ascii_letters + string.digits + "_-",
    "B": string.ascii_letters + string.digits + "+/",
    "D": string.digits,
    "V": string.ascii_uppercase + "234567",
}
RUN = 8
"""Consecutive characters of a secret that must not remain."""
_REDACTED = re.compile("<redacted:[a-z0-9-]+>")
_GAP = re.compile(r"\{([AaHhUWBDVXJ])(\d*)\}")

TEMPLATES = Path(__file__).with_name("templates.txt").read_text(encoding="utf-8")

PARTS = {
    "BEGIN": "-----BEGIN RSA PRIVATE " + "KEY-----",
    "END": "-----END RSA PRIVATE " + "KEY-----",
    "LINE": "MIIEowIBAAKCAQEAvR1b2c3d4e5f6g7h8i9j0k1l2m3n4o5p6q7r8s9t0u1v2w3x",
    "ALNUM": "aB3dE6gH9jK2mN5pQ8rS1tU4vW7xY0zAbCdE",
    "HEX32": "0123456789abcdef" * 2,
    "JWT": "eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiIxMjM0NTY3ODkwIn0" + ".dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P",
    "LONG": "A" * 300,
    "": "",
}
"""Parts of secrets that data files leave out, so that no scanner takes a file for a leak."""
_PART = re.compile(r"«([A-Z0-9]*?)(?::(\d+))?»")


@dataclass(frozen=True, slots=True)
class Planted:
    """A planted text, and the part of it that must be redacted."""

    text: str
    secret: str


def templates() -> list[str]:
    """Return one template for each issuer's format."""
    return [line for line in TEMPLATES.strip().split("\n") if line]


def fill_in(text: str) -> str:
    """Return ``text`` with the parts that it names between «»: all of ``«ALNUM»``, the beginning of ``«ALNUM:20»``."""
    return _PART.sub(lambda match: PARTS[match[1]][: int(match[2]) if match[2] else None], text)


def pieces(group: str) -> list[str]:
    """Return the pieces of ``group``, from which a test puts texts together."""
    return [fill_in(piece) for (piece,) in read_groups(Path(__file__).with_name("pieces.tsv"))[group]]


def drawn(rng: random.Random, alphabet: str, length: int) -> str:
    return "".join(rng.choices(alphabet, k=length))


def issue(rng: random.Random, template: str) -> Planted:
    """Return a random secret of the format of ``template``."""

    def fill(match: re.Match[str]) -> str:
        kind, length = match.groups()
        if kind == "X":
            return str(uuid.UUID(int=rng.getrandbits(128), version=4))
        if kind == "J":
            body = json.dumps({"sub": drawn(rng, ALPHABETS["D"], 10), "jti": drawn(rng, ALPHABETS["A"], 22)})
            return base64.urlsafe_b64encode(body.encode()).decode().rstrip("=")
        return drawn(rng, ALPHABETS[kind], int(length))

    whole = _GAP.sub(fill, template)
    before, opened, rest = whole.partition("«")
    if not opened:
        return Planted(whole, whole)
    secret, _, behind = rest.partition("»")
    return Planted(before + secret + behind, secret)


def without_marks(text: str) -> str:
    """Return ``text`` without redaction marks: their kind may be a part of the secret's own prefix."""
    return _REDACTED.sub("\n", text)


def leaks(secret: str, text: str) -> bool:
    """Return whether ``RUN`` consecutive characters of ``secret`` are in ``text``."""
    text = without_marks(text)
    return any(secret[start : start + RUN] in text for start in range(max(len(secret) - RUN + 1, 1)))
