"""Explain a record: what upbeat did, why, and who decided (``upbeat why``).

The record is explained in sentences: what was done, the reason of that, then each part that had a say. Invariant: pure,
and total: a record of any version, or a malformed one, is explained without an error.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from upbeat.core.journal.record import DROPPED, JournalEntry
from upbeat.core.journal.words import format_time, format_value, in_words, milliseconds_text, name_part, quote
from upbeat.core.json_fields import mapping_of, mappings_of, text_of, texts_of
from upbeat.core.lazy_dataclass import dataclass, fields
from upbeat.core.messages.catalogue import Messages, format_count, load_messages
from upbeat.core.package_data import load_toml
from upbeat.core.sanitize.frame import SafeText
from upbeat.core.sanitize.text import sanitize_inline
from upbeat.core.shell.commands import parse_commands
from upbeat.core.workflow.decide.command import display_command

SCHEMA_VERSION = "1.0"
DISPLAY_PART = "display"
"""The part of an effect that only shows the user what was done."""
HEAD_FIELDS = (
    *("at", "event", "client", "session_id", "agent_id", "root"),
    *("duration_ms", "injected_chars", "event_fields", "turn"),
)

_READING_COMMANDS = frozenset({"context", "doctor", "help", "log", "stats", "status", "statusline", "why"})
_CODE = re.compile(r"[a-z]+(?:-[a-z]+)*:")
"""The beginning of a reason that is no sentence: ``delete-home: ~/``."""
_UNTOLD_LIMITS = frozenset({"tier2_disabled"})
"""Limits of a turn that hold by default, and are no reason for anything."""
_TOLD_INPUTS = ("signals", "limits", "names")
"""Inputs of a turn that its reason says."""
_UNTOLD_FIELDS = frozenset({"prompt", "command", "input", "tool", "call_id", "origin", "tool_kind"})
"""Event fields that the first line says, or that no user knows."""


@dataclass(frozen=True, slots=True)
class Explained:
    """The document of ``upbeat why --json``.

    ``summary`` says what was done, ``reasons`` why: a sentence of each part. The rest is what the record has: its
    head, its ``explanations``, its ``effects`` with their number of characters, and the names of its ``facts``.
    """

    schema_version: str
    summary: str
    reasons: list[str]
    record: dict[str, Any]
    explanations: list[dict[str, Any]]
    effects: list[dict[str, Any]]
    facts: list[str]


# --- which record ---


def find_telling_entry(entries: Sequence[JournalEntry]) -> JournalEntry | None:
    """Return the latest of ``entries`` that mattered; None without entries.

    One with an effect comes before one with a decision, and that before any other. Questions about upbeat itself
    (``/upbeat:why``, ``upbeat log``) do not count while there is another.
    """
    others = [entry for entry in entries if not _is_own_question(entry)]
    effective = [entry for entry in others if mappings_of(entry.body, "effects")]
    decided = [entry for entry in others if mappings_of(entry.body, "explanations")]
    return next((group[-1] for group in (effective, decided, others, entries) if group), None)


def _is_own_question(entry: JournalEntry) -> bool:
    """Return whether the record is of a command that only shows what upbeat did."""
    fields = mapping_of(entry.body, "event_fields")
    if entry.text_field("event") == "PromptSubmitted":
        return bool(display_command(text_of(fields, "prompt")))
    command = text_of(fields, "command")
    if "upbeat" not in command:
        return False
    words = [item.words for item in parse_commands(command).items if item.words[:1] != ("cd",)]
    return bool(words) and all(map(_is_reading, words))


def _is_reading(words: Sequence[str]) -> bool:
    return len(words) > 1 and words[0].rpartition("/")[2] == "upbeat" and words[1] in _READING_COMMANDS


# --- the document ---


def explanation_document(entry: JournalEntry) -> dict[str, Any]:
    """Return the document of ``upbeat why --json``."""
    body = entry.body
    effects = [{**effect, "characters": len(text_of(effect, "text"))} for effect in mappings_of(body, "effects")]
    explained = Explained(
        schema_version=SCHEMA_VERSION,
        summary=summarize(entry, "en"),
        reasons=[sentence for _part, sentence in _reasons(entry, "en")],
        record={"seq": entry.seq, **{name: body.get(name) for name in HEAD_FIELDS if name in body}},
        explanations=[dict(part) for part in mappings_of(body, "explanations")],
        effects=effects,
        facts=[text_of(fact, "kind") for fact in mappings_of(body, "facts")],
    )
    return {field.name: getattr(explained, field.name) for field in fields(explained)}


# --- the text ---


def format_explanation(entry: JournalEntry, language: str) -> str:
    """Return the text of ``upbeat why``."""
    return "\n".join(_lines(entry, language))


def _lines(entry: JournalEntry, language: str) -> Iterator[str]:
    texts, body = load_messages("explain", language), entry.body
    yield summarize(entry, language)
    reasons = dict.fromkeys(_reasons(entry, language))
    for _part, sentence in reasons:
        yield "  " + sentence
    if not reasons:
        yield "  " + texts["no_explanations"]
    shown = [effect for effect in mappings_of(body, "effects") if effect.get("part") != DISPLAY_PART]
    for effect in shown:
        yield ""
        yield from _effect_lines(effect, entry, language)
    details = [*_detail_lines(body, language)]
    yield from ["", *details] if details else ()
    yield ""
    head = [texts["record"].format(seq=entry.seq), entry.text_field("event"), entry.text_field("client")]
    head += [format_time(entry.text_field("at")), milliseconds_text(body.get("duration_ms", 0), language)]
    yield " · ".join(part for part in head if part)
    place = {"session": "session_id", "agent": "agent_id", "repository": "root"}
    where = [texts[key].format(value=entry.text_field(name)) for key, name in place.items() if body.get(name)]
    if where:
        yield " · ".join(where)


def summarize(entry: JournalEntry, language: str) -> str:
    """Return what was done at the record's event, in one sentence."""
    texts = load_messages("explain", language)
    effects = [effect for effect in mappings_of(entry.body, "effects") if effect.get("part") != DISPLAY_PART]
    done = dict.fromkeys(_describe_effect(effect, language) for effect in effects)
    when = _describe_event(entry, language)
    return texts["summary" if done else "nothing_done"].format(when=when, done=SafeText(texts["and"].join(done)))


