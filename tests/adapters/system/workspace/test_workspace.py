"""Features on disk: they move in one piece, nothing is overwritten, and nothing outside the repository is touched."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from fakes.clock import FakeClock
from repositories import git, make_repository, write

from upbeat.adapters.system.config.workflows import load_workflows
from upbeat.adapters.system.environment import read_environment
from upbeat.adapters.system.workspace.workspace import Feature, LocalWorkspace
from upbeat.core.errors import UserError
from upbeat.core.workflow.specs import STATUS_TRANSITIONS, FeatureStatus

REGISTRY = load_workflows("/nowhere", read_environment({})).registry
DAY = "2026-01-02"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    path = tmp_path / "repo"
    path.mkdir()
    return path.resolve()


@pytest.fixture
def files() -> LocalWorkspace:
    return LocalWorkspace(FakeClock())


Create = Callable[..., Feature]


@pytest.fixture
def create(root: Path, files: LocalWorkspace) -> Create:
    def make(name: str = "retry", workflow: str = "tdd", status: FeatureStatus = FeatureStatus.IN_PROGRESS) -> Feature:
        return files.create(str(root), name, REGISTRY.workflows[workflow], REGISTRY, status, "en")

    return make


def everything(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


def standing(root: Path, files: LocalWorkspace) -> list[tuple[str, str, str]]:
    return [(feature.name, feature.status, feature.archived_on) for feature in files.list_features(str(root))]


def test_nothing_there(root: Path, files: LocalWorkspace) -> None:
    """A repository without specs has no features, and looking makes none."""
    files.tick_tasks(str(root), "retry", ("DEV",))
    files.archive_feature(str(root), "retry")

    assert ((), (), None) == (
        files.list_features(str(root)),
        files.features_in_progress(str(root)),
        files.read_tasks(str(root), "retry"),
    )
    assert [] == list(root.iterdir())


def test_a_subtask_is_ticked_in_its_phase(root: Path, files: LocalWorkspace, create: Create) -> None:
    """The box of a sub-task and those below it are checked, of the same title only one; the rest of the file stays."""
    path = create().folder / "tasks.md"
    text = "## Dev Phases\n### Phase 1: a\n- [ ] one\n  - [ ] part\n- [ ] two\n### Phase 2: b\n- [ ] one\n"
    path.write_text(text)
    files.tick_subtask(str(root), "retry", "one")
    files.tick_subtask(str(root), "nothing", "two")
    files.tick_subtask(str(root), "retry", "two", 2)

    assert text.replace("[ ] one", "[x] one", 1).replace("[ ] part", "[x] part") == path.read_text()


@pytest.mark.parametrize(
    ("workflow", "names"),
    [("tdd", ["bdd.md", "tasks.md"]), ("debug", ["tasks.md"]), ("single", ["tasks.md"])],
)
def test_create(root: Path, create: Create, workflow: str, names: list[str]) -> None:
    """A new feature has tasks.md, and bdd.md if its workflow has it, and nothing is left beside it."""
    feature = create(workflow=workflow, status=FeatureStatus.BACKLOG)
    folder = root / "specs/features/backlog/retry"

    assert (folder, names) == (feature.folder, sorted(path.name for path in folder.iterdir()))
    assert feature.tasks is not None
    assert {"feature": "retry", "status": "backlog", "workflow": workflow, "created": DAY} == feature.tasks.front_matter
    assert ["retry"] == [path.name for path in folder.parent.iterdir()]


def test_create_overwrites_nothing(root: Path, create: Create) -> None:
    """An existing feature of any status and a file of that name are left unchanged."""
    create(status=FeatureStatus.BACKLOG)
    (root / "specs/features/in-progress").mkdir()
    (root / "specs/features/in-progress/mine").write_text("x")
    before = everything(root)

    with pytest.raises(UserError, match="feature 'retry' already exists: specs/features/backlog/retry"):
        create()
    with pytest.raises(UserError, match="specs/features/in-progress/mine exists but is not a feature"):
        create("mine")
    with pytest.raises(UserError, match="a feature name has at most"):
        create("../x")
    assert before == everything(root)


def test_a_whole_life(root: Path, files: LocalWorkspace, create: Create) -> None:
    """A feature goes all its ways; its folder moves as it is, and its front matter follows."""
    feature = create(status=FeatureStatus.BACKLOG)
    (feature.folder / "notes").mkdir()
    (feature.folder / "notes/design.md").write_text("d")
    seen = []
    for verb in ("start", "pause", "resume", "backlog", "start", "archive"):
        moved = files.move(str(root), "retry", verb)
        assert moved.tasks is not None
        assert (moved.status, "d") == (
            moved.tasks.front_matter["status"],
            (moved.folder / "notes/design.md").read_text(),
        )
        seen.append(str(moved.folder.relative_to(root / "specs/features")))

    assert [
        *("in-progress/retry", "paused/retry", "in-progress/retry", "backlog/retry", "in-progress/retry"),
        f"archive/{DAY}_retry",
    ] == seen
    assert [("retry", "archived", DAY)] == standing(root, files)


def test_a_name_that_comes_again(root: Path, files: LocalWorkspace, create: Create) -> None:
    """If a name is archived twice on one day, the second gets a number."""
    for _ in range(2):
        create()
        files.archive_feature(str(root), "retry")

    assert [f"{DAY}_retry", f"{DAY}_retry-2"] == sorted(os.listdir(root / "specs/features/archive"))


def test_starting_a_feature(root: Path, files: LocalWorkspace, create: Create) -> None:
    """A feature of the backlog moves to those in progress; one that is in progress, and an unknown one, stay."""
    create("later", status=FeatureStatus.BACKLOG)
    before = files.features_in_backlog(str(root))
    for name in ("later", "later", "unknown"):
        files.start_feature(str(root), name)

    assert (("later",), ()) == (before, files.features_in_backlog(str(root)))
    assert ("later",) == files.features_in_progress(str(root))


def test_moves_that_are_refused(root: Path, files: LocalWorkspace, create: Create) -> None:
    """An impossible move is an error that says what to do, and nothing changes."""
    create()
    (root / "specs/features/paused/retry").mkdir(parents=True)
    before = everything(root)

    with pytest.raises(UserError, match="retry is already in-progress"):
        files.move(str(root), "retry", "start")
    with pytest.raises(UserError, match="specs/features/paused/retry already exists; move it first"):
        files.move(str(root), "retry", "pause")
    with pytest.raises(UserError, match="no feature 'other' in specs/features; upbeat features list shows all"):
        files.move(str(root), "other", "pause")
    assert before == everything(root)


def test_find(root: Path, files: LocalWorkspace, create: Create) -> None:
    """A feature is found in any status; an archived one is found by its own name."""
    for name in ("b", "a"):
        create(name)
        files.archive_feature(str(root), name)
    create("a")

    assert [("a", FeatureStatus.IN_PROGRESS, ""), ("b", FeatureStatus.ARCHIVED, DAY)] == [
        (feature.name, feature.status, feature.archived_on)
        for feature in (files.find(str(root), name) for name in ("a", "b"))
    ]


def test_features_in_order(root: Path, files: LocalWorkspace, create: Create) -> None:
    """Features in progress come first, archived ones last; other folders are ignored."""
    for name, status in (
        ("b", FeatureStatus.BACKLOG),
        ("c", FeatureStatus.IN_PROGRESS),
        ("a", FeatureStatus.IN_PROGRESS),
    ):
        create(name, status=status)
    create("old")
    files.archive_feature(str(root), "old")
    for ignored in ("in-progress/My Notes", "archive/scraps", "other/x", "in-progress/.draft"):
        (root / "specs/features" / ignored).mkdir(parents=True)
    (root / "specs/features/in-progress/file").write_text("x")

    assert [("a", "in-progress", ""), ("c", "in-progress", ""), ("b", "backlog", ""), ("old", "archived", DAY)] == (
        standing(root, files)
    )
    assert ("a", "c") == files.features_in_progress(str(root))


def test_tick(root: Path, files: LocalWorkspace, create: Create) -> None:
    """The boxes that answer are ticked; every other byte, and the file's mode, stays."""
    path = create().folder / "tasks.md"
    data = b"\xef\xbb\xbf# r\xc3\xa9try \xff\r\n- [ ] DEV: a\r\n- [ ] TEST\r\n- [ ] TEST:2"
    path.write_bytes(data)
    path.chmod(0o640)
    files.tick_tasks(str(root), "retry", ("DEV", "TEST"))

    assert data.replace(b"[ ] DEV", b"[x] DEV").replace(b"[ ] TEST\r", b"[x] TEST\r") == path.read_bytes()
    assert 0o640 == stat.S_IMODE(path.stat().st_mode)
    assert ["bdd.md", "tasks.md"] == sorted(os.listdir(path.parent))


