"""Build the registry from workflow files: the built-in file, then the user's, then the project's.

Invariant: a layer applies as a whole or not at all. All of its problems are reported at once, and the layers before it
stay in force. A project's layer applies only after the user has trusted its content.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from upbeat.core.lazy_dataclass import replace
from upbeat.core.settings_layers import MAX_PROBLEMS, Layer, did_you_mean, format_value
from upbeat.core.workflow.registry import Agent, Registry, Stage, StageGroups, Workflow
from upbeat.core.workflow.state import StepVerdict
from upbeat.core.workflow.verdict.classify import BAD_VERDICTS
from upbeat.core.workflow.verdict.reading import CHANGES

EMPTY_REGISTRY = Registry({}, {}, {})

STAGE_VERDICTS = (StepVerdict.PASS, *BAD_VERDICTS)
SPEC_FILES = ("tasks", "bdd")
EVIDENCE_KINDS = ("tests", "build", CHANGES)
ACCESS_LEVELS = ("read", "write", "all")
MODEL_TIERS = ("strong", "standard", "fast")
LANGUAGES = ("en", "zh")
MAX_ATTEMPTS = 10
MAX_TEXT_CHARS = 200
MAX_NAME_CHARS = 40

_KEBAB = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")
_UPPER = re.compile(r"[A-Z][A-Z0-9]*(?:-[A-Z0-9]+)*")

ParsedEntry = dict[str, Any]
ValueParser = Callable[[Any], Any]
"""Return the parsed value of a raw one, or raise ``ValueError`` with what the key takes instead."""


@dataclass(frozen=True, slots=True)
class LoadedRegistry:
    """The registry in force, the problems of the layers, and the layers ignored because they are not trusted."""

    registry: Registry
    problems: tuple[str, ...] = ()
    untrusted_files: tuple[str, ...] = ()


def load_registry(layers: Sequence[Layer]) -> LoadedRegistry:
    """Return the registry of ``layers`` (decoded TOML); later layers override earlier ones."""
    registry, problems, untrusted = EMPTY_REGISTRY, list[str](), list[str]()
    for layer in layers:
        if not layer.is_trusted:
            untrusted.append(layer.origin)
            continue
        patch: RegistryPatch = {table: {} for table in TABLE_SCHEMAS}
        wrong = list(islice(_parse_layer(layer, patch), MAX_PROBLEMS))
        merged = _merge_layer(registry, patch, layer)
        wrong += islice(_find_unresolved(layer, patch, merged, registry), max(MAX_PROBLEMS - len(wrong), 0))
        problems += wrong
        registry = registry if wrong else merged
    return LoadedRegistry(registry, tuple(problems), tuple(untrusted))


# Values


def _invalid(takes: str, raw: Any, hint: str = "") -> ValueError:
    return ValueError(f"{takes}; found {format_value(raw)}{hint}")


def _parse_choice(*choices: str) -> ValueParser:
    def parse(raw: Any) -> str:
        if isinstance(raw, str) and raw in choices:
            return raw
        hint = did_you_mean(raw, choices) if isinstance(raw, str) else ""
        raise _invalid(f"takes {', '.join(filter(None, choices))}", raw, hint)

    return parse


def _parse_choices(*choices: str) -> ValueParser:
    return lambda raw: tuple(map(_parse_choice(*choices), _parse_names(raw)))


def _parse_names(raw: Any) -> tuple[str, ...]:
    if not isinstance(raw, list) or not all(isinstance(name, str) for name in raw):
        raise _invalid("takes a list of names", raw)
    if len(set(raw)) < len(raw):
        raise ValueError(f"has a name twice: {format_value(raw)}")
    return tuple(raw)


def _parse_name(raw: Any) -> str:
    if isinstance(raw, str) and raw:
        return raw
    raise _invalid("takes a name", raw)


def _parse_skills(raw: Any) -> tuple[str, ...]:
    names = _parse_names(raw)
    for name in names:
        if not _is_valid_name(name, _KEBAB):
            raise _invalid("takes names in lower case with hyphens", name)
    return names


def _parse_groups(raw: Any) -> StageGroups:
    """Parse a list of stages; a nested list is a group."""
    if not isinstance(raw, list) or not raw:
        raise _invalid("takes a list of stages, at least one", raw)
    groups = []
    for entry in raw:
        group = entry if isinstance(entry, list) else [entry]
        if not group or not all(isinstance(stage, str) for stage in group):
            raise _invalid("takes stages and lists of stages, none empty", entry)
        if len(set(group)) < len(group):
            raise ValueError(f"has a stage twice in one group: {format_value(entry)}")
        groups.append(tuple(group))
    return tuple(groups)


def _parse_repairs(raw: Any) -> dict[StepVerdict, StageGroups]:
    if not isinstance(raw, dict):
        raise _invalid("takes a list of stages for each negative verdict, as in repair.fail", raw)
    repairs = {}
    for name, stages in raw.items():
        verdict = StepVerdict(_parse_choice(*BAD_VERDICTS)(name))
        try:
            repairs[verdict] = _parse_groups(stages)
        except ValueError as error:
            raise ValueError(f"of {verdict} {error}") from None
    return repairs


def _parse_attempts(raw: Any) -> int:
    if isinstance(raw, int) and not isinstance(raw, bool) and 1 <= raw <= MAX_ATTEMPTS:
        return raw
    raise _invalid(f"takes a whole number from 1 to {MAX_ATTEMPTS}", raw)


def _parse_flag(raw: Any) -> bool:
    if isinstance(raw, bool):
        return raw
    raise _invalid("takes true or false", raw)


def _parse_text(raw: Any) -> dict[str, str]:
    if not isinstance(raw, dict):
        raise _invalid("takes a sentence for each language, as in text.en", raw)
    for language, sentence in raw.items():
        _parse_choice(*LANGUAGES)(language)
        if not isinstance(sentence, str) or not 0 < len(sentence) <= MAX_TEXT_CHARS or not sentence.isprintable():
            raise _invalid(f"of {language} takes one line of at most {MAX_TEXT_CHARS} characters", sentence)
    return dict(raw)


def _parse_verdicts(raw: Any) -> tuple[StepVerdict, ...]:
    verdicts = tuple(map(StepVerdict, _parse_choices(*STAGE_VERDICTS)(raw)))
    if StepVerdict.PASS not in verdicts:
        raise _invalid("needs pass among its values", raw)
    return verdicts


@dataclass(frozen=True, slots=True)
class _TableSchema:
    """One table of the file: the form of its names, and the parser of each key."""

    label: str
    name_pattern: re.Pattern[str]
    name_rule: str
    parsers: Mapping[str, ValueParser]
    attribute_names: Mapping[str, str] = field(default_factory=dict)
    """Keys that differ from the name of their attribute."""
    required_key: str = ""
    """The key that a new entry must have."""


TABLE_SCHEMAS: Mapping[str, _TableSchema] = {
    "workflows": _TableSchema(
        "a workflow",
        _KEBAB,
        "lower case with hyphens",
        {"stages": _parse_groups, "files": _parse_choices(*SPEC_FILES), "text": _parse_text},
        {"stages": "groups"},
        required_key="stages",
    ),
    "stages": _TableSchema(
        "a stage",
        _UPPER,
        "upper case with hyphens",
        {
            "agent": _parse_name,
            "verdicts": _parse_verdicts,
            "repair": _parse_repairs,
            "max_attempts": _parse_attempts,
            "continues_on_failure": _parse_flag,
            "spec_before": _parse_name,
            "needs_agent": _parse_flag,
            "splits_into_subtasks": _parse_flag,
            "required_evidence": _parse_choice("", *EVIDENCE_KINDS),
            "text": _parse_text,
        },
        {"repair": "repairs"},
        required_key="agent",
    ),
    "agents": _TableSchema(
        "an agent",
        _KEBAB,
        "lower case with hyphens",
        {"access": _parse_choice(*ACCESS_LEVELS), "model": _parse_choice(*MODEL_TIERS), "skills": _parse_skills},
    ),
}
"""Every table and key of a workflow file."""


# Parsing a layer

RegistryPatch = dict[str, dict[str, ParsedEntry]]
"""Table -> name -> attribute -> value, for the valid values."""


def _parse_layer(layer: Layer, patch: RegistryPatch) -> Iterator[str]:
    """Fill ``patch`` from the layer and yield its problems."""
    for table, entries in layer.values.items():
        if table not in TABLE_SCHEMAS:
            hint = did_you_mean(table, TABLE_SCHEMAS)
            yield f"{_position_of(layer, table, entries)}: unknown key {format_value(table)}{hint}"
        elif not isinstance(entries, dict):
            location = layer.location_of(table)
            yield f"{location}: {table} takes tables, as in [{table}.NAME]; found {format_value(entries)}"
        else:
            for name, entry in entries.items():
                values = patch[table][name] = ParsedEntry()
                yield from _parse_entry(layer, table, name, entry, values)


def _parse_entry(layer: Layer, table: str, name: str, entry: Any, values: ParsedEntry) -> Iterator[str]:
    schema, path = TABLE_SCHEMAS[table], f"{table}.{name}"
    if not _is_valid_name(name, schema.name_pattern):
        rule = f"{schema.label} is named in {schema.name_rule}, at most {MAX_NAME_CHARS} characters"
        yield f"{layer.location_of(path)}: {rule}; found {format_value(name)}"
        return
    if not isinstance(entry, dict):
        yield f"{layer.location_of(path)}: {path} takes a table; found {format_value(entry)}"
        return
    for key, raw in entry.items():
        full, parser = f"{path}.{key}", schema.parsers.get(key)
        if parser is None:
            hint = did_you_mean(key, schema.parsers)
            yield f"{_position_of(layer, full, raw)}: unknown key {format_value(full)}{hint}"
            continue
        try:
            values[schema.attribute_names.get(key, key)] = parser(raw)
        except ValueError as error:
            yield f"{_position_of(layer, full, raw)}: {full} {error}"


def _position_of(layer: Layer, name: str, raw: Any) -> str:
    """Return the location of ``name``; a table written as ``name.key = …`` has only the line of its first key."""
    inner = (f"{name}.{key}" for key in (raw if isinstance(raw, dict) else ()))
    return layer.location_of(next((path for path in inner if path in layer.lines), name))


def _is_valid_name(name: str, pattern: re.Pattern[str]) -> bool:
    return len(name) <= MAX_NAME_CHARS and pattern.fullmatch(name) is not None


# Merging a layer


def _merge_layer(base: Registry, patch: RegistryPatch, layer: Layer) -> Registry:
    """Return ``base`` with the layer's entries overridden key by key, and its new ones added."""
    workflows = dict(base.workflows)
    for name, values in patch["workflows"].items():
        workflow = base.workflows.get(name) or Workflow(name, ())
        groups = _number_repeated_stages(values["groups"]) if "groups" in values else workflow.groups
        text = {**workflow.text, **values.get("text", {})}
        origin = layer.location_of(f"workflows.{name}")
        workflows[name] = replace(workflow, **values | {"groups": groups, "text": text, "origin": origin})
    stages = dict(base.stages)
    for key, values in patch["stages"].items():
        stage = base.stages.get(key) or Stage(key, "")
        verdicts = values.get("verdicts", stage.verdicts)  # an earlier repair is dropped together with its verdict
        repairs = {verdict: groups for verdict, groups in stage.repairs.items() if verdict in verdicts}
        merged = {"repairs": {**repairs, **values.get("repairs", {})}, "text": {**stage.text, **values.get("text", {})}}
        stages[key] = replace(stage, **values | merged)
    agents = {name: replace(base.agents.get(name) or Agent(name), **values) for name, values in patch["agents"].items()}
    return Registry(workflows, stages, {**base.agents, **agents})


