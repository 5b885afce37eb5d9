"""Workflow files become one registry: the built-in one, then its user's, then the project's.

Law: a layer counts as a whole or not at all. All that is wrong with it is found before any of it is reported, and
what was in force before it stays in force. A project's layer counts only once its user has trusted that content.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from ..layers import MAX_PROBLEMS, Layer, did_you_mean, shown
from .registry import Agent, Groups, Registry, Stage, Workflow
from .verdict import Verdict

EMPTY = Registry({}, {}, {})

BAD_VERDICTS = (Verdict.FAIL, Verdict.REJECT, Verdict.ISSUES)
VERDICTS = (Verdict.PASS, *BAD_VERDICTS)
"""What a stage may say; that it said nothing clear is not for it to say."""
FILES = ("tasks", "bdd")
WITNESSES = ("tests", "build")
ACCESS = ("read", "write", "all")
MODELS = ("strong", "standard", "fast")
LANGUAGES = ("en", "zh")
MAX_TRIES = 10
MAX_TEXT = 200
MAX_NAME = 40

_KEBAB = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")
_UPPER = re.compile(r"[A-Z][A-Z0-9]*(?:-[A-Z0-9]+)*")

Found = dict[str, Any]
Reader = Callable[[Any], tuple[Any, str]]
"""A raw value -> it as a value of ours, and what is wrong with it; one of the two is empty."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """The registry in force, what is wrong with the layers, and the layers left out for want of trust."""

    registry: Registry
    problems: tuple[str, ...] = ()
    untrusted: tuple[str, ...] = ()


def read(layers: Sequence[Layer]) -> Loaded:
    """The registry of ``layers``, the later over the earlier ones. Values are decoded TOML."""
    registry, problems, untrusted = EMPTY, list[str](), list[str]()
    for layer in layers:
        if not layer.trusted:
            untrusted.append(layer.origin)
            continue
        patch, wrong = _patch(layer)
        merged = _merged(registry, patch, layer)
        wrong += islice(_dangling(layer, patch, merged, registry), max(MAX_PROBLEMS - len(wrong), 0))
        problems += wrong
        registry = registry if wrong else merged
    return Loaded(registry, tuple(problems), tuple(untrusted))


# What each field takes


def _one_of(*choices: str) -> Reader:
    def read_choice(raw: Any) -> tuple[Any, str]:
        if isinstance(raw, str) and raw in choices:
            return raw, ""
        hint = did_you_mean(raw, choices) if isinstance(raw, str) else ""
        return None, f"takes {', '.join(filter(None, choices))}; found {shown(raw)}{hint}"

    return read_choice


def _some_of(*choices: str, needed: str = "") -> Reader:
    def read_choices(raw: Any) -> tuple[Any, str]:
        names, problem = _names(raw)
        strange = next((name for name in names or () if name not in choices), None)
        if not problem and strange is not None:
            problem = f"takes {', '.join(choices)}; found {shown(strange)}{did_you_mean(strange, choices)}"
        if not problem and needed and needed not in names:
            problem = f"needs {needed} among its values; found {shown(raw)}"
        return names, problem

    return read_choices


def _names(raw: Any) -> tuple[Any, str]:
    if not isinstance(raw, list) or not all(isinstance(name, str) for name in raw):
        return None, f"takes a list of names; found {shown(raw)}"
    return tuple(raw), "" if len(set(raw)) == len(raw) else f"has a name twice: {shown(raw)}"


def _name(raw: Any) -> tuple[Any, str]:
    return (raw, "") if isinstance(raw, str) and raw else (None, f"takes a name; found {shown(raw)}")


def _skills(raw: Any) -> tuple[Any, str]:
    names, problem = _names(raw)
    strange = next((name for name in names or () if not _is_name(name, _KEBAB)), None)
    if not problem and strange is not None:
        problem = f"takes names in lower case with hyphens; found {shown(strange)}"
    return names, problem


def _groups(raw: Any) -> tuple[Any, str]:
    """Stages in order; a list inside the list is a group."""
    if not isinstance(raw, list) or not raw:
        return None, f"takes a list of stages, at least one; found {shown(raw)}"
    groups = []
    for entry in raw:
        group = entry if isinstance(entry, list) else [entry]
        if not group or not all(isinstance(stage, str) for stage in group):
            return None, f"takes stages and lists of stages, none empty; found {shown(entry)}"
        if len(set(group)) < len(group):
            return None, f"has a stage twice in one group: {shown(entry)}"
        groups.append(tuple(group))
    return tuple(groups), ""


def _repairs(raw: Any) -> tuple[Any, str]:
    if not isinstance(raw, dict):
        return None, f"takes a list of stages for each bad verdict, as in repair.fail; found {shown(raw)}"
    found = {}
    for word, stages in raw.items():
        if word not in BAD_VERDICTS:
            return None, f"takes {', '.join(BAD_VERDICTS)}; found {shown(word)}{did_you_mean(word, BAD_VERDICTS)}"
        found[Verdict(word)], problem = _groups(stages)
        if problem:
            return None, f"of {word} {problem}"
    return found, ""


def _tries(raw: Any) -> tuple[Any, str]:
    good = isinstance(raw, int) and not isinstance(raw, bool) and 1 <= raw <= MAX_TRIES
    return (raw, "") if good else (None, f"takes a whole number from 1 to {MAX_TRIES}; found {shown(raw)}")


def _flag(raw: Any) -> tuple[Any, str]:
    return (raw, "") if isinstance(raw, bool) else (None, f"takes true or false; found {shown(raw)}")


def _text(raw: Any) -> tuple[Any, str]:
    if not isinstance(raw, dict):
        return None, f"takes a sentence for each language, as in text.en; found {shown(raw)}"
    for language, sentence in raw.items():
        if language not in LANGUAGES:
            return None, f"takes {', '.join(LANGUAGES)}; found {shown(language)}{did_you_mean(language, LANGUAGES)}"
        if not isinstance(sentence, str) or not 0 < len(sentence) <= MAX_TEXT or not sentence.isprintable():
            return None, f"of {language} takes one line of at most {MAX_TEXT} characters; found {shown(sentence)}"
    return dict(raw), ""


def _verdicts(raw: Any) -> tuple[Any, str]:
    names, problem = _some_of(*VERDICTS, needed=Verdict.PASS)(raw)
    return (None, problem) if problem else (tuple(map(Verdict, names)), "")


@dataclass(frozen=True, slots=True)
class _Kind:
    """One table of the file: how its entries are named, and each key with what it takes."""

    one: str
    style: re.Pattern[str]
    takes: str
    fields: Mapping[str, Reader]
    attributes: Mapping[str, str] = field(default_factory=dict)
    """Keys whose attribute has another name."""
    needed: str = ""
    """The key that a new entry cannot do without."""


KINDS: Mapping[str, _Kind] = {
    "workflows": _Kind(
        "a workflow",
        _KEBAB,
        "lower case with hyphens",
        {"stages": _groups, "files": _some_of(*FILES), "text": _text},
        {"stages": "groups"},
        needed="stages",
    ),
    "stages": _Kind(
        "a stage",
        _UPPER,
        "upper case with hyphens",
        {
            "agent": _name,
            "verdicts": _verdicts,
            "repair": _repairs,
            "tries": _tries,
            "moves_on": _flag,
            "spec_before": _name,
            "witness": _one_of("", *WITNESSES),
            "text": _text,
        },
        {"repair": "repairs"},
        needed="agent",
    ),
    "agents": _Kind(
        "an agent",
        _KEBAB,
        "lower case with hyphens",
        {"access": _one_of(*ACCESS), "model": _one_of(*MODELS), "skills": _skills},
    ),
}
"""Every table and key of a workflow file."""


# Reading a layer

Patch = dict[str, dict[str, Found]]
"""Table -> name -> attribute -> value, for what could be read."""


def _patch(layer: Layer) -> tuple[Patch, list[str]]:
    """What the layer says, as far as it can be read, and what cannot, at most ``MAX_PROBLEMS``."""
    patch: Patch = {table: {} for table in KINDS}
    return patch, list(islice(_read_into(patch, layer), MAX_PROBLEMS))


def _read_into(patch: Patch, layer: Layer) -> Iterator[str]:
    """Fill ``patch`` from the layer; what is wrong with it comes out."""
    for table, entries in layer.values.items():
        if table not in KINDS:
            yield f"{_line_of(layer, table, entries)}: unknown key {shown(table)}{did_you_mean(table, KINDS)}"
        elif not isinstance(entries, dict):
            yield f"{layer.where(table)}: {table} takes tables, as in [{table}.NAME]; found {shown(entries)}"
        else:
            for name, entry in entries.items():
                found = patch[table][name] = Found()
                yield from _entry(layer, table, name, entry, found)


def _entry(layer: Layer, table: str, name: str, entry: Any, found: Found) -> Iterator[str]:
    kind, place = KINDS[table], f"{table}.{name}"
    if not _is_name(name, kind.style):
        takes = f"{kind.one} is named in {kind.takes}, at most {MAX_NAME} characters; found {shown(name)}"
        yield f"{layer.where(place)}: {takes}"
        return
    if not isinstance(entry, dict):
        yield f"{layer.where(place)}: {place} takes a table; found {shown(entry)}"
        return
    for key, raw in entry.items():
        full, reader = f"{place}.{key}", kind.fields.get(key)
        if reader is None:
            yield f"{_line_of(layer, full, raw)}: unknown key {shown(full)}{did_you_mean(key, kind.fields)}"
            continue
        value, problem = reader(raw)
        if problem:
            yield f"{_line_of(layer, full, raw)}: {full} {problem}"
        else:
            found[kind.attributes.get(key, key)] = value


def _line_of(layer: Layer, name: str, raw: Any) -> str:
    """Where ``name`` stands; a table written as ``name.first = …`` has no line but that of its first key."""
    inner = [f"{name}.{key}" for key in raw] if isinstance(raw, dict) else []
    return layer.where(next((one for one in inner if one in layer.lines), name))


def _is_name(name: str, style: re.Pattern[str]) -> bool:
    return len(name) <= MAX_NAME and style.fullmatch(name) is not None


# Laying it over what there is


def _merged(base: Registry, patch: Patch, layer: Layer) -> Registry:
    """``base`` with the layer's entries changed key by key, and its new ones added."""
    workflows = {
        name: _workflow(base.workflows.get(name) or Workflow(name, ()), found, layer.where(f"workflows.{name}"))
        for name, found in patch["workflows"].items()
    }
    stages = {key: _stage(base.stages.get(key) or Stage(key, ""), found) for key, found in patch["stages"].items()}
    agents = {name: replace(base.agents.get(name) or Agent(name), **found) for name, found in patch["agents"].items()}
    return Registry({**base.workflows, **workflows}, {**base.stages, **stages}, {**base.agents, **agents})


