"""Real clients in a repository that is full of modules by the names of Python's, upbeat's and its packages'."""

from __future__ import annotations

import pytest
from processes import read_log

from .runs import run
from .sandbox import Sandbox
from .workflow_sessions import command_of, install, prepare, shell_call

MODULES = ("sitecustomize", "usercustomize", "upbeat", "pydantic", "json", "re", "dataclasses", "apsw")


@pytest.mark.parametrize("route", ["checkout", "mcp", "command"])
def test_hooks_and_server_run_none_of_them(sandbox: Sandbox, client: str, route: str) -> None:
    """``PYTHONPATH=$PYTHONPATH:/x`` names the working directory; the guard denies all the same, and no module runs."""
    mark = sandbox.tmp / "SPRUNG"
    for name in MODULES:
        (sandbox.repository / f"{name}.py").write_text(f"open({str(mark)!r}, 'a').write({name!r})\n", encoding="utf-8")
    if route == "checkout":
        prepare(sandbox, client)
    else:
        install(sandbox, client, route)
    hijacked = {"PYTHONPATH": ":/x", "PYTHONSTARTUP": "json.py", "PYTHONUSERBASE": "."}
    script = [{"reply": [shell_call(client, "rm -rf ~")]}, {"reply": [{"text": "Done."}]}]
    command = command_of(client, is_installed=route != "checkout")
    run(sandbox, command, stdin="tidy up", script=script, env=hijacked)
    denied = [one for record in read_log(sandbox.home) for one in record["effects"] if one["kind"] == "deny"]

    assert (True, False) == (bool(denied), mark.exists())
