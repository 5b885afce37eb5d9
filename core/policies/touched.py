"""Which files a call has touched. Law: a call that failed has touched none."""

from __future__ import annotations

from ..contract.event import Act, Event, ToolFinished

_TOUCHES = frozenset({Act.READ, Act.EDIT, Act.WRITE})


def touched(event: Event) -> tuple[str, ...]:
    """The absolute paths that ``event`` has touched, each once."""
    if not isinstance(event, ToolFinished) or event.failed or event.call.act not in _TOUCHES:
        return ()
    return event.call.paths
