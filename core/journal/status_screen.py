"""What ``upbeat status`` shows: where the work stands, each open workflow drawn, the other sessions, the journal.

Invariant: pure; the first line answers the question, the rest supports it.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence

from upbeat.core.journal.record import JournalHealth, StoredSession
from upbeat.core.journal.show import current_keys, format_megabytes
from upbeat.core.journal.words import format_time, in_words
from upbeat.core.messages import layout
from upbeat.core.messages.catalogue import format_count, load_messages
from upbeat.core.messages.layout import Line, Mark, Screen, Style
from upbeat.core.sanitize.frame import SafeText
from upbeat.core.workflow.drawing import draw_run, run_mark
from upbeat.core.workflow.prompts import describe_end_reason
from upbeat.core.workflow.state import Evidence, RunStatus, WorkflowRun
from upbeat.core.workflow.verdict.evidence import TESTS, check_evidence, format_refusal

INDENT = "  "
MAX_SHOWN_STEPS = 4
MAX_EVIDENCE = 3
MAX_GOAL_CHARS = 160


def status_lines(
    root: str,
    sessions: Sequence[StoredSession],
    health: JournalHealth,
    screen: Screen,
    recorded_roots: Sequence[str] = (),
) -> Iterator[Line]:
    """Yield the screen of ``upbeat status``.

    ``recorded_roots`` are other repositories with sessions, shown where this one has none.
    """
    listed = [session for session in sessions if not session.is_renamed]
    is_bad = bool(health.problem) or any(session.state.awaits_user for session in listed)
    yield from layout.headline(_answer(listed, health, screen), screen, Style.ATTENTION if is_bad else Style.STRONG)
    yield from layout.paragraph(root, screen)
    if not listed and recorded_roots:
        elsewhere = load_messages("journal", screen.language)["recorded_elsewhere"]
        yield from layout.paragraph(elsewhere.format(roots=", ".join(recorded_roots)), screen)
    opened = [session for session in listed if session.state.run and session.state.run.is_open]
    for session in opened:
        yield Line("")
        yield from open_workflow_lines(session, screen)
    others = [session for session in listed if session not in opened]
    if others:
        yield Line("")
        yield from layout.headline(load_messages("screens", screen.language)["other_sessions"], screen, Style.PLAIN)
        rows = [_session_row(session, screen) for session in others]
        yield from layout.table(rows, screen, INDENT, [_session_mark(session) for session in others])
    yield Line("")
    yield from health_lines(health, screen)


def _answer(sessions: Sequence[StoredSession], health: JournalHealth, screen: Screen) -> str:
    texts, language = load_messages("screens", screen.language), screen.language
    opened = [session for session in sessions if session.state.run and session.state.run.is_open]
    if health.problem:
        return texts["cannot_store"].format(problem=health.problem)
    if not sessions:
        return texts["none_here"]
    if not opened:
        ago = layout.relative_time(max(session.updated_at for session in sessions), screen)
        return texts["idle"].format(sessions=format_count("session", len(sessions), language), ago=ago)
    if len(opened) > 1:
        needing = sum(bool(session.state.awaits_user) for session in opened)
        return texts["several_open"].format(count=len(opened), needing=needing)
    session = opened[0]
    run = session.state.run
    assert run is not None
    what = _waits(session, language) or _where(run, language)
    return texts["one_open"].format(workflow=run.workflow, status=_status_word(session, language), what=SafeText(what))


def _status_word(session: StoredSession, language: str) -> str:
    run = session.state.run
    status = RunStatus.NEEDS_HUMAN if session.state.awaits_user or run is None else run.status
    return in_words(status, language)


def _where(run: WorkflowRun, language: str) -> str:
    """Return the current steps and how many have passed."""
    texts, stages = load_messages("screens", language), current_keys(run)
    fields = {"done": len(run.passed_steps), "all": len(run.steps)}
    shown = ", ".join(stages[:MAX_SHOWN_STEPS]) + (" …" if len(stages) > MAX_SHOWN_STEPS else "")
    return texts["at_steps" if stages else "steps_done"].format(steps=shown, **fields)


def _waits(session: StoredSession, language: str) -> str:
    """Return what the workflow waits for, and what the user can do; empty while it works."""
    texts, loop, run = load_messages("journal", language), session.state.loop, session.state.run
    if run is None or not (needs := session.state.awaits_user):
        return ""
    if run.status is RunStatus.NEEDS_HUMAN:
        return texts["needs_human"].format(step=run.reason)
    if waits := texts.group("waits").get(needs):
        return waits
    reason = describe_end_reason(loop.end_reason or needs, loop.turns_without_progress, language)
    return texts["loop_ended"].format(reason=reason)


def open_workflow_lines(session: StoredSession, screen: Screen) -> Iterator[Line]:
    """Yield an open workflow: its goal, its session, its steps, and the evidence."""
    language, run, state = screen.language, session.state.run, session.state
    assert run is not None
    texts, words = load_messages("screens", language), load_messages("journal", language)
    mark = layout.ATTENTION if state.awaits_user else run_mark(run.status)
    goal = layout.clip_to_width(" ".join(run.goal.split()), MAX_GOAL_CHARS)
    title = layout.join([f"{run.workflow} {_status_word(session, language)}", goal or run.feature])
    yield from layout.marked(mark, title, screen)
    times = state.loop.iterations
    about: list[str] = [*_session_words(session, screen)]
    about += [words["loop"].format(times=format_count("time", times, language))] if times else []
    about += [words["ended"]] if state.has_ended else []
    yield from layout.paragraph(layout.join(about), screen, INDENT)
    if waits := _waits(session, language):
        yield from layout.paragraph(waits, screen, INDENT)
    yield from draw_run(run, screen, INDENT)
    evidence = state.evidence[-MAX_EVIDENCE:]
    if evidence:
        yield Line(INDENT + texts["evidence"])
        rows = [_evidence_row(each, screen) for each in reversed(evidence)]
        yield from layout.table(rows, screen, INDENT * 2, [_evidence_mark(each) for each in reversed(evidence)])
    if note := check_evidence(TESTS, state.evidence, "", language).note:
        noted = load_messages("workflow", language)["tests_note"].format(note=note)
        yield from layout.paragraph(noted, screen, INDENT * 2)


def _session_words(session: StoredSession, screen: Screen) -> tuple[str, ...]:
    texts = load_messages("screens", screen.language)
    ago = layout.relative_time(session.updated_at, screen)
    return (
        session.client or "-",
        texts["session"].format(session=session.session_id[:8]),
        texts["last_active"].format(ago=ago),
    )


def _evidence_row(evidence: Evidence, screen: Screen) -> tuple[str, ...]:
    texts = load_messages("screens", screen.language)
    code = evidence.exit_code
    result: str = texts["no_exit_code"] if code is None else texts["exit_code"].format(code=code)
    if evidence.refusal:
        result = format_refusal(evidence.refusal, evidence.refusal_detail, screen.language)
    ago = layout.relative_time(evidence.observed_at, screen)
    return " ".join(evidence.command.split()), layout.join([result, ago])


def _evidence_mark(evidence: Evidence) -> Mark:
    if evidence.is_hidden or evidence.exit_code is None:
        return layout.ATTENTION
    return layout.BAD if evidence.exit_code else layout.GOOD


def _session_row(session: StoredSession, screen: Screen) -> tuple[str, ...]:
    texts, run = load_messages("journal", screen.language), session.state.run
    ago = layout.relative_time(session.updated_at, screen)
    what: str = texts["no_workflow"]
    if session.problem:
        what = texts["unreadable"].format(problem=session.problem)
    elif run:
        what = f"{run.workflow} {in_words(run.status, screen.language)}"
        if run.failed_steps:
            what += " · " + texts["not_passed"].format(steps=", ".join(step.key for step in run.failed_steps))
    ended = texts["ended"] if session.state.has_ended else ""
    return session.client or "-", session.session_id[:8], ago, layout.join([what, ended])


def _session_mark(session: StoredSession) -> Mark:
    if session.problem:
        return layout.ATTENTION
    return run_mark(session.state.run.status) if session.state.run else layout.QUIET


def health_lines(health: JournalHealth, screen: Screen) -> Iterator[Line]:
    """Yield the state of the journal, and how to fix it."""
    language = screen.language
    texts, screens = load_messages("journal", language), load_messages("screens", language)
    if health.problem:
        yield from layout.marked(layout.BAD, texts["unhealthy"].format(problem=health.problem), screen)
        yield from layout.paragraph(health.path, screen, INDENT)
    elif not health.exists:
        yield from layout.marked(layout.QUIET, texts["no_journal"].format(path=health.path), screen)
    else:
        journal = screens["journal"].format(
            records=format_count("record", health.records, language),
            sessions=format_count("session", health.sessions, language),
            size=format_megabytes(health.size_bytes),
            oldest=format_time(health.oldest)[:10] or "-",
        )
        name = posixpath.basename(health.path)
        title = layout.join([f"{screens['journal_title']} {name}", texts["healthy"].format(mode=health.journal_mode)])
        yield from layout.marked(layout.GOOD, layout.join([title, journal]), screen)
    if health.write_failures:
        events = format_count("event", health.write_failures, language)
        failures = texts["failures"].format(events=events, last=health.last_failure)
        yield from layout.marked(layout.ATTENTION, failures, screen)
    if health.damaged_files:
        damaged = texts["damaged"].format(names=", ".join(health.damaged_files))
        yield from layout.marked(layout.ATTENTION, damaged, screen)
