"""A prompt as it came in: read whole, checked before anything is prepared, and otherwise left alone."""

from __future__ import annotations

from typing import BinaryIO

from ....core.errors import RequestError
from .command import MAX_PROMPT
from .texts import Texts

_MAX_BYTES = 4 * MAX_PROMPT + 4


def read_prompt(stdin: BinaryIO | None, texts: Texts) -> str:
    """The prompt on standard input.

    Raises:
        RequestError: there is none, or it is not UTF-8.
    """
    if stdin is None:
        raise RequestError(texts.prompt_empty)
    try:
        data = stdin.read(_MAX_BYTES + 1)
    except OSError as error:
        raise RequestError(f"{texts.prompt_empty} ({error.strerror})") from error
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        if len(data) > _MAX_BYTES:
            return data.decode("utf-8", "replace")  # cut inside a character, and too long anyway
        raise RequestError(texts.prompt_not_utf8.format(position=error.start)) from error


def problem_with(prompt: str, texts: Texts) -> str:
    """Why ``prompt`` cannot be sent; empty when it can."""
    if not prompt.strip():
        return texts.prompt_empty
    if len(prompt) > MAX_PROMPT:
        return texts.prompt_too_long.format(length=f"{len(prompt):,}", most=f"{MAX_PROMPT:,}")
    try:
        prompt.encode("utf-8")
    except UnicodeEncodeError as error:  # an argument or a key that was no UTF-8
        return texts.prompt_not_utf8.format(position=error.start)
    return ""
