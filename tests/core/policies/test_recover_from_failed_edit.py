"""When an edit that did not apply is explained."""

from __future__ import annotations

from dataclasses import replace

from policy_play import call, finished, said_by, says, silent

from upbeat.core.contract.event import ToolKind
from upbeat.core.policies.recover_from_failed_edit import POLICY

EDIT = call("Edit", ToolKind.EDIT, paths=("/repo/a.py",))
SAME = finished(EDIT, "No changes to make: old_string and new_string are exactly the same.", failed=True)

SAYS_NOTHING = {
    "an edit that applied": finished(EDIT, "The file /repo/a.py has been updated."),
    "an edit that its user broke off": replace(SAME, was_interrupted=True),
    "a file that is not there": finished(EDIT, "File does not exist.", failed=True),
    "a file that may not be written": finished(EDIT, "EACCES: permission denied", failed=True),
    "a read that failed": finished(call("Read", ToolKind.READ), "string not found", failed=True),
    "a command that says so": finished(call("Bash", ToolKind.SHELL), "old_string not found", failed=True),
    "an error whose quotation says so": finished(EDIT, "Disk full.\nString: not found", failed=True),
    "a patch that applied": finished(
        call("apply_patch", ToolKind.EDIT), "Exit code: 0\nOutput:\nSuccess. not found.py"
    ),
    "an edit that puts such a text into a file": finished(EDIT, "+ raise Error('not found')"),
}

SAYS = {
    "both texts are the same": (SAME, "are the same"),
    "the text is not there": (
        finished(EDIT, "String to replace not found in file.", failed=True),
        "does not contain the old text",
    ),
    "the text is there twice": (finished(EDIT, "Found 2 matches of the string", failed=True), "several times"),
    "a file that another program changed": (
        finished(EDIT, "File has been modified since read, either by the user or by a linter.", failed=True),
        "changed since it was last read",
    ),
    "a file that was not read": (
        finished(EDIT, "File has not been read yet.", failed=True),
        "changed since it was last read",
    ),
    "an edit that its client refused": (
        finished(EDIT, "<tool_use_error>String to replace not found in file.\nString: 2 matches", failed=True),
        "does not contain the old text",
    ),
    "a patch without form": (
        finished(call("apply_patch", ToolKind.EDIT), "apply_patch verification failed: invalid hunk at line 2"),
        "malformed",
    ),
    "a patch whose program failed": (
        finished(
            call("apply_patch", ToolKind.EDIT), "Exit code: 1\nOutput:\nFailed to find context 'def f():' in a.py"
        ),
        "does not contain the old text",
    ),
    "a patch that does not fit": (
        finished(call("apply_patch", ToolKind.EDIT), "apply_patch verification failed: Failed to find expected lines"),
        "does not contain the old text",
    ),
}


test_says_nothing_for = silent(SAYS_NOTHING, lambda event: said_by(POLICY, event))


test_says = says(SAYS, lambda event, language: said_by(POLICY, event, language))
