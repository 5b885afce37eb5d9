"""The prepared context as entries of ``turn/start.additionalContext``.

Invariant: no entry is longer than Codex accepts, every entry is self-describing, and no two turns send the
same entry. Codex cuts an entry in its middle above 4,000 *bytes* (recorded with Chinese text: 3,600 pass, 4,020
do not), keeps their order by key, and does not send an unchanged entry again, not even after a compaction.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

MAX_ENTRY_BYTES = 3_800
"""UTF-8 bytes of one entry, its frame included."""

MAX_ENTRIES = 100
"""Entries of one turn; Codex was seen to accept as many."""

MAX_CONTEXT_CHARS = 40_000
"""Characters of context that fit into ``MAX_ENTRIES``, whatever they are and wherever they must be split."""

ENTRY_NAME = "upbeat_context"
"""The name of the tool that, to the model, the context comes from."""

_LABEL_BYTES = 80
_MIN_CONTENT_BYTES = 400
"""Bytes of content that each piece has at least, however long the frame is."""
_OPENS_FRAME = re.compile(r"<([a-z-]+) [^\n]*>[^\n]*")
_BEGINS_ITEM = re.compile(r"\d+\. ")


GUIDANCE_KEY_PREFIX = "upbeat-workflow"
"""The prefix of the keys of upbeat's own text; the model sees them as tags around messages of the developer."""


def context_entries(context: str, turn_number: int, guidance: str = "") -> dict[str, dict[str, str]]:
    """Return the entries of ``context`` and ``guidance`` by key; ``turn_number`` makes those of each turn unique."""
    pieces = list(_framed_pieces(context, turn_number)) if context.strip() else []
    parts = _pack_blocks(guidance.split("\n"), MAX_ENTRY_BYTES - _LABEL_BYTES) if guidance else []
    return {
        f"{GUIDANCE_KEY_PREFIX}-{number}": {"kind": "application", "value": f"[turn {turn_number}]\n{piece}"}
        for number, piece in enumerate(parts, start=1)
    } | {
        f"upbeat-{number:03}": {"kind": "untrusted", "name": ENTRY_NAME, "value": piece}
        for number, piece in enumerate(pieces[:MAX_ENTRIES], start=1)
    }


def _framed_pieces(context: str, turn_number: int) -> Iterator[str]:
    opening, body, closing = _split_frame(context)
    overhead = sum(_byte_length(line) + 1 for line in (opening, closing) if line) + _LABEL_BYTES
    chunks = _pack_blocks(_split_blocks(body), max(MAX_ENTRY_BYTES - overhead, _MIN_CONTENT_BYTES))
    for number, chunk in enumerate(chunks, start=1):
        label = f"[prepared for turn {turn_number}, part {number} of {len(chunks)}]"
        yield "\n".join(line for line in (label, opening, chunk, closing) if line)


def _split_frame(context: str) -> tuple[str, str, str]:
    """Return the opening line, the body and the closing line; the lines are empty where there is no frame."""
    opening, _, rest = context.strip("\n").partition("\n")
    body, _, closing = rest.rpartition("\n")
    tag = _OPENS_FRAME.fullmatch(opening)
    if tag and closing.startswith(f"</{tag[1]}"):
        return opening, body, closing
    return "", context.strip("\n"), ""


def _split_blocks(body: str) -> list[str]:
    """Return the items of ``body``, each with the lines that belong to it."""
    blocks: list[list[str]] = []
    for line in body.split("\n"):
        if not blocks or _BEGINS_ITEM.match(line):
            blocks.append([])
        blocks[-1].append(line)
    return ["\n".join(block) for block in blocks]


def _pack_blocks(blocks: list[str], max_bytes: int) -> list[str]:
    """Join ``blocks`` while they fit into ``max_bytes``; split a longer one, at line ends where possible."""
    packed: list[str] = []
    for block in blocks:
        joined = f"{packed[-1]}\n{block}" if packed else block
        if _byte_length(joined) <= max_bytes:
            packed[-1:] = [joined]
        elif _byte_length(block) <= max_bytes:
            packed.append(block)
        else:
            packed += _split_block(block, max_bytes)
    return packed


def _split_block(block: str, max_bytes: int) -> list[str]:
    """Split ``block``; each part after the first repeats the heading of the item, so that its lines have a place."""
    heading = block.partition("\n")[0]
    again = f"{heading} (continued)"
    lead = again if _BEGINS_ITEM.match(heading) and _byte_length(again) <= max_bytes // 2 else ""
    parts: list[str] = []
    for line in _split_lines(block.split("\n"), max_bytes - (_byte_length(lead) + 1 if lead else 0)):
        joined = f"{parts[-1]}\n{line}" if parts else line
        if _byte_length(joined) <= max_bytes:
            parts[-1:] = [joined]
        else:
            parts.append(f"{lead}\n{line}" if lead else line)
    return parts


def _split_lines(lines: list[str], max_bytes: int) -> Iterator[str]:
    for line in lines:
        rest = line
        while _byte_length(rest) > max_bytes:
            fitting = rest.encode("utf-8", "replace")[:max_bytes].decode("utf-8", "ignore")
            end = max(len(fitting), 1)
            yield rest[:end]
            rest = rest[end:]
        yield rest


def _byte_length(text: str) -> int:
    return len(text.encode("utf-8", "replace"))
