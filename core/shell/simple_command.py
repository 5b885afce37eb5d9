"""One simple command of a shell line, and its redirections, as values."""

from __future__ import annotations

from upbeat.core.lazy_dataclass import dataclass
from upbeat.core.shell.syntax import Words


@dataclass(frozen=True, slots=True)
class Redirect:
    """``2>> file``: the operator ``>>``, the target ``file``, the descriptor ``2`` (empty for the default)."""

    operator: str
    target: str
    descriptor: str = ""

    @property
    def is_overwrite(self) -> bool:
        """Whether the target is a file that is truncated first: ``>``, ``>|`` and ``&>``, but not ``>>`` or ``>&1``."""
        return self.operator in (">", ">|", "&>") or (self.operator == ">&" and not self.target.isdecimal())


@dataclass(frozen=True, slots=True)
class SimpleCommand:
    """One simple command. ``words``: the program, without its folders, and its arguments, without quotes.

    ``words`` is empty if a line only redirects. ``wrappers`` are the programs that run it, the outermost first:
    ``sudo``, ``xargs``, ``find``, ``bash``. ``piped_from`` are the words of the command whose output it reads,
    ``stdin_text`` is that input if the line contains it (a here-document, echoed text). ``working_dir`` is where it
    runs: empty for where the line begins, else a path as written; ``?`` if it is unknown.
    """

    words: Words
    redirects: tuple[Redirect, ...] = ()
    assignments: tuple[str, ...] = ()
    """Assignments before the program: ``A=1``."""
    wrappers: Words = ()
    piped_from: Words = ()
    stdin_text: str = ""
    working_dir: str = ""
    program_path: str = ""
    """The program as written, if that is a path."""
