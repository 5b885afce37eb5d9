"""The line that ``upbeat exec`` prints last: the exit code, signed so that a program cannot print it.

The signature covers the words that ran, the code, the time and a nonce, with a key that only this user can read.
Whoever sees the line accepts each one once.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

EXIT_CODE_PREFIX = "upbeat: exit "
_MARK = re.compile(
    rf"^{EXIT_CODE_PREFIX}(\d{{1,3}}) \[(\d{{1,13}})-([0-9a-f]{{8}})-([0-9a-f]{{32}})\][ \t\r]*$", re.MULTILINE
)
MAX_AGE_SECONDS = 86400
"""A mark that is older is not accepted."""


def make_mark(key: str, words: Sequence[str], code: int, seconds: int, nonce: str) -> str:
    """Return the line for a command that ended with ``code``.

    ``seconds`` are since the epoch; ``nonce`` has eight hexadecimal digits.
    """
    return f"{EXIT_CODE_PREFIX}{code} [{seconds}-{nonce}-{_sign(key, words, code, seconds, nonce)}]"


def read_mark(key: str, words: Sequence[str], output: str, now: float) -> tuple[int, str] | None:
    """Return the exit code and the signature of the last valid mark for ``words`` near the end of ``output``."""
    for match in reversed(list(_MARK.finditer(output[-4000:]))):
        code, seconds = int(match[1]), int(match[2])
        is_recent = -60 <= now - seconds <= MAX_AGE_SECONDS
        if key and code < 256 and is_recent and match[4] == _sign(key, words, code, seconds, match[3]):
            return code, match[4]
    return None


def _sign(key: str, words: Sequence[str], code: int, seconds: int, nonce: str) -> str:
    text = "\0".join((key, str(code), str(seconds), nonce, *words))
    return hashlib.sha256(hashlib.sha256(text.encode("utf-8", "surrogateescape")).digest()).hexdigest()[:32]
