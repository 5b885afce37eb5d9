"""What the stub model answers: a list of rules, each used once unless it says otherwise.

A script is a JSON list. The first rule that fits a request and is not used up answers it; when none fits, the answer is
the text ``Stub answer <n>.`` where ``n`` counts the answers of that kind.

    [{"when": "find the bug", "reply": [{"tool": "Bash", "input": {"command": "ls"}}]},
     {"reply": [{"text": "half a sen"}, {"wait": 30}, {"text": "tence"}]},
     {"kind": "side", "times": 0, "reply": [{"text": "A title"}]}]

Of a rule, only ``reply`` is needed:

``when``    words that must occur in the newest part of the request (everything after the model's last own message)
``said``    a list of words that must all occur somewhere in the texts of the request; the arguments of tool calls do
            not count, so what one agent tells another is found in the other's requests only
``kind``    ``main`` (the default: a turn of the agent or of a subagent), ``side`` (titles and the like) or ``any``
``times``   how often the rule may answer; 1 by default, 0 for always

A reply is a list of actions, played in order:

``{"text": "…"}``
    a piece of the answer; for Codex, ``"every": 0.2`` streams it word by word, with so many seconds between them
``{"tool": "Bash", "input": {…}}``
    a tool call; for Codex an ``input`` that is a string makes a custom tool call, and ``"namespace": "multi_agent_v1"``
    names the tool's namespace
``{"item": {"type": "…", …}}``
    an output item as it stands; Codex only, for what it knows beside tools
``{"wait": 30}``
    nothing for that many seconds, or until the client hangs up
``{"wait_for": "look around"}``
    nothing until another request, with these words in its newest part, has got its whole answer
``{"cut": true}``
    the connection ends here, in the middle of the answer
``{"failed": "insufficient_quota", "message": "…"}``
    the answer fails with that code in the middle of the stream; Codex only, and nothing follows
``{"error": 500, "body": {…}, "headers": {…}}``
    an HTTP error; only as the first action, and nothing follows
"""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

Kind = Literal["main", "side"]
Action = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of a script."""

    reply: tuple[Action, ...]
    when: str = ""
    said: tuple[str, ...] = ()
    kind: str = "main"
    times: int = 1

    @classmethod
    def read(cls, raw: dict[str, Any]) -> Rule:
        """The rule that ``raw`` describes; an unknown key is a mistake in the test and fails here."""
        return cls(reply=tuple(raw.pop("reply")), said=tuple(raw.pop("said", ())), **raw)

    def fits(self, kind: Kind, newest: str, texts: str) -> bool:
        """Whether this rule is meant for a request of ``kind`` with these ``texts``, of which ``newest`` is the end."""
        return self.kind in (kind, "any") and self.when in newest and all(words in texts for words in self.said)


@dataclass(slots=True)
class Script:
    """The rules of one run, and how often each has answered. Safe to ask from several threads."""

    rules: tuple[Rule, ...] = ()
    _used: dict[int, int] = field(default_factory=dict)
    _answers: dict[Kind, int] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def read(cls, path: Path | None) -> Script:
        """The script in the JSON file ``path``, or the empty script."""
        rules = json.loads(path.read_text(encoding="utf-8")) if path else []
        return cls(rules=tuple(Rule.read(raw) for raw in rules))

    def answer(self, kind: Kind, newest: str, texts: str) -> tuple[Action, ...]:
        """The actions that answer the next request of ``kind`` with these ``texts``, of which ``newest`` is the end."""
        with self._lock:
            self._answers[kind] = self._answers.get(kind, 0) + 1
            for position, rule in enumerate(self.rules):
                used = self._used.get(position, 0)
                if rule.fits(kind, newest, texts) and (rule.times == 0 or used < rule.times):
                    self._used[position] = used + 1
                    return rule.reply
            return ({"text": f"Stub answer {self._answers[kind]}."},)