def _workflow(base: Workflow, found: Found, origin: str) -> Workflow:
    groups = numbered(found["groups"]) if "groups" in found else base.groups
    text = {**base.text, **found.get("text", {})}
    return replace(base, **found | {"groups": groups, "text": text, "origin": origin})


def _stage(base: Stage, found: Found) -> Stage:
    """A repair that was there before goes with the verdict that it is for."""
    verdicts = found.get("verdicts", base.verdicts)
    repairs = {verdict: groups for verdict, groups in base.repairs.items() if verdict in verdicts}
    text = {**base.text, **found.get("text", {})}
    return replace(base, **found | {"repairs": {**repairs, **found.get("repairs", {})}, "text": text})


def numbered(groups: Groups) -> Groups:
    """Stages as keys: the second TEST becomes ``TEST:2``."""
    seen: dict[str, int] = {}
    keyed = []
    for group in groups:
        for stage in group:
            seen[stage] = seen.get(stage, 0) + 1
        keyed.append(tuple(stage if seen[stage] == 1 else f"{stage}:{seen[stage]}" for stage in group))
    return tuple(keyed)


# What an entry needs of the others


def _dangling(layer: Layer, patch: Patch, merged: Registry, base: Registry) -> Iterator[str]:
    """What the layer's entries name and nobody has, and what new ones lack."""
    for table, known in (("workflows", base.workflows), ("stages", base.stages)):
        needed = KINDS[table].needed
        for name in patch[table]:
            entry = layer.values[table][name]
            if name not in known and isinstance(entry, dict) and needed not in entry:
                yield f"{layer.where(f'{table}.{name}')}: {table}.{name} needs {needed}"
    for name, found in patch["workflows"].items():
        yield from _unknown_stages(layer, f"workflows.{name}.stages", found.get("groups", ()), merged)
    for key, found in patch["stages"].items():
        yield from _stage_dangling(layer, key, found, merged)


