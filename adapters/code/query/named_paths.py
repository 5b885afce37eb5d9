"""Files that a query names: by path, by file name or by dotted module name.

Invariant: names are compared case-insensitively with paths; no file is opened.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping

from upbeat.adapters.code.query.parse_query import SearchQuery

DOTTED_MATCH_WEIGHT = 0.9
PACKAGE_STEMS = ("__init__", "index", "mod")
"""Stems of files that are called by their folder's name."""

_Parts = tuple[str, ...]


def match_named_paths(files: Iterable[str], search_query: SearchQuery) -> dict[str, float]:
    """Return the files that the query names, each with the share of the name that matches (0..1).

    A name that many files share counts less for each of them.
    """
    suffixes, modules = _path_suffixes(search_query), _module_slices(search_query)
    if not suffixes and not modules:
        return {}
    last_parts = {parts[-1] for table in (suffixes, modules) for parts in table}
    matches: dict[str, tuple[float, _Parts]] = {}
    for path in files:
        share, name = _name_match(path.lower(), suffixes, modules, last_parts)
        if share:
            matches[path] = share, name
    uses = Counter(name for _, name in matches.values())
    return {path: share / (1 + math.log(uses[name])) for path, (share, name) in matches.items()}


def names_of_path(path: str) -> set[str]:
    """Return the names by which a query can refer to ``path``; ``names_in_query`` holds at least one of them."""
    parts = path.lower().split("/")
    stem = parts[-1].partition(".")[0]
    names = {parts[-1], stem}
    return names | {parts[-2]} if len(parts) > 1 and stem in PACKAGE_STEMS else names


def names_in_query(search_query: SearchQuery) -> set[str]:
    """Return the file and module names in the query."""
    return {parts[-1] for table in (_path_suffixes(search_query), _module_slices(search_query)) for parts in table}


def _path_suffixes(search_query: SearchQuery) -> dict[_Parts, float]:
    """Return every suffix of every path in the query, with its share of the path."""
    suffixes: dict[_Parts, float] = {}
    for path in search_query.mentioned_paths:
        parts = tuple(part for part in path.lower().split("/") if part not in ("", ".", ".."))
        for start in range(len(parts)):
            suffix = parts[start:]
            suffixes[suffix] = max(suffixes.get(suffix, 0.0), len(suffix) / len(parts))
    return suffixes


def _module_slices(search_query: SearchQuery) -> dict[_Parts, float]:
    """Return every slice of at least two parts of every dotted name, with its weighted share of the name."""
    modules: dict[_Parts, float] = {}
    for dotted in search_query.dotted_names:
        parts = tuple(part.lower() for part in dotted)
        for start in range(len(parts)):
            for end in range(start + 2, len(parts) + 1):
                module = parts[start:end]
                modules[module] = max(modules.get(module, 0.0), DOTTED_MATCH_WEIGHT * len(module) / len(parts))
    return modules


def _name_match(
    path: str, suffixes: Mapping[_Parts, float], modules: Mapping[_Parts, float], last_parts: set[str]
) -> tuple[float, _Parts]:
    """Return the largest share of a name that ``path`` (lowercase) matches, and the matching parts."""
    parts = tuple(path.split("/"))
    stem = parts[-1].partition(".")[0]
    package = parts[:-1] if stem in PACKAGE_STEMS else ()
    if not (parts[-1] in last_parts or stem in last_parts or (package and package[-1] in last_parts)):
        return 0.0, ()
    best: tuple[float, _Parts] = (0.0, ())
    for start in range(len(parts)):
        for names, table in ((parts, suffixes), ((*parts[:-1], stem), modules), (package, modules)):
            share = table.get(names[start:], 0.0)
            if share > best[0]:
                best = share, names[start:]
    return best
