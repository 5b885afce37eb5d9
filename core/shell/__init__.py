"""Parse shell lines: what they may run, and what their exit code 0 proves. Nothing here runs any of it.

::

    parse_commands('cd src && sudo rm -rf "$X"').items   (SimpleCommand(("cd", "src")),
                                                          SimpleCommand(("rm", "-rf", "$X"), wrappers=("sudo",)))
    parse_commands("eval $X").gaps                       ("a script that is not in the line",)
    prove_success("make && pytest || true").proven       (): its exit code 0 proves nothing

A line with gaps may run more than ``items``.
"""

from upbeat.core.shell.commands import ParsedCommands, parse_commands
from upbeat.core.shell.proof import SuccessProof, prove_success
from upbeat.core.shell.simple_command import Redirect, SimpleCommand
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