def _stage_dangling(layer: Layer, key: str, found: Found, merged: Registry) -> Iterator[str]:
    place = f"stages.{key}"
    agent, before = found.get("agent"), found.get("spec_before")
    if agent and agent not in merged.agents:
        hint = did_you_mean(agent.lower(), merged.agents)
        yield f"{layer.where(f'{place}.agent')}: {place}.agent names no agent: {shown(agent)}{hint}"
    yield from _unknown_stages(layer, f"{place}.spec_before", ((before,),) if before else (), merged)
    for verdict, groups in found.get("repairs", {}).items():
        repair = f"{place}.repair.{verdict}"
        if verdict not in merged.stages[key].verdicts:
            yield f"{layer.where(repair)}: {repair} is for a verdict that {key} does not have; add it to its verdicts"
        if any(key in group for group in groups):
            yield f"{layer.where(repair)}: {repair} names {key} itself, which is tried again anyway; leave it out"
        yield from _unknown_stages(layer, repair, groups, merged)


def _unknown_stages(layer: Layer, place: str, groups: Groups, merged: Registry) -> Iterator[str]:
    for stage in dict.fromkeys(stage for group in groups for stage in group):
        if stage not in merged.stages:
            hint = did_you_mean(stage.upper(), merged.stages)
            yield f"{layer.where(place)}: {place} names no stage: {shown(stage)}{hint}"