def test_tasks_is_text(root: Path, files: LocalWorkspace, create: Create) -> None:
    """Invalid UTF-8 is replaced in the text that readers get."""
    (create().folder / "tasks.md").write_bytes(b"- [ ] \xff x\r\n")

    assert "- [ ] \ufffd x\r\n" == files.read_tasks(str(root), "retry")


def test_two_tick_at_the_same_time(root: Path, files: LocalWorkspace, create: Create) -> None:
    """Of many ticks at once none is lost."""
    path = create().folder / "tasks.md"
    path.write_text("".join(f"- [ ] n{number}\n" for number in range(40)))
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: files.tick_tasks(str(root), "retry", (f"n{number}",)), range(40)))

    assert "".join(f"- [x] n{number}\n" for number in range(40)) == path.read_text()


def test_archive_is_for_what_is_in_progress(root: Path, files: LocalWorkspace, create: Create) -> None:
    """The end of a run does not archive a paused feature."""
    create("paused", status=FeatureStatus.PAUSED)
    files.archive_feature(str(root), "paused")
    create("done")
    files.archive_feature(str(root), "done")

    assert [("paused", "paused", ""), ("done", "archived", DAY)] == standing(root, files)


@pytest.mark.parametrize("name", ["", "..", "../../x", "a/b", "/etc", "x\0y", "A", "in progress"])
def test_names_that_lead_elsewhere(root: Path, files: LocalWorkspace, create: Create, name: str) -> None:
    """A name that is none finds nothing, and nothing is written for it."""
    create()
    (root / "specs/features/tasks.md").write_text("- [ ] DEV")
    before = everything(root)
    files.tick_tasks(str(root), name, ("DEV",))
    files.archive_feature(str(root), name)

    assert (None, before) == (files.read_tasks(str(root), name), everything(root))
    for verb in STATUS_TRANSITIONS:
        with pytest.raises(UserError, match="a feature name has at most"):
            files.move(str(root), name, verb)


