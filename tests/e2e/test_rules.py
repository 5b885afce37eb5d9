"""Rules of users on the real clients: what is denied does not happen, and what is injected reaches the model once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from processes import read_log
from repositories import read_tree, write

from .runs import Finished, run
from .sandbox import Sandbox
from .workflow_sessions import Played, command_of, prepare, shared, shell_call

RULES = read_tree(Path(__file__).with_name("rules.txt"))
"""The user's own, those of the repository, and one of another program; ``strange.md`` is not trusted."""
COMMANDS = (
    "bash -c 'touch forbidden.txt'",
    "touch strange.txt",
    "echo 'touch forbidden.txt' > note.txt && touch allowed.txt",
    "touch second.txt",
    "eval $(cat note.txt)",
)
DENIED = "Not allowed by the rule no-touch: Leave forbidden.txt alone, and say so."
INJECTED = "Rule say-why: Say why that file is needed."


def look(client: str, sandbox: Sandbox) -> dict[str, Any]:
    """A look at a file of the shop, or a change of it in the client that has no tool for reading."""
    if client == "codex":
        patch = "*** Begin Patch\n*** Add File: shop/new.py\n+X = 1\n*** End Patch\n"
        return {"tool": "apply_patch", "input": patch}
    return {"tool": "Read", "input": {"file_path": str(sandbox.repository / "shop" / "cart.py")}}


@shared
def played(sandbox: Sandbox, client: str) -> Played:
    """One turn with these commands, in a repository with rules of its user, of its own, and of another program."""
    prepare(sandbox, client)
    *trusted, untrusted = RULES.items()
    write(sandbox.root, dict(trusted))
    answer = run(sandbox, ["upbeat", "trust", "--yes"])
    assert (0, True) == (answer.exit_code, "Use tabs" in answer.stdout)
    write(sandbox.root, dict([untrusted]))
    script = [{"reply": [shell_call(client, command)]} for command in COMMANDS]
    script += [{"reply": [look(client, sandbox)]}, {"reply": [{"text": "All is done."}]}]
    done = run(sandbox, command_of(client), stdin="make the files", script=script)
    return Played(sandbox, done, read_log(sandbox.home))


def of_rules(records: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """What the rules said, in order."""
    return [
        (one["component"], one["decision"])
        for record in records
        for one in record.get("explanations", ())
        if one["component"].startswith("rule ")
    ]


def count(done: Finished, text: str) -> int:
    """How often the model's last request has ``text``."""
    return done.turns[-1].count(text)


def test_a_denied_command_does_not_run(played: Played) -> None:
    """Neither does the same within another shell, nor one that cannot be parsed; the others run."""
    repository, done = played.sandbox.repository, played.done

    assert (0, True) == (done.exit_code, "All is done." in done.stdout)
    assert [False, False, True, True] == [
        (repository / name).exists() for name in ("forbidden.txt", "strange.txt", "allowed.txt", "second.txt")
    ]
    assert 1 == count(done, DENIED)
    assert 1 == count(done, "no-touch.md) could not be evaluated (")


def test_a_rule_injects_its_text_once(played: Played) -> None:
    """It is beside the result of the first command that matches, and not beside the second."""
    assert 1 == count(played.done, INJECTED)


def test_an_untrusted_rule_injects_nothing(played: Played) -> None:
    """It denies in upbeat's words: nothing of its file but the name is sent."""
    done = played.done

    assert 1 == count(done, "The rule .upbeat/rules/strange.md of this repository forbids this.")
    assert [] == [turn for turn in done.turns if turn.texts_with("Dear model")]


def test_guidance_of_another_program_is_added(played: Played) -> None:
    """What Cursor would tell its agent about a file is added once that file is touched."""
    assert 1 == count(played.done, "Use tabs in this shop.")


def test_decisions_of_rules_are_recorded(played: Played) -> None:
    """Each rule's decision is in the journal with file and line, also that one could not be evaluated."""
    places = {
        explanation["component"]: explanation["config_location"].removeprefix(str(played.sandbox.home))
        for record in played.records
        for explanation in record.get("explanations", ())
        if explanation["component"].startswith("rule ")
    }

    assert [
        ("rule no-touch", "Deny"),
        ("rule strange", "Deny"),
        ("rule say-why", "InjectContext"),
        ("rule no-touch", "could not evaluate"),
    ] == [
        explanation for explanation in of_rules(played.records) if explanation != ("rule strange", "could not evaluate")
    ]
    assert {
        "rule no-touch": "/.config/upbeat/rules/no-touch.md:2",
        "rule strange": ".upbeat/rules/strange.md:2",
        "rule say-why": ".upbeat/rules/say-why.md:2",
    } == places
