"""``upbeat uninstall claude|codex``: give back the bytes that were there before ``upbeat install``.

Where somebody has changed a file since, nothing is touched, and it is shown what was changed. With `--merge` such a
settings file keeps those changes and loses only what is upbeat's; any other such file stays as it is. What Codex noted
of your trust in upbeat's hooks goes with them.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from ..installation.carry_out import carry_out, tidy
from ..installation.disk import real
from ..installation.plan import Plan, plan_uninstall
from ..installation.show import diff
from ..local.environment import read_environment
from .install import CLIENTS, ask, parser_for

REFUSED = 1


def run(arguments: Sequence[str]) -> int:
    parser = parser_for("uninstall", __doc__ or "")
    parser.add_argument(
        "--merge", action="store_true", help="keep what was changed since, and take out what is upbeat's"
    )
    options = parser.parse_args(arguments)
    name, client, environment = options.client, CLIENTS[options.client], read_environment()
    wanted = client.wanted(environment, "mcp")
    plan = plan_uninstall(name, wanted, environment, merge=options.merge)
    if plan is None:
        if not options.dry_run:
            tidy(environment, name)
        print(f"upbeat: {name}: nothing is installed; nothing to take away")
        return 0
    if plan.drifted:
        _explain(plan, merge=options.merge)
        return REFUSED
    refused = ask(plan, options)
    if refused is not None:
        return refused
    own = set(map(real, wanted.own))
    left = [folder for folder in carry_out(plan, environment) if folder in own]
    print(f"upbeat: {name}: taken away; what was there before is there again")
    notes = [f"{path} was changed since, and stays as it is" for path in plan.kept]
    notes += [f"{folder} stays, for it is not empty" for folder in left]
    print("\n".join(f"- {note}" for note in [*notes, *client.last_steps()]))
    return 0


def _explain(plan: Plan, *, merge: bool) -> None:
    """What was changed since, and the ways out."""
    for drift in plan.drifted:
        print(f"{drift.path}: {drift.reason}:")
        print("\n".join(diff(drift.path, drift.after, drift.now)), flush=True)
    print("upbeat: nothing was taken away, for that would lose what was changed since (above)", file=sys.stderr)
    if merge:
        print("do what stands there by hand, then run it again", file=sys.stderr)
    else:
        print(f"upbeat uninstall {plan.client} --merge keeps it, and takes out what is upbeat's", file=sys.stderr)
