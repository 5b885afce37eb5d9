"""Decide whether an event counts as its client's: a session takes evidence only from the process that began it.

The client starts hooks and the server itself and holds the other end of their pipes; what an agent's shell starts gets
its input from that shell, from a file, or from another program. A client that resumes a session is a new process that
does not descend from the old one, so it becomes the session's sender.
"""

from __future__ import annotations

from upbeat.core.contract.event import SessionStarted
from upbeat.core.engine.evaluate import EventContext
from upbeat.core.workflow.facts import Fact, SenderDeclared
from upbeat.core.workflow.state import DRIVER, SessionState


def refusal_of(context: EventContext, state: SessionState) -> str:
    """Return why an event does not count as its client's; empty if it does. A driver's own events have no arrival."""
    arrival = context.arrival if context.is_enabled else None
    if arrival is None or not state.sender or arrival.sender == state.sender:
        return ""
    if not arrival.sender:
        return "its payload did not come from the client that began the session"
    if state.sender in arrival.sender_ancestors:
        return "the process that sent it was started by the session's agent"
    if state.sender == DRIVER and not arrival.is_client:
        return "the process that sent it is not the client"
    return ""


def declare_sender(context: EventContext, state: SessionState) -> tuple[Fact, ...]:
    """Return the fact that names the session's sender, if the event, which counts, shows a new one."""
    sender = context.arrival.sender if context.arrival else ""
    if context.request is not None and isinstance(context.event, SessionStarted) and not state.sender:
        sender = DRIVER
    return (SenderDeclared(sender),) if context.is_enabled and sender and sender != state.sender else ()
