"""Cut the labels of a question's choices to what a terminal has room for (question-label-truncator)."""

from __future__ import annotations

from ..contract.effect import Relabel
from ..contract.event import AskingUser, ClientName
from .policy import SILENT, WORKS, Carries, Policy, Standing, View, Word, Words

LONGEST = 30
"""Characters of a label."""
MOST = 40
"""Labels that are looked at."""

_CUT = "…"
_TEXT = Words("{count} labels were longer than {most} characters.", "{count} 个选项超过 {most} 个字符。")


def _asking(event: AskingUser, view: View) -> Word:
    long = [label for label in event.call.labels[:MOST] if len(label) > LONGEST]
    if not long:
        return SILENT
    taken = {label for label in event.call.labels if len(label) <= LONGEST}
    labels: dict[str, str] = {}
    for label in long:
        labels[label] = _short(label, taken)
        taken.add(labels[label])
    text = _TEXT.of(view.language).format(count=len(long), most=LONGEST)
    return Word((Relabel(text, labels),), f"{len(long)} labels of more than {LONGEST} characters")


def _short(label: str, taken: set[str]) -> str:
    """``label`` in ``LONGEST`` characters, at the end of a word if one ends in its second half; none is there twice."""
    head = label[: LONGEST - 1]
    cut = head.rfind(" ")
    whole = head if label[LONGEST - 1] == " " or cut < LONGEST // 2 else head[:cut]
    short = f"{whole.rstrip()}{_CUT}"
    number = 2
    while short in taken:
        end = f"{_CUT}{number}"
        short, number = f"{label[: LONGEST - len(end)].rstrip()}{end}", number + 1
    return short


POLICY = Policy(
    name="shorten-question-labels",
    original="question-label-truncator",
    number=33,
    what=Words(
        f"It cuts the labels of a question's choices to {LONGEST} characters; the whole label stands in the choice's "
        "description then.",
        f"把提问选项的标签缩短到 {LONGEST} 个字符，完整标签放进该选项的说明。",
    ),
    why=Words(
        "A list of long labels cannot be read at a glance, and breaks in a narrow terminal.",
        "标签太长无法一眼看清，在窄终端里还会折行。",
    ),
    silent=Words(f"when every label has at most {LONGEST} characters", f"所有标签都不超过 {LONGEST} 个字符时"),
    on={AskingUser: _asking},
    clients={
        ClientName.CLAUDE_CODE: WORKS,
        ClientName.CODEX_CLI: Standing(Carries.CANNOT, "it takes no changed input of a question"),
    },
)
