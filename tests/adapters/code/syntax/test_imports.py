"""Import statements are parsed into modules and names, and resolved to files."""

from __future__ import annotations

from pathlib import Path

import pytest
from case_files import read_groups
from hypothesis import given
from hypothesis import strategies as st

from upbeat.adapters.code.syntax.imports import Import, may_import, parse_import

CASES = read_groups(Path(__file__).with_name("cases.tsv"))
LANGUAGES = sorted({language for language, *_ in CASES["import"]})


@pytest.mark.parametrize(("language", "text", "modules"), CASES["import"])
def test_a_statement_imports_modules_and_names(language: str, text: str, modules: str) -> None:
    """Modules are as written, with the names imported from them; without a module or a grammar there are none."""
    imports = parse_import(language, text, 1)

    assert modules.split() == [f"{item.module}={','.join(item.names)}" for item in imports]


@given(st.sampled_from(LANGUAGES), st.text(alphabet="import usefrom{}(),;:.*'\"\n\\ab", max_size=200))
def test_any_text_is_parsed(language: str, text: str) -> None:
    """Any text gives imports with a module on the given line."""
    assert all(item.module and item.line == 7 for item in parse_import(language, text, 7))


@pytest.mark.parametrize(("importer", "module", "names", "target"), CASES["target"])
def test_an_import_means_the_file_of_its_module(importer: str, module: str, names: str, target: str) -> None:
    """Relative, absolute, package and folder imports resolve to files in each language."""
    assert may_import(importer, Import(module, tuple(filter(None, names.split(","))), 1), target)


@pytest.mark.parametrize(("importer", "module", "target"), CASES["no target"])
def test_an_import_does_not_mean_other_files(importer: str, module: str, target: str) -> None:
    """Other modules, and files of that name in other folders, are not meant."""
    assert not may_import(importer, Import(module, (), 1), target)


def test_a_mapped_php_namespace_is_not_resolved() -> None:
    """A namespace prefix that composer.json maps to a folder is not known."""
    assert not may_import("a.php", Import("App\\Shop", ("Cart",), 1), "src/Shop/Cart.php")
