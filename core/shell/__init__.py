"""Reads lines of shell: what they may run, and what their exit code 0 proves. Nothing here runs any of it.

::

    commands('cd src && sudo rm -rf "$X"').items   (Command(("cd", "src")),
                                                    Command(("rm", "-rf", "$X"), wrappers=("sudo",)))
    commands("eval $X").gaps                       ("a script that is not in the line",)
    read_line("make && pytest || true").proven     (): its exit code 0 proves nothing

What has gaps may run more than ``items``: whoever needs to know it all has to say that he could not tell.
"""

from upbeat.core.shell.commands import ParsedCommands, Redirect, SimpleCommand, parse_commands
from upbeat.core.shell.proof import SuccessProof, prove_success
from upbeat.core.shell.syntax import Words
from upbeat.core.shell.wrappers import script_of, split_wrappers, unwrap

__all__ = [
    "ParsedCommands",
    "Redirect",
    "SimpleCommand",
    "SuccessProof",
    "Words",
    "parse_commands",
    "prove_success",
    "script_of",
    "split_wrappers",
    "unwrap",
]
