"""Reads lines of shell: what they may run, and what their exit code 0 proves. Nothing here runs any of it.

::

    commands('cd src && sudo rm -rf "$X"').items   (Command(("cd", "src")),
                                                    Command(("rm", "-rf", "$X"), wrappers=("sudo",)))
    commands("eval $X").gaps                       ("a script that is not in the line",)
    read_line("make && pytest || true").proven     (): its exit code 0 proves nothing

What has gaps may run more than ``items``: whoever needs to know it all has to say that he could not tell.
"""

from .commands import Command, Commands, Redirect, commands
from .proof import Line, read_line
from .syntax import Words
from .wrappers import peel, script_of, unwrap

__all__ = [
    "Command",
    "Commands",
    "Line",
    "Redirect",
    "Words",
    "commands",
    "peel",
    "read_line",
    "script_of",
    "unwrap",
]
