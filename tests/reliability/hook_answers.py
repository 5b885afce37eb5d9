"""What a client takes as the answer of a hook.

Invariant: whatever the client itself would refuse or ignore is a fault here. Codex has published schemas of
its answers. For Claude Code ``claude_answer.schema.json`` holds the rules that were seen on the real program.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import jsonschema_rs
import pydantic_core

from upbeat.adapters.claude.codec import CLAUDE_CODEC
from upbeat.adapters.codex.codec import CODEX_CODEC
from upbeat.core.contract.event import UnknownEvent
from upbeat.core.sanitize.truncate import LengthUnit, measure_text

MOST_LEVELS = 128
"""Of nesting that Codex's parser takes."""
MOST_TEXT = 10_000
"""Units that reach a model or a user whole: UTF-16 for Claude Code, bytes for Codex."""
UNITS = {"claude-code": LengthUnit.UTF16, "codex-cli": LengthUnit.UTF8}
CODECS = {"claude-code": CLAUDE_CODEC, "codex-cli": CODEX_CODEC}


def _validator(path: Path) -> Any:
    return jsonschema_rs.validator_for(json.loads(path.read_text(encoding="utf-8")))


_CLAUDE = _validator(Path(__file__).with_name("claude_answer.schema.json"))
_CODEX = {
    path.name.partition(".")[0]: _validator(path)
    for path in (Path(__file__).parents[1] / "recorded/codex/hook_schemas").glob("*.output.json")
}


def fault_of(client: str, payload: bytes, output: bytes) -> str:
    """Return why ``client`` would not take ``output`` as the answer to ``payload``; empty where it would."""
    if not output:
        return ""
    try:
        answer = pydantic_core.from_json(output, allow_inf_nan=False)
        fields = json.loads(payload.decode("utf-8-sig"))
    except ValueError as error:
        return f"no JSON: {error}"
    if _levels(answer) > MOST_LEVELS:
        return f"nested in more than {MOST_LEVELS} levels"
    specific = answer.get("hookSpecificOutput", {}) if isinstance(answer, dict) else {}
    name = fields.get("hook_event_name")
    if specific and specific.get("hookEventName") != name:
        return f"answers {specific.get('hookEventName')} to {name}"
    texts = (answer.get("systemMessage", ""), specific.get("additionalContext", ""))
    if any(measure_text(text, UNITS[client]) > MOST_TEXT for text in texts):
        return f"a text of more than {MOST_TEXT}"
    lost = set(fields.get("tool_input") or ()) - set(specific.get("updatedInput") or fields.get("tool_input") or ())
    return f"lost {sorted(lost)[:3]} of an input" if lost else _against_schema(client, str(name), answer)


def is_noise(client: str, payload: bytes) -> bool:
    """Whether ``payload`` tells something of which no record is wanted."""
    try:
        event = CODECS[client].decode(json.loads(payload.decode("utf-8-sig")))
    except Exception:  # whatever it is, it should have left a record
        return False
    return isinstance(event, UnknownEvent) and event.is_noise


def _against_schema(client: str, name: str, answer: Mapping[str, Any]) -> str:
    words = re.sub(r"(?<!^)(?=[A-Z])", "-", name).lower()
    schema = _CLAUDE if client == "claude-code" else _CODEX.get(words)
    if schema is None:
        return f"Codex takes no answer to {name}"
    error = next(iter(schema.iter_errors(answer)), None)
    return error.message[:200] if error else ""


def _levels(value: object) -> int:
    """Return in how many levels ``value`` is nested; a loop, for recursion has a limit."""
    level, depth = [value], 0
    while level:
        depth += 1
        parts = [part for outer in level for part in _parts(outer)]
        level = [part for part in parts if isinstance(part, dict | list)]
    return depth


def _parts(value: Any) -> Iterable[object]:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