def _describe_effect(effect: Mapping[str, Any], language: str) -> str:
    kind, characters = text_of(effect, "kind"), format_count("character", len(text_of(effect, "text")), language)
    words = load_messages("explain", language).group("done")
    return words[kind].format(characters=characters) if kind in words else in_words(kind, language)


def _describe_event(entry: JournalEntry, language: str) -> str:
    words, fields = load_messages("explain", language).group("events"), mapping_of(entry.body, "event_fields")
    event = entry.text_field("event")
    prompt, tool, command = (text_of(fields, name) for name in ("prompt", "tool", "command"))
    subject = quote(command or prompt if event != "PromptSubmitted" else prompt)
    key = f"{event}Of" if subject and f"{event}Of" in words else event
    template = words[key] if key in words else words["other"]
    return template.format(event=event or "-", subject=subject, tool=tool or "-")


def _effect_lines(effect: Mapping[str, Any], entry: JournalEntry, language: str) -> Iterator[str]:
    """Yield the effect with its text; of context, only where it can be read."""
    texts, text = load_messages("explain", language), text_of(effect, "text")
    kind, part = in_words(effect.get("kind", ""), language), text_of(effect, "part")
    degraded = text_of(effect, "degraded")
    about = [kind, format_count("character", len(text), language), part and name_part(part, language), degraded]
    yield " · ".join(filter(None, about))
    if effect.get("kind") in ("inject_context", "prepend_prompt"):
        yield "  " + texts["read_it"].format(seq=entry.seq)
        return
    yield from (f"  | {line}" for line in text.split("\n"))


def _detail_lines(body: Mapping[str, Any], language: str) -> Iterator[str]:
    """Yield what the parts looked at, where they are configured, and the rest of the record, in words."""
    texts = load_messages("explain", language)
    for part in mappings_of(body, "explanations"):
        told = _TOLD_INPUTS if text_of(part, "component") == "turn" else ()
        inputs = {name: value for name, value in mapping_of(part, "inputs").items() if name not in told}
        where, took = text_of(part, "config_location"), part.get("duration_ms")
        about = [_format_fields(inputs, language), where and texts["configured_at"].format(configured_at=where)]
        about.append(milliseconds_text(took, language) if took else "")
        if said := "; ".join(filter(None, about)):
            yield texts["detail"].format(name=name_part(text_of(part, "component"), language), said=SafeText(said))
    fields = {k: v for k, v in mapping_of(body, "event_fields").items() if k not in _UNTOLD_FIELDS and v}
    facts = ", ".join(text_of(fact, "kind") for fact in mappings_of(body, "facts"))
    for name, said in (("event_fields", _format_fields(fields, language)), ("facts", in_words(facts, language))):
        if said:
            yield texts["detail"].format(name=texts[name], said=SafeText(said))


def _format_fields(fields: Mapping[str, Any], language: str) -> str:
    """Return named values in words: ``step PLAN; names a.py, b.py``."""
    words = load_messages("explain", language).group("inputs")
    named = ((words[name] if name in words else name.replace("_", " "), value) for name, value in fields.items())
    shown = ((name, format_value(value, language)) for name, value in named if value not in (None, "", (), [], {}))
    return "; ".join(f"{name} {value}" for name, value in shown)


