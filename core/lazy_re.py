"""The module ``re``, except that a pattern is compiled when it is first used.

A hook loads two hundred patterns and uses thirty; compiling them all takes a quarter of its time. It is for patterns of
modules: one that may be wrong is compiled with ``re`` itself, which says so at once. Functions of ``re`` take no such
pattern.
"""

from __future__ import annotations

import re as _re
from re import *  # noqa: F403 -- a stand-in for the module
from typing import TYPE_CHECKING, Any

if not TYPE_CHECKING:

    def compile(pattern: Any, flags: int = 0) -> Any:  # noqa: A001 -- as the function that it replaces
        """Return a pattern that compiles itself."""
        return _LazyPattern(pattern, flags)


class _LazyPattern:
    """Has the attributes of the compiled pattern from the first use of one on."""

    def __init__(self, pattern: Any, flags: int) -> None:
        self._arguments = (pattern, flags)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        compiled = _re.compile(*self._arguments)
        for each in dir(compiled):
            if not each.startswith("_"):
                setattr(self, each, getattr(compiled, each))
        return getattr(compiled, name)
