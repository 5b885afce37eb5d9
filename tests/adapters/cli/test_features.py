"""``upbeat features``: features are made, moved and shown, for people and for machines."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from commands import Here
from processes import Finished
from repositories import write

TAKES = "a feature name has at most 60 lower case letters, digits and hyphens"


def told(done: Finished) -> tuple[int, str, str]:
    return done.code, done.stdout.decode(), done.stderr


def test_a_life_in_commands(here: Here, tmp_path: Path, repo: Path) -> None:
    """Each command prints the feature's new status, also when run in a subfolder of the repository."""

    def specs(*arguments: str) -> tuple[int, str, str]:
        return told(here("features", *arguments, cwd=repo / "shop", home=tmp_path))

    folder = "specs/features"
    assert (0, f"retry is backlog: {folder}/backlog/retry\n", "") == specs("new", "retry", "--workflow", "tdd")
    assert (0, f"retry is in-progress: {folder}/in-progress/retry\n", "") == specs("start", "retry")
    assert (0, f"retry is paused: {folder}/paused/retry\n", "") == specs("pause", "retry")
    assert (0, f"retry is in-progress: {folder}/in-progress/retry\n", "") == specs("resume", "retry")
    assert (0, f"retry is backlog: {folder}/backlog/retry\n", "") == specs("backlog", "retry")
    assert (0, f"other is in-progress: {folder}/in-progress/other\n", "") == specs("new", "other", "--start")
    assert (
        0,
        "2 features in specs/features, 1 in progress.\n  ▸ other  in-progress  0/8\n  · retry  backlog      0/3\n",
        "",
    ) == specs("list")
    before = datetime.now(UTC).date()
    code, said, _ = specs("archive", "retry")
    assert (0, True) == (
        code,
        said in {f"retry is archived: {folder}/archive/{day}_retry\n" for day in (before, datetime.now(UTC).date())},
    )


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["start", "none"], 1, "upbeat: no feature 'none' in specs/features; upbeat features list shows all\n"),
        (["resume", "mine"], 1, "upbeat: cannot resume mine: its status is backlog; possible: start, archive\n"),
        (["new", "My Own"], 1, f"upbeat: {TAKES}; try 'my-own'\n"),
        (["new", "mine"], 1, "upbeat: feature 'mine' already exists: specs/features/backlog/mine\n"),
        (["new", "x", "--workflow", "standart"], 2, "upbeat: no workflow 'standart'; did you mean 'standard'?\n"),
    ],
    ids=str,
)
def test_what_is_refused(here: Here, tmp_path: Path, repo: Path, arguments: list[str], code: int, said: str) -> None:
    """A refusal is one sentence that says how to fix it, and changes nothing."""
    here("features", "new", "mine", cwd=repo, home=tmp_path)
    before = sorted(repo.rglob("specs/**/*"))

    assert (code, "", said) == told(here("features", *arguments, cwd=repo, home=tmp_path))
    assert before == sorted(repo.rglob("specs/**/*"))


TASKS = """\
---
feature: retry
status: in-progress
---
- [x] PLAN \x1b[31mred
  - [ ] nested

## Dev Phases
### Phase 1: parser (parallel)
- [ ] a | files: x.py
- [ ] b | files: x.py
### Phase 2: writer (sequential, depends: 9)
- [ ] c
"""
SHOWN = Path(__file__).with_name("features_show.json")


def test_show(here: Here, tmp_path: Path, repo: Path) -> None:
    """``show`` prints the tasks, the phases that can start and the problems, without control sequences."""
    write(repo, {"specs/features/in-progress/retry/tasks.md": TASKS})

    code, said, wrong = told(here("features", "show", "retry", cwd=repo, home=tmp_path))

    assert 0 == code
    assert [
        "retry is in-progress: specs/features/in-progress/retry",
        "  feature: retry",
        "  status: in-progress",
        "  tasks: 1/5",
        "  [x] PLAN red",
        "    [ ] nested",
        "  [ ] a",
        "  [ ] b",
        "  [ ] c",
        "phase 1 can start: parser",
    ] == said.splitlines()
    assert [
        "tasks.md: line 12: phase 2 depends on 9, which does not exist",
        "tasks.md: lines 10 and 11: phase 1 is parallel, but both tasks change x.py",
    ] == wrong.splitlines()


def test_show_without_tasks(here: Here, tmp_path: Path, repo: Path) -> None:
    """A feature without ``tasks.md`` is shown."""
    (repo / "specs/features/paused/retry").mkdir(parents=True)

    assert (
        0,
        "retry is paused: specs/features/paused/retry\n",
        "it has no readable tasks.md\n",
    ) == told(here("features", "show", "retry", cwd=repo, home=tmp_path))
    assert (0, "1 feature in specs/features, 0 in progress.\n  · retry  paused  no tasks.md\n", "") == told(
        here("features", "list", cwd=repo, home=tmp_path)
    )


def test_as_data(here: Here, tmp_path: Path, repo: Path) -> None:
    """The same for machines: versioned, and one shape in every command."""
    write(repo, {"specs/features/in-progress/retry/tasks.md": TASKS})
    shown = json.loads(here("features", "show", "retry", "--json", cwd=repo, home=tmp_path).stdout)
    listed = json.loads(here("features", "list", "--json", cwd=repo, home=tmp_path).stdout)
    assert {"schema_version": "1.0", "features": [shown["feature"]]} == listed
    assert json.loads(SHOWN.read_text(encoding="utf-8")) == shown

    moved = json.loads(here("features", "pause", "retry", "--json", cwd=repo, home=tmp_path).stdout)

    assert ("1.0", "paused", "paused") == (
        moved["schema_version"],
        moved["feature"]["status"],
        moved["feature"]["tasks"]["front"]["status"],
    )


def test_no_features(here: Here, tmp_path: Path, repo: Path) -> None:
    """Without features the command tells how to create one, and creates nothing."""
    assert (0, "", "no features in specs/features; create one with `upbeat features new NAME`\n") == told(
        here("features", "list", cwd=repo, home=tmp_path)
    )
    assert not (repo / "specs").exists()


def test_the_language_of_a_new_feature(here: Here, tmp_path: Path, repo: Path) -> None:
    """A new feature is written in its user's language."""
    here("features", "new", "retry", "--workflow", "tdd", cwd=repo, home=tmp_path, LANG="zh_TW.UTF-8")
    folder = repo / "specs/features/backlog/retry"

    assert "- [ ] DEV — 按设计和规定的行为编写代码，不做多余的事。\n" in (folder / "tasks.md").read_text()
    assert "## 场景：" in (folder / "bdd.md").read_text()
