"""What the parser knows about each language: its grammar, and which nodes mean what.

Invariant: the tables are in ``languages.tsv``. A grammar's wheel is imported when its first file is parsed; a node
name that a later version of a grammar lacks is ignored, so an upgrade can lose a detail and never a file.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Any

from upbeat.core.package_data import load_rows

CONTAINER_KINDS = frozenset({"class", "interface", "struct", "enum", "trait", "impl", "type"})
"""Kinds of definitions whose functions are methods."""

SNIFF_BYTES = 20_000
"""Bytes of a header that are searched for C++."""

_CPP_HEADER = re.compile(
    rb"^[ \t]*(?:class[ \t]+\w|namespace\b|template[ \t]*<|using[ \t]+\w|(?:public|private|protected)[ \t]*:)", re.M
)


class DefinitionCondition(StrEnum):
    """When a node is a definition."""

    ALWAYS = "always"
    TOP_LEVEL = "top"
    """Outside all definitions, and not deep inside a statement."""
    FUNCTION_VALUE = "function"
    """When its value is a function; at the top level, with any value."""
    HAS_BODY = "body"
    """When it has a body; otherwise the type is only mentioned."""


@dataclass(frozen=True, slots=True)
class DefinitionRule:
    """How one kind of node defines a symbol; ``name_field`` is the field that leads to the name."""

    kind: str
    name_field: str = "name"
    condition: DefinitionCondition = DefinitionCondition.ALWAYS


@dataclass(frozen=True, slots=True)
class Grammar:
    """One language: where its grammar is, and the names of its nodes.

    Attributes:
        branch_operators: Operators that each add a branch when they join two conditions.
        function_value_nodes: Values that make a name a function (``DefinitionCondition.FUNCTION_VALUE``).
        import_functions: Functions that import a module when they are called.
    """

    module: str
    definitions: Mapping[str, DefinitionRule]
    call_nodes: frozenset[str]
    name_nodes: frozenset[str]
    branch_nodes: frozenset[str]
    import_nodes: frozenset[str] = frozenset()
    language_function: str = "language"
    branch_operators: frozenset[str] = frozenset({"&&", "||", "??"})
    operator_nodes: frozenset[str] = frozenset({"binary_expression"})
    comment_nodes: frozenset[str] = frozenset({"comment"})
    function_value_nodes: frozenset[str] = frozenset()
    import_functions: frozenset[str] = frozenset()


@cache
def _load_tables() -> tuple[Mapping[str, Grammar], Mapping[str, str]]:
    """Return the grammars by name, and the grammars' names by file extension."""
    languages: dict[str, dict[str, Any]] = defaultdict(lambda: {"definitions": {}})
    names_by_extension: dict[str, str] = {}
    for name, field, value, *rest in load_rows("upbeat.adapters.code.syntax", "languages.tsv"):
        if field == "base":
            languages[name] = languages[value] | {"definitions": dict(languages[value]["definitions"])}
        elif field == "extensions":
            names_by_extension |= dict.fromkeys(value.split(), name)
        elif field == "definition":
            kind, name_field, condition = (*rest, *("name", "always")[len(rest) - 1 :])
            languages[name]["definitions"][value] = DefinitionRule(kind, name_field, DefinitionCondition(condition))
        else:
            is_text = field in ("module", "language_function")
            languages[name][field] = value if is_text else frozenset(value.split())
    return {name: Grammar(**fields) for name, fields in languages.items()}, names_by_extension


def load_grammar(name: str) -> Grammar:
    """Return the tables of the grammar called ``name``. Raises KeyError."""
    return _load_tables()[0][name]


def grammar_name(path: str, data: bytes) -> str:
    """Return the name of the grammar for the file at ``path`` with the content ``data``; empty if there is none."""
    extension = path.rpartition("/")[2].rpartition(".")[2].lower() if "." in path else ""
    if extension == "h" and _CPP_HEADER.search(data, 0, SNIFF_BYTES):
        return "cpp"
    return _load_tables()[1].get(extension, "")