def _number_repeated_stages(groups: StageGroups) -> StageGroups:
    """Return the stages as step keys: the second TEST becomes ``TEST:2``."""
    counts = Counter[str]()
    keyed = []
    for group in groups:
        counts.update(group)
        keyed.append(tuple(stage if counts[stage] == 1 else f"{stage}:{counts[stage]}" for stage in group))
    return tuple(keyed)


# References between entries


def _find_unresolved(layer: Layer, patch: RegistryPatch, merged: Registry, base: Registry) -> Iterator[str]:
    """Yield names that the layer's entries refer to and that do not exist, and keys that new entries lack."""
    for table, known in (("workflows", base.workflows), ("stages", base.stages)):
        required = TABLE_SCHEMAS[table].required_key
        for name in patch[table]:
            entry = layer.values[table][name]
            if name not in known and isinstance(entry, dict) and required not in entry:
                yield f"{layer.location_of(f'{table}.{name}')}: {table}.{name} needs {required}"
    for name, values in patch["workflows"].items():
        yield from _find_unknown_stages(layer, f"workflows.{name}.stages", values.get("groups", ()), merged)
    for key, values in patch["stages"].items():
        yield from _find_unresolved_in_stage(layer, key, values, merged)


def _find_unresolved_in_stage(layer: Layer, key: str, values: ParsedEntry, merged: Registry) -> Iterator[str]:
    path = f"stages.{key}"
    agent, before = values.get("agent"), values.get("spec_before")
    if agent and agent not in merged.agents:
        hint = did_you_mean(agent.lower(), merged.agents)
        yield f"{layer.location_of(f'{path}.agent')}: {path}.agent names no agent: {format_value(agent)}{hint}"
    yield from _find_unknown_stages(layer, f"{path}.spec_before", ((before,),) if before else (), merged)
    stage = merged.stages[key]
    if stage.required_evidence == CHANGES and not stage.needs_agent:
        location = layer.location_of(f"{path}.{'needs_agent' if 'needs_agent' in values else 'required_evidence'}")
        yield f"{location}: {path} requires the reading of a subagent; set needs_agent = true"
    for verdict, groups in values.get("repairs", {}).items():
        repair = f"{path}.repair.{verdict}"
        if verdict not in merged.stages[key].verdicts:
            location = layer.location_of(repair)
            yield f"{location}: {repair} is for a verdict that {key} does not have; add it to its verdicts"
        if any(key in group for group in groups):
            yield f"{layer.location_of(repair)}: {repair} names {key} itself, which is retried anyway; remove it"
        yield from _find_unknown_stages(layer, repair, groups, merged)


def _find_unknown_stages(layer: Layer, path: str, groups: StageGroups, merged: Registry) -> Iterator[str]:
    for stage in dict.fromkeys(stage for group in groups for stage in group):
        if stage not in merged.stages:
            hint = did_you_mean(stage.upper(), merged.stages)
            yield f"{layer.location_of(path)}: {path} names no stage: {format_value(stage)}{hint}"
