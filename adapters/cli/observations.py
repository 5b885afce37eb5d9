"""``upbeat observations list|show ID|forget ID|clear``: what upbeat has learnt here, and how to make it forget.

``--global`` is the list of what has become sure in any project. Nothing is observed unless the user's settings say
``observations.enabled = true``.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime

from ...core.observations import APPLIES, Observation, as_of, proposals
from ..local.environment import Environment, read_environment
from ..local.observations import EVERYWHERE, ObservationFiles, project_identity
from ..local.surroundings import root_of

SCHEMA_VERSION = "1.0"


def run(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="upbeat observations", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, text in (
        ("list", "all of them, the surest first"),
        ("show", "one of them, with all that is known of it"),
        ("forget", "take one away"),
        ("clear", "take all of them away"),
    ):
        command = commands.add_parser(name, help=text)
        if name in ("show", "forget"):
            command.add_argument("id")
        command.add_argument("--json", action="store_true")
        command.add_argument("--global", dest="everywhere", action="store_true", help="of all projects")
        command.add_argument("--repo", help="the repository (default: the one around this folder)")
    options = parser.parse_args(arguments)
    environment = read_environment()
    files = ObservationFiles(environment.state_home)
    identity = EVERYWHERE if options.everywhere else identity_of(options.repo, environment)
    known = as_of(files.load(identity), time.time())
    match options.command:
        case "list":
            return _list(known, as_json=options.json)
        case "show":
            return _show(known, options.id, as_json=options.json)
        case "forget":
            done = {"forgotten": options.id} if files.forget(identity, options.id) else None
            return _done(done, f"forgot {options.id}", options.id, as_json=options.json)
        case _:
            count = files.clear(identity)
            return _done({"cleared": count}, f"forgot {count} observations", "", as_json=options.json)


def identity_of(repo: str | None, environment: Environment) -> str:
    """The project that is meant."""
    return project_identity(root_of(repo, environment))


def _list(known: Sequence[Observation], *, as_json: bool) -> int:
    offered = proposals(known, time.time())
    if as_json:
        document = {"observations": [_row(one) for one in known], "proposals": [asdict(one) for one in offered]}
        print(_json(document))
        return 0
    if not known:
        print("nothing observed here (observations.enabled is off by default)")
    for one in known:
        sure = "*" if one.confidence >= APPLIES else " "
        print(f"{one.id}  {one.confidence:.2f}{sure} {one.count:>4}x  {one.type:<18} {one.trigger} -> {one.action}")
    for proposal in offered:
        print(f"{proposal.count} observations on {proposal.tag}: worth {_article(proposal.kind)} of its own")
    return 0


def _show(known: Sequence[Observation], name: str, *, as_json: bool) -> int:
    found = next((one for one in known if one.id == name), None)
    if found is None:
        return _missing(name)
    row = _row(found)
    print(_json({"observation": row}) if as_json else "\n".join(f"{key:<12}{value}" for key, value in row.items()))
    return 0


def _done(document: Mapping[str, object] | None, text: str, name: str, *, as_json: bool) -> int:
    if document is None:
        return _missing(name)
    print(_json(document) if as_json else f"upbeat: {text}")
    return 0


def _missing(name: str) -> int:
    print(f"upbeat: no observation {name}; upbeat observations list shows them", file=sys.stderr)
    return 1


def _row(one: Observation) -> dict[str, object]:
    times = {name: _time(getattr(one, name)) for name in ("first_seen", "last_seen")}
    return asdict(one) | times | {"applies": one.confidence >= APPLIES}


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def _article(kind: str) -> str:
    return f"an {kind}" if kind == "agent" else f"a {kind}"


def _json(document: Mapping[str, object]) -> str:
    return json.dumps({"schema_version": SCHEMA_VERSION, **document}, indent=2, ensure_ascii=False)
