"""Truncate the labels of a question's options to fit a terminal."""

from __future__ import annotations

from upbeat.core.contract.effect import RelabelOptions
from upbeat.core.contract.event import UserQuestionRequested
from upbeat.core.policy.definition import NO_RESULT, Handler, Policy, PolicyContext, PolicyResult

MAX_LABEL_CHARS = 30
MAX_LABELS = 40

_ELLIPSIS = "…"


def _on_asking_user(event: UserQuestionRequested, context: PolicyContext) -> PolicyResult:
    long = [label for label in event.call.option_labels[:MAX_LABELS] if len(label) > MAX_LABEL_CHARS]
    if not long:
        return NO_RESULT
    used_labels = {label for label in event.call.option_labels if len(label) <= MAX_LABEL_CHARS}
    labels: dict[str, str] = {}
    for label in long:
        labels[label] = _truncate(label, used_labels)
        used_labels.add(labels[label])
    text = context.text("text", count=len(long), most=MAX_LABEL_CHARS)
    return PolicyResult((RelabelOptions(text, labels),), f"{len(long)} labels longer than {MAX_LABEL_CHARS} characters")


def _truncate(label: str, used_labels: set[str]) -> str:
    """Return ``label`` in ``MAX_LABEL_CHARS``, cut at a word end in its second half if any, and unique."""
    head = label[: MAX_LABEL_CHARS - 1]
    cut = head.rfind(" ")
    whole = head if label[MAX_LABEL_CHARS - 1] == " " or cut < MAX_LABEL_CHARS // 2 else head[:cut]
    short = f"{whole.rstrip()}{_ELLIPSIS}"
    number = 2
    while short in used_labels:
        end = f"{_ELLIPSIS}{number}"
        short, number = f"{label[: MAX_LABEL_CHARS - len(end)].rstrip()}{end}", number + 1
    return short


POLICY = Policy(
    name="truncate-question-labels",
    handlers={UserQuestionRequested: Handler(_on_asking_user)},
    effects=(RelabelOptions,),
)