@pytest.mark.parametrize(
    ("link", "inner", "status"),
    [
        ("specs", "features/in-progress/there", FeatureStatus.IN_PROGRESS),
        ("specs/features", "in-progress/there", FeatureStatus.IN_PROGRESS),
        ("specs/features/in-progress", "there", FeatureStatus.IN_PROGRESS),
        ("specs/features/backlog", "there", FeatureStatus.BACKLOG),
    ],
)
def test_folders_that_lead_out(
    root: Path, files: LocalWorkspace, create: Create, link: str, inner: str, status: FeatureStatus
) -> None:
    """A folder that is a link out of the repository is neither read nor written."""
    outside = root.parent / "outside"
    (outside / inner).mkdir(parents=True)
    (outside / inner / "tasks.md").write_text("- [ ] DEV")
    (root / link).parent.mkdir(parents=True, exist_ok=True)
    (root / link).symlink_to(outside)
    before = everything(outside)
    files.tick_tasks(str(root), "there", ("DEV",))
    files.archive_feature(str(root), "there")

    assert (None, ()) == (files.read_tasks(str(root), "there"), files.list_features(str(root)))
    with pytest.raises(UserError, match=f"specs/features/{status} is outside "):
        create(status=status)
    assert before == everything(outside)


def test_a_move_that_leads_out(root: Path, files: LocalWorkspace, create: Create) -> None:
    """A feature is not moved out of the repository by a link; finishing a run does not fail for that."""
    create()
    (root.parent / "outside").mkdir()
    (root / "specs/features/archive").symlink_to(root.parent / "outside")
    files.archive_feature(str(root), "retry")

    with pytest.raises(UserError, match="specs/features/archive is outside "):
        files.move(str(root), "retry", "archive")
    assert ([], ["retry"]) == (os.listdir(root.parent / "outside"), os.listdir(root / "specs/features/in-progress"))


