"""Build the registry from workflow files: the built-in file, then the user's, then the project's.

Invariant: a layer applies as a whole or not at all. All of its problems are reported at once, and the layers before it
stay in force. A project's layer applies only after the user has trusted its content.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from upbeat.core.settings_layers import MAX_PROBLEMS, Layer, did_you_mean, format_value
from upbeat.core.workflow.registry import Agent, Registry, Stage, StageGroups, Workflow
from upbeat.core.workflow.state import StepVerdict
from upbeat.core.workflow.verdict.classify import BAD_VERDICTS

EMPTY_REGISTRY = Registry({}, {}, {})

STAGE_VERDICTS = (StepVerdict.PASS, *BAD_VERDICTS)
SPEC_FILES = ("tasks", "bdd")
EVIDENCE_KINDS = ("tests", "build")
ACCESS_LEVELS = ("read", "write", "all")
MODEL_TIERS = ("strong", "standard", "fast")
LANGUAGES = ("en", "zh")
MAX_ATTEMPTS = 10
MAX_TEXT_CHARS = 200
MAX_NAME_CHARS = 40

_KEBAB = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")
_UPPER = re.compile(r"[A-Z][A-Z0-9]*(?:-[A-Z0-9]+)*")

ParsedEntry = dict[str, Any]
ValueParser = Callable[[Any], tuple[Any, str]]
"""A raw value -> the parsed value and the problem; one of the two is empty."""


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
        patch, wrong = _parse_layer(layer)
        merged = _merge_layer(registry, patch, layer)
        wrong += islice(_find_unresolved(layer, patch, merged, registry), max(MAX_PROBLEMS - len(wrong), 0))
        problems += wrong
        registry = registry if wrong else merged
    return LoadedRegistry(registry, tuple(problems), tuple(untrusted))


# Values


def _expected(choices: Sequence[str], raw: Any) -> str:
    hint = did_you_mean(raw, choices) if isinstance(raw, str) else ""
    return f"takes {', '.join(choices)}; found {format_value(raw)}{hint}"


def _parse_choice(*choices: str) -> ValueParser:
    def parse(raw: Any) -> tuple[Any, str]:
        if isinstance(raw, str) and raw in choices:
            return raw, ""
        return None, _expected(tuple(filter(None, choices)), raw)

    return parse


def _parse_choices(*choices: str, required: str = "") -> ValueParser:
    def parse(raw: Any) -> tuple[Any, str]:
        names, problem = _parse_names(raw)
        unknown = next((name for name in names or () if name not in choices), None)
        if not problem and unknown is not None:
            problem = _expected(choices, unknown)
        if not problem and required and required not in names:
            problem = f"needs {required} among its values; found {format_value(raw)}"
        return names, problem

    return parse


def _parse_names(raw: Any) -> tuple[Any, str]:
    if not isinstance(raw, list) or not all(isinstance(name, str) for name in raw):
        return None, f"takes a list of names; found {format_value(raw)}"
    return tuple(raw), "" if len(set(raw)) == len(raw) else f"has a name twice: {format_value(raw)}"


def _parse_name(raw: Any) -> tuple[Any, str]:
    return (raw, "") if isinstance(raw, str) and raw else (None, f"takes a name; found {format_value(raw)}")


def _parse_skills(raw: Any) -> tuple[Any, str]:
    names, problem = _parse_names(raw)
    invalid = next((name for name in names or () if not _is_valid_name(name, _KEBAB)), None)
    if not problem and invalid is not None:
        problem = f"takes names in lower case with hyphens; found {format_value(invalid)}"
    return names, problem


def _parse_groups(raw: Any) -> tuple[Any, str]:
    """Parse a list of stages; a nested list is a group."""
    if not isinstance(raw, list) or not raw:
        return None, f"takes a list of stages, at least one; found {format_value(raw)}"
    groups = []
    for entry in raw:
        group = entry if isinstance(entry, list) else [entry]
        if not group or not all(isinstance(stage, str) for stage in group):
            return None, f"takes stages and lists of stages, none empty; found {format_value(entry)}"
        if len(set(group)) < len(group):
            return None, f"has a stage twice in one group: {format_value(entry)}"
        groups.append(tuple(group))
    return tuple(groups), ""


def _parse_repairs(raw: Any) -> tuple[Any, str]:
    if not isinstance(raw, dict):
        return None, f"takes a list of stages for each negative verdict, as in repair.fail; found {format_value(raw)}"
    repairs = {}
    for verdict, stages in raw.items():
        if verdict not in BAD_VERDICTS:
            return None, _expected(BAD_VERDICTS, verdict)
        repairs[StepVerdict(verdict)], problem = _parse_groups(stages)
        if problem:
            return None, f"of {verdict} {problem}"
    return repairs, ""


def _parse_attempts(raw: Any) -> tuple[Any, str]:
    is_valid = isinstance(raw, int) and not isinstance(raw, bool) and 1 <= raw <= MAX_ATTEMPTS
    return (
        (raw, "") if is_valid else (None, f"takes a whole number from 1 to {MAX_ATTEMPTS}; found {format_value(raw)}")
    )


def _parse_flag(raw: Any) -> tuple[Any, str]:
    return (raw, "") if isinstance(raw, bool) else (None, f"takes true or false; found {format_value(raw)}")


def _parse_text(raw: Any) -> tuple[Any, str]:
    if not isinstance(raw, dict):
        return None, f"takes a sentence for each language, as in text.en; found {format_value(raw)}"
    for language, sentence in raw.items():
        if language not in LANGUAGES:
            return None, _expected(LANGUAGES, language)
        if not isinstance(sentence, str) or not 0 < len(sentence) <= MAX_TEXT_CHARS or not sentence.isprintable():
            limit = f"one line of at most {MAX_TEXT_CHARS} characters"
            return None, f"of {language} takes {limit}; found {format_value(sentence)}"
    return dict(raw), ""


def _parse_verdicts(raw: Any) -> tuple[Any, str]:
    names, problem = _parse_choices(*STAGE_VERDICTS, required=StepVerdict.PASS)(raw)
    return (None, problem) if problem else (tuple(map(StepVerdict, names)), "")


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


def _parse_layer(layer: Layer) -> tuple[RegistryPatch, list[str]]:
    """Return the valid values of the layer, and at most ``MAX_PROBLEMS`` problems."""
    patch: RegistryPatch = {table: {} for table in TABLE_SCHEMAS}
    return patch, list(islice(_parse_layer_into(patch, layer), MAX_PROBLEMS))


def _parse_layer_into(patch: RegistryPatch, layer: Layer) -> Iterator[str]:
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
        value, problem = parser(raw)
        if problem:
            yield f"{_position_of(layer, full, raw)}: {full} {problem}"
        else:
            values[schema.attribute_names.get(key, key)] = value


def _position_of(layer: Layer, name: str, raw: Any) -> str:
    """Return the location of ``name``; a table written as ``name.key = …`` has only the line of its first key."""
    inner = (f"{name}.{key}" for key in (raw if isinstance(raw, dict) else ()))
    return layer.location_of(next((path for path in inner if path in layer.lines), name))


def _is_valid_name(name: str, pattern: re.Pattern[str]) -> bool:
    return len(name) <= MAX_NAME_CHARS and pattern.fullmatch(name) is not None


# Merging a layer


def _merge_layer(base: Registry, patch: RegistryPatch, layer: Layer) -> Registry:
    """Return ``base`` with the layer's entries overridden key by key, and its new ones added."""
    workflows = {
        name: _merge_workflow(
            base.workflows.get(name) or Workflow(name, ()), values, layer.location_of(f"workflows.{name}")
        )
        for name, values in patch["workflows"].items()
    }
    stages = {
        key: _merge_stage(base.stages.get(key) or Stage(key, ""), values) for key, values in patch["stages"].items()
    }
    agents = {name: replace(base.agents.get(name) or Agent(name), **values) for name, values in patch["agents"].items()}
    return Registry({**base.workflows, **workflows}, {**base.stages, **stages}, {**base.agents, **agents})


def _merge_workflow(base: Workflow, values: ParsedEntry, origin: str) -> Workflow:
    groups = number_repeated_stages(values["groups"]) if "groups" in values else base.groups
    text = {**base.text, **values.get("text", {})}
    return replace(base, **values | {"groups": groups, "text": text, "origin": origin})


def _merge_stage(base: Stage, values: ParsedEntry) -> Stage:
    """Return the stage with ``values``; an earlier repair is dropped together with its verdict."""
    verdicts = values.get("verdicts", base.verdicts)
    repairs = {verdict: groups for verdict, groups in base.repairs.items() if verdict in verdicts}
    text = {**base.text, **values.get("text", {})}
    return replace(base, **values | {"repairs": {**repairs, **values.get("repairs", {})}, "text": text})


def number_repeated_stages(groups: StageGroups) -> StageGroups:
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
