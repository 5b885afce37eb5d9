"""Detect destructive shell commands, on parsed commands and never on text that only looks like one.

``paths`` classifies paths, ``files``, ``git`` and ``services`` know what programs destroy, ``find`` combines them.
Invariant: a program in no table is no hazard.
"""

from upbeat.core.destructive.find import find_hazards
from upbeat.core.destructive.hazard import Hazard, Severity, ShellLocation
from upbeat.core.destructive.scripts import ScriptFiles, TaskScript
from upbeat.core.destructive.triggers import has_trigger

__all__ = ["Hazard", "ScriptFiles", "Severity", "ShellLocation", "TaskScript", "find_hazards", "has_trigger"]
