"""What ``upbeat log`` shows: one line for each thing that happened, in words.

Invariant: pure, and total: a record of any version, or a malformed one, has a line.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from upbeat.core.journal.explain import DISPLAY_PART
from upbeat.core.journal.record import JournalEntry
from upbeat.core.journal.words import in_words, to_single_line
from upbeat.core.json_fields import mapping_of, mappings_of, text_of
from upbeat.core.messages import layout
from upbeat.core.messages.catalogue import format_count, load_messages
from upbeat.core.messages.layout import Line, Mark, Screen, Style
from upbeat.core.sanitize.frame import SafeText

MIN_SUBJECT_COLUMNS = 12
NUMBER_COLUMNS = 5
AGE_COLUMNS = 11

_MARKS = {
    "deny": layout.BAD,
    "request_approval": layout.ATTENTION,
    "inject_context": layout.ADDED,
    "prepend_prompt": layout.ADDED,
    "continue_turn": layout.CURRENT,
}
_FAULTS = frozenset(
    {"internal_error", "invalid_payload", "hook_unanswered", "journal_set_aside", "journal_state_unreadable"}
)
"""Records of what went wrong in upbeat itself; no event of a client."""
_VERDICT_MARKS = {"pass": layout.GOOD, "unclear": layout.ATTENTION, "": layout.QUIET}


def log_lines(entries: Sequence[JournalEntry], screen: Screen, total: int = 0) -> Iterator[Line]:
    """Yield the screen of ``upbeat log``: a summary, the lines below their sessions, and how to learn more.

    ``entries`` are the last ones of ``total``, which the summary says if there are more.
    """
    done = [{text_of(effect, "kind") for effect in mappings_of(entry.body, "effects")} for entry in entries]
    texts = load_messages("screens", screen.language)
    summary = texts["log_head"].format(
        events=format_count("event", len(entries), screen.language),
        sessions=format_count("session", len({entry.text_field("session_id") for entry in entries}), screen.language),
        ago=layout.relative_time(entries[-1].text_field("at") if entries else "", screen),
        added=sum(not {"inject_context", "prepend_prompt"}.isdisjoint(kinds) for kinds in done),
        blocked=sum("deny" in kinds for kinds in done),
    )
    yield from layout.headline(summary, screen)
    if total > len(entries):
        yield from layout.paragraph(texts["log_cut"].format(count=len(entries), total=total), screen)
    yield from entry_lines(entries, screen)
    yield Line("")
    yield from layout.paragraph(texts["log_hint"], screen)


def entry_lines(entries: Iterable[JournalEntry], screen: Screen, last_session: str | None = None) -> Iterator[Line]:
    """Yield a line for each entry; a title where the session is not that of the line above (``last_session``).

    A call that has finished has no line for its request, unless something was done about that.
    """
    entries = list(entries)
    finished = {text_of(mapping_of(entry.body, "event_fields"), "call_id") for entry in entries if _is_result(entry)}
    for entry in entries:
        call_id = text_of(mapping_of(entry.body, "event_fields"), "call_id")
        if call_id in finished - {""} and not _is_result(entry) and not mappings_of(entry.body, "effects"):
            continue
        session_id = entry.text_field("session_id")
        if session_id != last_session:
            yield Line("")
            yield _session_title(entry, screen)
            last_session = session_id
        yield _entry_line(entry, screen)


def _is_result(entry: JournalEntry) -> bool:
    return entry.text_field("event") == "ToolFinished"


def _session_title(entry: JournalEntry, screen: Screen) -> Line:
    session = load_messages("screens", screen.language)["session"].format(session=entry.text_field("session_id")[:8])
    name = posixpath.basename(entry.text_field("root"))
    parts = layout.join([entry.text_field("client"), session if entry.text_field("session_id") else "", name])
    title = layout.clip_to_width(parts or "-", screen.columns)
    return Line(title, Style.STRONG, len(title))


def _entry_line(entry: JournalEntry, screen: Screen) -> Line:
    """Return number, age, mark, what happened, and what came of it; the subject is clipped to fit."""
    done, mark = _outcome(entry, screen.language)
    head = f"{entry.seq:>{NUMBER_COLUMNS}}  {layout.relative_time(entry.text_field('at'), screen)}"
    head = f"{layout.pad(head, NUMBER_COLUMNS + 2 + AGE_COLUMNS)}  {mark.glyph} "
    columns = max(screen.columns, layout.MIN_COLUMNS)
    room = columns - layout.text_width(head + _what(entry, "", done, screen.language))
    subject = layout.clip_to_width(_subject(entry), max(room, MIN_SUBJECT_COLUMNS))
    text = layout.clip_to_width(head + _what(entry, subject, done, screen.language), columns)
    return Line(text, mark.style, len(head))


def _what(entry: JournalEntry, subject: str, done: str, language: str) -> str:
    texts = load_messages("screens", language)
    words, fields, event = texts.group("events"), mapping_of(entry.body, "event_fields"), entry.text_field("event")
    key = "ToolFailed" if event == "ToolFinished" and _has_failed(fields) else event
    if _subject(entry) and f"{key}Of" in words:
        key += "Of"
    known = words.get(key)
    what = (
        known.format(subject=SafeText(subject), tool=text_of(fields, "tool"))
        if known
        else in_words(event, language) or "-"
    )
    return texts["because"].format(event=SafeText(what), done=SafeText(done)) if done else what


def _has_failed(fields: Mapping[str, Any]) -> bool:
    return bool(fields.get("has_failed") or fields.get("exit_code"))


def _subject(entry: JournalEntry) -> str:
    fields = mapping_of(entry.body, "event_fields")
    if entry.text_field("event").startswith("Subagent"):
        return to_single_line(text_of(fields, "agent_type")).rpartition(":")[2]
    if entry.text_field("event") in _FAULTS:
        said = text_of(fields, "problem") or text_of(fields, "traceback") or text_of(fields, "hook")
        return to_single_line(said.strip().rpartition("\n")[2])
    return to_single_line(text_of(fields, "prompt" if entry.text_field("event") == "PromptSubmitted" else "command"))


def _outcome(entry: JournalEntry, language: str) -> tuple[str, Mark]:
    """Return what upbeat did, and what came of the workflow; and the mark of the line."""
    words, texts = load_messages("screens", language).group("done"), load_messages("screens", language)
    said: dict[str, None] = {}
    mark = layout.QUIET
    for fact in mappings_of(entry.body, "facts"):
        kind = text_of(fact, "kind")
        if kind == "step_finished":
            verdict, step = text_of(fact, "verdict"), text_of(fact, "step_key")
            said[texts["step_result"].format(step=step, verdict=in_words(verdict, language))] = None
            mark = _VERDICT_MARKS.get(verdict, layout.BAD)
        elif kind == "workflow_started":
            said[texts["workflow_started"].format(workflow=text_of(mapping_of(fact, "run"), "workflow"))] = None
            mark = layout.CURRENT
        elif kind == "workflow_ended":
            said[texts["workflow_ended"].format(status=in_words(text_of(fact, "status"), language))] = None
            mark = layout.CURRENT
        elif kind == "workflow_reopened":
            said[texts["workflow_reopened"]] = None
    for effect in mappings_of(entry.body, "effects"):
        kind = text_of(effect, "kind")
        if text_of(effect, "part") != DISPLAY_PART:
            said[words.get(kind) or in_words(kind, language)] = None
            mark = _MARKS.get(kind, mark) if mark is layout.QUIET else mark
    if entry.text_field("event") in _FAULTS or (not said and _has_failed(mapping_of(entry.body, "event_fields"))):
        mark = layout.BAD
    return texts["and"].join(said), mark
