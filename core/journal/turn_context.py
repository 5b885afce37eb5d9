"""What the last turn got: the context of the latest prompt, exactly (``upbeat context``). Invariant: pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from upbeat.core.journal.explain import reason_of_turn
from upbeat.core.journal.record import JournalEntry
from upbeat.core.journal.words import milliseconds_text, name_part, quote
from upbeat.core.json_fields import mapping_of, mappings_of, text_of, texts_of
from upbeat.core.lazy_dataclass import dataclass, fields
from upbeat.core.messages.catalogue import format_count, load_messages
from upbeat.core.sanitize.frame import SafeText
from upbeat.core.workflow.decide.command import display_command

SCHEMA_VERSION = "1.0"


@dataclass(frozen=True, slots=True)
class ContextBlock:
    """What one part added: the search (``turn``), the workflow, a policy or a rule. ``text`` is what the model got."""

    source: str
    characters: int
    text: str


@dataclass(frozen=True, slots=True)
class TurnContext:
    """The document of ``upbeat context --json``.

    ``reason`` says why there are no blocks; empty if there are. ``files`` are those that the search named.
    """

    schema_version: str
    seq: int
    at: str
    client: str
    session_id: str
    repository: str
    prompt: str
    duration_ms: float
    blocks: list[ContextBlock]
    files: list[str]
    reason: str


def find_last_turn(entries: Sequence[JournalEntry]) -> JournalEntry | None:
    """Return the latest prompt of the user that is no question about upbeat itself."""
    for entry in reversed(entries):
        about = mapping_of(entry.body, "event_fields")
        is_users = entry.text_field("event") == "PromptSubmitted" and text_of(about, "origin") in ("user", "")
        if is_users and not display_command(text_of(about, "prompt")):
            return entry
    return None


def read_context(entry: JournalEntry, language: str = "en") -> TurnContext:
    """Return what the turn of ``entry`` got."""
    body = entry.body
    injected = [effect for effect in mappings_of(body, "effects") if effect.get("kind") == "inject_context"]
    blocks = [ContextBlock(text_of(e, "part"), len(text_of(e, "text")), text_of(e, "text")) for e in injected]
    parts = [part for part in mappings_of(body, "explanations") if part.get("component") == "turn"]
    duration = body.get("duration_ms", 0)
    return TurnContext(
        schema_version=SCHEMA_VERSION,
        seq=entry.seq,
        at=entry.text_field("at"),
        client=entry.text_field("client"),
        session_id=entry.text_field("session_id"),
        repository=entry.text_field("root"),
        prompt=text_of(mapping_of(body, "event_fields"), "prompt"),
        duration_ms=duration if isinstance(duration, int | float) else 0,
        blocks=blocks,
        files=[path for part in parts for path in texts_of(mapping_of(part, "inputs"), "names")] if blocks else [],
        reason="" if blocks else "; ".join(reason_of_turn(part, entry, language) for part in parts),
    )


def context_document(entry: JournalEntry) -> dict[str, Any]:
    """Return the document of ``upbeat context --json``."""
    return _plain(read_context(entry))


def _plain(value: Any) -> dict[str, Any]:
    named: Mapping[str, Any] = {field.name: getattr(value, field.name) for field in fields(value)}
    return {**named, "blocks": [_plain(block) for block in named["blocks"]]} if "blocks" in named else {**named}


def context_text(entry: JournalEntry, language: str) -> str:
    """Return the text of ``upbeat context``: one line that sums up, then each block as the model got it."""
    return "\n".join(_lines(read_context(entry, language), language))


def _lines(context: TurnContext, language: str) -> Iterator[str]:
    texts, prompt = load_messages("explain", language), quote(context.prompt)
    if not context.blocks:
        yield texts["context_nothing"].format(prompt=prompt, reason=SafeText(context.reason or texts["nothing_found"]))
        return
    files = [format_count("file", len(context.files), language)] if context.files else []
    about = [*files, milliseconds_text(round(context.duration_ms), language)]
    total = format_count("character", sum(block.characters for block in context.blocks), language)
    yield texts["context"].format(prompt=prompt, characters=total, about=SafeText(", ".join(about)))
    for block in context.blocks:
        characters = format_count("character", block.characters, language)
        yield ""
        yield texts["context_source"].format(source=name_part(block.source, language), characters=characters)
        yield block.text