# --- the reasons ---


def _reasons(entry: JournalEntry, language: str) -> Iterator[tuple[str, str]]:
    """Yield each part that had a say, with its reason as a sentence; first those whose effects were carried out."""
    carried_out = {text_of(effect, "part") for effect in mappings_of(entry.body, "effects")}
    carried_out |= {"loop", "step_guard"} if "workflow" in carried_out else set()
    parts = mappings_of(entry.body, "explanations")
    for part in sorted(parts, key=lambda part: text_of(part, "component") not in carried_out):
        if sentence := _reason_of(part, entry, language):
            yield text_of(part, "component"), sentence


def _reason_of(part: Mapping[str, Any], entry: JournalEntry, language: str) -> str:
    component, decision = text_of(part, "component"), text_of(part, "decision")
    texts = load_messages("explain", language)
    if component == "turn":
        reason = reason_of_turn(part, entry, language)
    elif decision == DROPPED:
        reason = SafeText(texts["sentence_and"].join(_dropped_reasons(text_of(part, "reason"), texts)))
    else:
        reason = texts.group("reasons").get(text_of(part, "reason"), text_of(part, "reason"))
        is_sentence = language != "zh" and not _CODE.match(reason)
        if not is_sentence and (does := _policy_summary(component, language)):
            reason = texts["policy_reason"].format(does=does, reason=reason) if reason else does
    name = name_part(component, language)
    decided = in_words(decision, language)
    template = texts["because" if reason else "decided"]
    ending = reason.rstrip(".。")
    return template.format(
        name=name, decided=decided, reason=SafeText(ending) if isinstance(reason, SafeText) else ending
    )


def reason_of_turn(part: Mapping[str, Any], entry: JournalEntry, language: str) -> str:
    """Return why context was added, or why not.

    A limit is no reason of an injection: that is what the prompt names, and what the search found.
    """
    texts, inputs = load_messages("explain", language), mapping_of(part, "inputs")
    limits = list(_limits(entry, part, language))
    if text_of(part, "decision") != "inject":
        return SafeText(texts["sentence_and"].join(limits) or texts["nothing_found"])
    groups: dict[str, list[str]] = {}
    for signal in texts_of(inputs, "signals"):
        kind, _, match = signal.partition(": ")
        groups.setdefault(kind, []).append(match)
    words = texts.group("signals")
    said = [words[kind].format(matches=", ".join(found)) for kind, found in groups.items() if kind in words]
    files = texts_of(inputs, "names")
    if files:
        said.append(texts["found"].format(files=", ".join(files)))
    notes = [texts["limited"].format(limit=limit) for limit in limits]
    return SafeText(texts["sentence_and"].join([*(said or [texts["found_something"]]), *notes]))


def _limits(entry: JournalEntry, part: Mapping[str, Any], language: str) -> Iterator[str]:
    """Yield the limits of the turn as sentences, with what they say of this turn."""
    words = load_messages("explain", language).group("limits")
    codes = texts_of(mapping_of(entry.body, "turn"), "limits")
    recorded = texts_of(mapping_of(part, "inputs"), "limits")
    for number, code in enumerate(codes):
        if code not in _UNTOLD_LIMITS:
            detail = recorded[number].partition(": ")[2] if len(recorded) == len(codes) else ""
            said = words[code] if code in words else code.replace("_", " ")
            yield f"{said}: {sanitize_inline(detail)}" if detail else said


def _dropped_reasons(reason: str, texts: Messages) -> Iterator[str]:
    """Yield a sentence for each dropped effect of ``RequestApproval: overruled by Deny; …``."""
    for each in filter(None, reason.split("; ")):
        kind, _, why = each.partition(": ")
        snake = re.sub(r"(?<!^)(?=[A-Z])", "_", kind).lower()
        overruled = re.fullmatch(r"overruled by (\w+)", why)
        words = texts.group("drops")
        said = words["overruled"] if overruled else words[why] if why in words else sanitize_inline(why)
        yield f"{in_words(snake, texts['language'])}: {said}"


def _policy_summary(component: str, language: str) -> str:
    """Return what a policy does, for a recorded reason that is a code or in another language; empty for other parts."""
    described = load_toml("upbeat.core.policies", "descriptions.toml").get(component.removeprefix("policy "), {})
    summary = text_of(mapping_of(described, "zh" if language == "zh" else "en"), "summary")
    first = re.split(r"。|\.(?=\s|$)", summary, maxsplit=1)[0]
    return SafeText(re.sub(r"\{\w+\}", "…", first))
