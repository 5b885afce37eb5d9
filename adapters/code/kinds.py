"""What a file is, by its path alone: language and role.

Law: no file is opened here. The role decides who is ranked last; a question that asks for tests or
documentation lifts that role again.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum


class Role(StrEnum):
    """What a file is for."""

    SOURCE = "source"
    CONFIG = "config"
    TEST = "test"
    DOCS = "docs"
    EXAMPLE = "example"
    VENDORED = "vendored"
    DATA = "data"
    """Generated, locked, translated or tabular: read by programs."""


@dataclass(frozen=True, slots=True)
class FileKind:
    """Role and language of one path; the language is empty for what is not code."""

    role: Role
    language: str


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_LANGUAGES = {
    "python": "py pyi pyx pxd pyw",
    "javascript": "js jsx mjs cjs ts tsx mts cts vue svelte",
    "go": "go",
    "rust": "rs",
    "java": "java kt kts scala cs groovy swift dart",
    "c": "c h cc cpp cxx hh hpp hxx m mm cu inl",
    "ruby": "rb rake",
    "php": "php",
    "shell": "sh bash zsh fish bats ksh",
    "lua": "lua",
    "markup": "html htm xhtml xml jinja j2 jinja2 tmpl tpl erb hbs css scss less sass",
    "sql": "sql",
    "other": "pl pm r jl ex exs erl hrl hs ml mli clj cljs elm nim zig v sv vhd f90 asm s tcl vim el ps1 bat proto",
}
LANGUAGE_OF = {extension: name for name, all_of in _LANGUAGES.items() for extension in all_of.split()}

_CONFIG = _words("toml yaml yml ini cfg conf json json5 jsonc cmake gradle mk nix tf hcl env properties")
_CONFIG_NAMES = _words(
    "makefile dockerfile justfile rakefile gemfile procfile jenkinsfile cmakelists.txt go.mod setup.cfg"
)
_DOCS = _words("md markdown rst txt adoc asciidoc org tex mdx 1 2 3 5 7 8 texi pod")
_DATA = _words(
    """po pot mo csv tsv svg lock sum map snap min ipynb log diff patch geojson jsonl ndjson parquet pb ttf woff
    woff2 eot png jpg jpeg gif ico pdf zip gz bz2 xz tar whl jar class so o a dll exe pyc db sqlite sqlite3 bin dat
    mp3 mp4 wav webp avif npy npz pkl pem crt key out expected golden"""
)
_DATA_NAMES = _words("package-lock.json yarn.lock pnpm-lock.yaml cargo.lock poetry.lock composer.lock")
_TEST_PART = re.compile(
    r"(?:^|/)(?:tests?|testing|__tests__|specs?|fixtures?|testdata|e2e|__mocks__|mocks)(?:/|$)", re.I
)
_TEST_NAME = re.compile(r"^(?:tests?[_.-].*|.*[_.-](?:tests?|spec|bench)|conftest|.*Tests?|tests)$")
_DOCS_PART = re.compile(r"(?:^|/)(?:docs?|documentation|changelogs?|newsfragments|man|licenses?)/", re.I)
_DOCS_NAME = re.compile(
    r"^(?:readme|changelog|changes|history|authors|contributing|license|copying|news|releases?|notice)(?:\.|$)",
    re.I,
)
_EXAMPLE_PART = re.compile(r"(?:^|/)(?:examples?|samples?|demos?|tutorials?|benchmarks?|bench|benches)/", re.I)
_VENDORED_PART = re.compile(
    r"(?:^|/)(?:(?:[\w-]*[_-])?dist|vendor|vendored|_vendor|_vendored|third[_-]?party|node_modules|bower_components|deps|extern|externals?|site-packages)/",
    re.I,
)
_GENERATED_NAME = re.compile(r"(?:-\d+\.\d+(?:\.\d+)*\.(?:js|css)$|\.min\.|[._-]generated\.|\.pb\.|_pb2|\.g\.)", re.I)


def kind_of(path: str) -> FileKind:
    """Role and language of ``path`` (relative, with ``/``)."""
    folder, _, name = path.rpartition("/")
    stem, dot, extension = name.rpartition(".")
    extension = extension.lower() if dot else ""
    language = LANGUAGE_OF.get(extension, "")
    return FileKind(_role(folder + "/", name, stem or name, extension, language), language)


def _role(folder: str, name: str, stem: str, extension: str, language: str) -> Role:
    lower = name.lower()
    if extension in _DATA or lower in _DATA_NAMES or _GENERATED_NAME.search(name):
        return Role.DATA
    if _VENDORED_PART.search(folder):
        return Role.VENDORED
    if _TEST_PART.search(folder) or (language and _TEST_NAME.match(stem)):
        return Role.TEST
    if _EXAMPLE_PART.search(folder):
        return Role.EXAMPLE
    if not language and (extension in _CONFIG or lower in _CONFIG_NAMES):
        return Role.CONFIG
    if extension in _DOCS or _DOCS_NAME.match(name) or _DOCS_PART.search(folder):
        return Role.DOCS
    return Role.SOURCE