def test_features_and_files_that_lead_out(root: Path, files: LocalWorkspace, create: Create) -> None:
    """Neither a feature nor its tasks.md may be a link out of the repository."""
    secret = root.parent / "secret"
    secret.mkdir()
    (secret / "tasks.md").write_text("- [ ] DEV")
    folder = create().folder
    (folder / "tasks.md").unlink()
    (folder / "tasks.md").symlink_to(secret / "tasks.md")
    (folder.parent / "linked").symlink_to(secret)
    for name in ("retry", "linked"):
        files.tick_tasks(str(root), name, ("DEV",))
        assert files.read_tasks(str(root), name) is None
    files.move(str(root), "retry", "pause")

    assert "- [ ] DEV" == (secret / "tasks.md").read_text()
    assert [("retry", "paused", "")] == standing(root, files)


def test_links_inside_the_repository(root: Path, files: LocalWorkspace, create: Create) -> None:
    """Specs that lie elsewhere in the same repository are the repository's."""
    (root / "docs/plans").mkdir(parents=True)
    (root / "specs").symlink_to("docs/plans")
    create()
    files.tick_tasks(str(root), "retry", ("DEV",))

    assert "- [x] DEV" in (root / "docs/plans/features/in-progress/retry/tasks.md").read_text()


@pytest.mark.parametrize("kind", ["folder", "pipe", "large", "unreadable"])
def test_tasks_that_cannot_be_read(root: Path, files: LocalWorkspace, create: Create, kind: str) -> None:
    """An unreadable ``tasks.md`` counts as none, and the feature can still be moved."""
    path = create().folder / "tasks.md"
    path.unlink()
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "large":
        path.write_bytes(b"-" * (1024 * 1024 + 1))
    else:
        path.symlink_to("tasks.md")
    files.tick_tasks(str(root), "retry", ("DEV",))

    assert files.read_tasks(str(root), "retry") is None
    assert (FeatureStatus.PAUSED, None) == (
        (moved := files.move(str(root), "retry", "pause")).status,
        moved.tasks,
    )


def test_what_has_changed_since_a_commit(tmp_path: Path, files: LocalWorkspace) -> None:
    """The commit of the start is known without a process, and later changes are listed from it."""
    repository = make_repository(tmp_path / "git", {"a.py": "1\n", "b.py": "1\n"}).resolve()
    since = files.base_commit(str(repository))
    write(repository, {"b.py": "2\n"})
    git(repository, "commit", "-qam", "b")

    assert since == git(repository, "rev-parse", "HEAD~1").strip()
    assert ("b.py",) == files.changed_files(str(repository), since)
    assert () == files.changed_files(str(repository), "")


def test_without_git_nothing_is_known_of_changes(root: Path, files: LocalWorkspace) -> None:
    """There is no commit, and the changes are unknown."""
    assert ("", None) == (files.base_commit(str(root)), files.changed_files(str(root), ""))
