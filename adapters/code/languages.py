"""What the parser has to know of each language: its grammar, and which nodes mean what.

Law: tables only. A grammar is a wheel that is imported when its first file is parsed; a node name that a later
version of a grammar lacks is passed over, so that an upgrade can cost a detail and never a file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from .kinds import LANGUAGE_OF


class Only(StrEnum):
    """When a node is a definition after all."""

    ALWAYS = "always"
    TOP = "top"
    """Outside of every definition, and not deep inside a statement."""
    FUNCTION = "function"
    """When its value is a function; at the top, any value."""
    BODY = "body"
    """When it has a body: otherwise the type is only mentioned."""


@dataclass(frozen=True, slots=True)
class Rule:
    """How one kind of node defines something; ``name`` is the field that leads to the name."""

    kind: str
    name: str = "name"
    only: Only = Only.ALWAYS


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


@dataclass(frozen=True, slots=True)
class Grammar:
    """One language: where its grammar is, and the names of its nodes."""

    module: str
    definitions: Mapping[str, Rule]
    calls: frozenset[str]
    names: frozenset[str]
    imports: frozenset[str]
    branches: frozenset[str]
    function: str = "language"
    operators: frozenset[str] = frozenset({"&&", "||", "??"})
    """Written between two conditions, each is one more way through."""
    binary: frozenset[str] = frozenset({"binary_expression"})
    comments: frozenset[str] = frozenset({"comment"})
    values: frozenset[str] = frozenset()
    """What makes a name with a value a function (``Only.FUNCTION``)."""
    callable_imports: frozenset[str] = field(default_factory=frozenset)
    """Functions that import when they are called."""


_FUNCTION = Rule("function")
_CLASS = Rule("class")
_INTERFACE = Rule("interface")
_ENUM = Rule("enum")
_TYPE = Rule("type")
_MODULE = Rule("module")
_CONSTANT = Rule("constant", only=Only.TOP)

_PYTHON = Grammar(
    module="tree_sitter_python",
    definitions={
        "function_definition": _FUNCTION,
        "class_definition": _CLASS,
        "assignment": Rule("constant", "left", Only.TOP),
        "type_alias_statement": Rule("type", "left"),
    },
    calls=_words("call decorator"),
    names=_words("identifier"),
    imports=_words("import_statement import_from_statement"),
    branches=_words(
        "if_statement elif_clause for_statement while_statement except_clause conditional_expression case_clause"
        " for_in_clause if_clause"
    ),
    operators=_words("and or"),
    binary=_words("boolean_operator"),
)

_JS_DEFINITIONS = {
    "function_declaration": _FUNCTION,
    "generator_function_declaration": _FUNCTION,
    "class_declaration": _CLASS,
    "method_definition": Rule("method"),
    "variable_declarator": Rule("constant", only=Only.FUNCTION),
    "field_definition": Rule("constant", "property", Only.FUNCTION),
    "pair": Rule("function", "key", Only.FUNCTION),
    "assignment_expression": Rule("function", "left", Only.FUNCTION),
}
_JS_BRANCHES = _words(
    "if_statement for_statement for_in_statement while_statement do_statement catch_clause switch_case"
    " ternary_expression"
)
_JS_VALUES = _words("arrow_function function_expression generator_function function")
_JS_NAMES = _words("identifier property_identifier private_property_identifier shorthand_property_identifier")

_JAVASCRIPT = Grammar(
    module="tree_sitter_javascript",
    definitions=_JS_DEFINITIONS,
    calls=_words("call_expression new_expression jsx_opening_element jsx_self_closing_element"),
    names=_JS_NAMES,
    imports=_words("import_statement export_statement"),
    branches=_JS_BRANCHES,
    values=_JS_VALUES,
    callable_imports=_words("require"),
)
_TYPESCRIPT = Grammar(
    module="tree_sitter_typescript",
    function="language_typescript",
    definitions=_JS_DEFINITIONS
    | {
        "abstract_class_declaration": _CLASS,
        "interface_declaration": _INTERFACE,
        "type_alias_declaration": _TYPE,
        "enum_declaration": _ENUM,
        "internal_module": _MODULE,
        "module": _MODULE,
        "function_signature": _FUNCTION,
        "method_signature": Rule("method"),
        "abstract_method_signature": Rule("method"),
        "public_field_definition": Rule("constant", only=Only.FUNCTION),
    },
    calls=_JAVASCRIPT.calls,
    names=_JS_NAMES | {"type_identifier"},
    imports=_JAVASCRIPT.imports,
    branches=_JS_BRANCHES,
    values=_JS_VALUES,
    callable_imports=_JAVASCRIPT.callable_imports,
)
_TSX = Grammar(
    module="tree_sitter_typescript",
    function="language_tsx",
    definitions=_TYPESCRIPT.definitions,
    calls=_JAVASCRIPT.calls,
    names=_TYPESCRIPT.names,
    imports=_JAVASCRIPT.imports,
    branches=_JS_BRANCHES,
    values=_JS_VALUES,
    callable_imports=_JAVASCRIPT.callable_imports,
)

_GO = Grammar(
    module="tree_sitter_go",
    definitions={
        "function_declaration": _FUNCTION,
        "method_declaration": Rule("method"),
        "type_spec": _TYPE,
        "type_alias": _TYPE,
        "const_spec": _CONSTANT,
        "var_spec": _CONSTANT,
        "method_elem": Rule("method"),
    },
    calls=_words("call_expression"),
    names=_words("identifier type_identifier field_identifier"),
    imports=_words("import_spec"),
    branches=_words("if_statement for_statement expression_case type_case communication_case"),
)

_RUST = Grammar(
    module="tree_sitter_rust",
    definitions={
        "function_item": _FUNCTION,
        "function_signature_item": _FUNCTION,
        "struct_item": Rule("struct"),
        "enum_item": _ENUM,
        "union_item": Rule("struct"),
        "trait_item": Rule("trait"),
        "type_item": _TYPE,
        "mod_item": Rule("module", only=Only.BODY),
        "impl_item": Rule("impl", "type"),
        "macro_definition": Rule("macro"),
        "const_item": Rule("constant"),
        "static_item": Rule("constant"),
    },
    calls=_words("call_expression macro_invocation"),
    names=_words("identifier type_identifier field_identifier"),
    imports=_words("use_declaration mod_item"),
    branches=_words("if_expression match_arm for_expression while_expression"),
    comments=_words("line_comment block_comment"),
)

_JAVA = Grammar(
    module="tree_sitter_java",
    definitions={
        "class_declaration": _CLASS,
        "interface_declaration": _INTERFACE,
        "enum_declaration": _ENUM,
        "record_declaration": _CLASS,
        "annotation_type_declaration": _INTERFACE,
        "method_declaration": Rule("method"),
        "constructor_declaration": Rule("method"),
        "compact_constructor_declaration": Rule("method"),
    },
    calls=_words("method_invocation object_creation_expression"),
    names=_words("identifier type_identifier"),
    imports=_words("import_declaration"),
    branches=_words(
        "if_statement for_statement enhanced_for_statement while_statement do_statement catch_clause switch_label"
        " ternary_expression"
    ),
    comments=_words("line_comment block_comment"),
)

_C_DEFINITIONS = {
    "function_definition": Rule("function", "declarator"),
    "struct_specifier": Rule("struct", only=Only.BODY),
    "union_specifier": Rule("struct", only=Only.BODY),
    "enum_specifier": Rule("enum", only=Only.BODY),
    "type_definition": Rule("type", "declarator"),
    "preproc_def": Rule("macro"),
    "preproc_function_def": Rule("macro"),
}
_C_BRANCHES = _words("if_statement for_statement while_statement do_statement case_statement conditional_expression")
_C = Grammar(
    module="tree_sitter_c",
    definitions=_C_DEFINITIONS,
    calls=_words("call_expression"),
    names=_words("identifier type_identifier field_identifier"),
    imports=_words("preproc_include"),
    branches=_C_BRANCHES,
)
_CPP = Grammar(
    module="tree_sitter_cpp",
    definitions=_C_DEFINITIONS
    | {
        "class_specifier": Rule("class", only=Only.BODY),
        "namespace_definition": _MODULE,
        "alias_declaration": _TYPE,
        "concept_definition": _TYPE,
    },
    calls=_words("call_expression new_expression"),
    names=_words("identifier type_identifier field_identifier destructor_name operator_name namespace_identifier"),
    imports=_words("preproc_include"),
    branches=_C_BRANCHES | {"for_range_loop", "catch_clause"},
)

_C_SHARP = Grammar(
    module="tree_sitter_c_sharp",
    definitions={
        "class_declaration": _CLASS,
        "struct_declaration": Rule("struct"),
        "interface_declaration": _INTERFACE,
        "enum_declaration": _ENUM,
        "record_declaration": _CLASS,
        "delegate_declaration": _TYPE,
        "namespace_declaration": _MODULE,
        "method_declaration": Rule("method"),
        "constructor_declaration": Rule("method"),
        "property_declaration": Rule("property"),
        "local_function_statement": _FUNCTION,
    },
    calls=_words("invocation_expression object_creation_expression"),
    names=_words("identifier"),
    imports=_words("using_directive"),
    branches=_words(
        "if_statement for_statement foreach_statement while_statement do_statement catch_clause switch_section"
        " switch_expression_arm conditional_expression"
    ),
)

_RUBY = Grammar(
    module="tree_sitter_ruby",
    definitions={
        "method": Rule("method"),
        "singleton_method": Rule("method"),
        "class": _CLASS,
        "module": _MODULE,
        "assignment": Rule("constant", "left", Only.TOP),
    },
    calls=_words("call"),
    names=_words("identifier constant"),
    imports=frozenset(),
    branches=_words("if elsif unless while until for when rescue conditional if_modifier unless_modifier in_clause"),
    operators=_words("&& || and or"),
    binary=_words("binary"),
    callable_imports=_words("require require_relative load autoload"),
)

_PHP = Grammar(
    module="tree_sitter_php",
    function="language_php",
    definitions={
        "function_definition": _FUNCTION,
        "method_declaration": Rule("method"),
        "class_declaration": _CLASS,
        "interface_declaration": _INTERFACE,
        "trait_declaration": Rule("trait"),
        "enum_declaration": _ENUM,
    },
    calls=_words(
        "function_call_expression member_call_expression nullsafe_member_call_expression scoped_call_expression"
        " object_creation_expression"
    ),
    names=_words("name"),
    imports=_words(
        "namespace_use_declaration require_expression require_once_expression include_expression"
        " include_once_expression"
    ),
    branches=_words(
        "if_statement else_if_clause for_statement foreach_statement while_statement do_statement catch_clause"
        " case_statement conditional_expression match_conditional_expression"
    ),
    operators=_words("&& || ?? and or"),
)

_BASH = Grammar(
    module="tree_sitter_bash",
    definitions={"function_definition": _FUNCTION},
    calls=_words("command"),
    names=_words("command_name"),
    imports=frozenset(),
    branches=_words("if_statement elif_clause for_statement c_style_for_statement while_statement case_item"),
    binary=_words("list binary_expression"),
    callable_imports=_words("source ."),
)

GRAMMARS: Mapping[str, Grammar] = {
    "bash": _BASH,
    "c": _C,
    "c-sharp": _C_SHARP,
    "cpp": _CPP,
    "go": _GO,
    "java": _JAVA,
    "javascript": _JAVASCRIPT,
    "php": _PHP,
    "python": _PYTHON,
    "ruby": _RUBY,
    "rust": _RUST,
    "tsx": _TSX,
    "typescript": _TYPESCRIPT,
}
"""The languages that are parsed; all others are read line by line (``outline``)."""

_EXTENSIONS = {
    "bash": "sh bash",
    "c": "c h",
    "c-sharp": "cs",
    "cpp": "cc cpp cxx hh hpp hxx",
    "go": "go",
    "java": "java",
    "javascript": "js jsx mjs cjs",
    "php": "php",
    "python": "py pyi pyw",
    "ruby": "rb rake gemspec",
    "rust": "rs",
    "tsx": "tsx",
    "typescript": "ts mts cts",
}
_GRAMMAR_OF = {extension: name for name, all_of in _EXTENSIONS.items() for extension in all_of.split()}
_CPP_HEADER = re.compile(
    rb"^[ \t]*(?:class[ \t]+\w|namespace\b|template[ \t]*<|using[ \t]+\w|(?:public|private|protected)[ \t]*:)", re.M
)
SNIFFED = 20_000
"""Bytes of a header that say whether it is C++."""

CONTAINERS = _words("class interface struct enum trait impl type")
"""Kinds of definitions whose functions are methods."""


def grammar_of(path: str, data: bytes) -> str:
    """The name of the grammar for the file at ``path`` that holds ``data``; empty when there is none."""
    extension = path.rpartition("/")[2].rpartition(".")[2].lower() if "." in path else ""
    name = _GRAMMAR_OF.get(extension, "")
    if extension == "h" and _CPP_HEADER.search(data, 0, SNIFFED):
        return "cpp"
    return name


def family_of(path: str) -> str:
    """The family of languages that ``outline`` knows the file at ``path`` by; empty for what is not code."""
    return LANGUAGE_OF.get(path.rpartition(".")[2].lower(), "") if "." in path else ""
