"""The prepared context as entries of ``turn/start.additionalContext``.

Law: no entry is longer than Codex takes whole, every entry says by itself what it is, and no two turns send the
same entry. Codex cuts an entry in its middle above 4,000 *bytes* (recorded with Chinese text: 3,600 pass, 4,020
do not), keeps their order by key, and does not send an entry again that is as it was, not even after a compaction.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

ENTRY_BYTES = 3_800
"""UTF-8 bytes of one entry, its frame included."""

MAX_ENTRIES = 100
"""Entries of one turn; as many were seen to pass."""

ROOM = 40_000
"""Characters of context that fit into so many entries, whatever they are and wherever they must be cut."""

NAME = "upbeat_context"
"""What the model sees as the name of the tool that gave it this."""

_LABEL_BYTES = 80
_SMALLEST = 400
"""A piece has at least so many bytes of content, however long the frame is."""
_OPENS_FRAME = re.compile(r"<([a-z-]+) [^\n]*>[^\n]*")
_BEGINS_ITEM = re.compile(r"\d+\. ")


GUIDANCE = "upbeat-workflow"
"""How the keys of what upbeat itself says begin; the model sees them as tags around messages of the developer."""


def entries(context: str, turn: int, guidance: str = "") -> dict[str, dict[str, str]]:
    """``context`` and ``guidance`` for the turn with the number ``turn``; nothing for nothing."""
    pieces = list(_pieces(context, turn)) if context.strip() else []
    said = _packed(guidance.split("\n"), ENTRY_BYTES - _LABEL_BYTES) if guidance else []
    return {
        f"{GUIDANCE}-{number}": {"kind": "application", "value": f"[turn {turn}]\n{piece}"}
        for number, piece in enumerate(said, start=1)
    } | {
        f"upbeat-{number:03}": {"kind": "untrusted", "name": NAME, "value": piece}
        for number, piece in enumerate(pieces[:MAX_ENTRIES], start=1)
    }


def _pieces(context: str, turn: int) -> Iterator[str]:
    opening, body, closing = _frame(context)
    overhead = sum(_size(line) + 1 for line in (opening, closing) if line) + _LABEL_BYTES
    chunks = _packed(_blocks(body), max(ENTRY_BYTES - overhead, _SMALLEST))
    for number, chunk in enumerate(chunks, start=1):
        label = f"[prepared for turn {turn}, part {number} of {len(chunks)}]"
        yield "\n".join(line for line in (label, opening, chunk, closing) if line)


def _frame(context: str) -> tuple[str, str, str]:
    """The opening line, the body, and the closing line; the lines are empty where there is no frame."""
    opening, _, rest = context.strip("\n").partition("\n")
    body, _, closing = rest.rpartition("\n")
    found = _OPENS_FRAME.fullmatch(opening)
    if found and closing.startswith(f"</{found[1]}"):
        return opening, body, closing
    return "", context.strip("\n"), ""


def _blocks(body: str) -> list[str]:
    """The items of ``body``, each with the lines that belong to it."""
    blocks: list[list[str]] = []
    for line in body.split("\n"):
        if not blocks or _BEGINS_ITEM.match(line):
            blocks.append([])
        blocks[-1].append(line)
    return ["\n".join(block) for block in blocks]


def _packed(blocks: list[str], most: int) -> list[str]:
    """``blocks`` put together as long as they fit into ``most`` bytes; a longer one is cut, at line ends if it can."""
    packed: list[str] = []
    for block in blocks:
        joined = f"{packed[-1]}\n{block}" if packed else block
        if _size(joined) <= most:
            packed[-1:] = [joined]
        elif _size(block) <= most:
            packed.append(block)
        else:
            packed += _cut(block, most)
    return packed


def _cut(block: str, most: int) -> list[str]:
    """``block`` in parts; every part after the first repeats the item's heading, so that its lines have a place."""
    heading = block.partition("\n")[0]
    again = f"{heading} (continued)"
    lead = again if _BEGINS_ITEM.match(heading) and _size(again) <= most // 2 else ""
    parts: list[str] = []
    for line in _short_lines(block.split("\n"), most - (_size(lead) + 1 if lead else 0)):
        joined = f"{parts[-1]}\n{line}" if parts else line
        if _size(joined) <= most:
            parts[-1:] = [joined]
        else:
            parts.append(f"{lead}\n{line}" if lead else line)
    return parts


def _short_lines(lines: list[str], most: int) -> Iterator[str]:
    for line in lines:
        rest = line
        while _size(rest) > most:
            end = _whole_characters(rest, most)
            yield rest[:end]
            rest = rest[end:]
        yield rest


def _whole_characters(text: str, most: int) -> int:
    """How many characters of ``text`` go into ``most`` bytes; at least one."""
    return max(len(text.encode("utf-8", "replace")[:most].decode("utf-8", "ignore")), 1)


def _size(text: str) -> int:
    return len(text.encode("utf-8", "replace"))
