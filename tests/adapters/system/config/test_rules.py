"""Rule files are found where they belong and trusted as they are; nothing that lies in a repository breaks an event."""

from __future__ import annotations

import os
from pathlib import Path
from time import perf_counter, process_time, sleep

import pytest
from repositories import write

from upbeat.adapters.system.config.rules import MAX_BYTES, MAX_FILES, PROJECT_FOLDER, RuleFiles, load_rules
from upbeat.adapters.system.config.trust import trust
from upbeat.adapters.system.environment import Environment
from upbeat.core.rules.rule import Owner, RuleSet

DENY = "---\nevent: before-tool\ntool: shell\npattern: rm\naction: deny\n---\nWords.\n"
HOOKIFY = "---\nname: warn-rm\nenabled: true\nevent: bash\npattern: rm\n---\nWords.\n"


def names(book: RuleSet) -> list[tuple[str, Owner]]:
    return [(rule.name, rule.owner) for rule in book.rules]


def test_no_rules(root: Path, home: Environment) -> None:
    """Where there are no files there are no rules, and nothing is wrong."""
    assert RuleSet() == load_rules(str(root), home)


def test_the_users_and_the_projects(root: Path, home: Environment) -> None:
    """A user's rule counts at once, a project's only tightens until it is trusted, and again when it has changed."""
    write(home.config_home, {"upbeat/rules/mine.md": DENY})
    write(root, {f"{PROJECT_FOLDER}/b.md": DENY, f"{PROJECT_FOLDER}/a.md": DENY, f"{PROJECT_FOLDER}/notes.txt": "x"})
    before = load_rules(str(root), home)
    trust(root / PROJECT_FOLDER / "a.md", (root / PROJECT_FOLDER / "a.md").read_bytes(), home)
    after = load_rules(str(root), home)
    write(root, {f"{PROJECT_FOLDER}/a.md": DENY + "More.\n"})

    assert [("mine", Owner.USER), ("a", Owner.UNTRUSTED), ("b", Owner.UNTRUSTED)] == names(before)
    assert [("mine", Owner.USER), ("a", Owner.PROJECT), ("b", Owner.UNTRUSTED)] == names(after)
    assert [
        (f"{PROJECT_FOLDER}/a.md", f"{PROJECT_FOLDER}/b.md"),
        (f"{PROJECT_FOLDER}/b.md",),
        (f"{PROJECT_FOLDER}/a.md", f"{PROJECT_FOLDER}/b.md"),
    ] == [book.untrusted for book in (before, after, load_rules(str(root), home))]
    assert [str(home.config_home / "upbeat/rules/mine.md"), f"{PROJECT_FOLDER}/a.md"] == [
        rule.file for rule in before.rules[:2]
    ]


def test_a_damaged_trust_store_costs_no_rule(root: Path, home: Environment) -> None:
    """With a damaged trust store the user's rules count, and the project's as untrusted ones."""
    write(home.config_home, {"upbeat/rules/mine.md": DENY})
    write(root, {f"{PROJECT_FOLDER}/a.md": DENY})
    write(home.state_home, {"upbeat/trusted.json": "{bad"})

    assert [("mine", Owner.USER), ("a", Owner.UNTRUSTED)] == names(load_rules(str(root), home))


def test_trust_is_for_a_place(root: Path, home: Environment) -> None:
    """The same content in another repository is another file."""
    write(root, {f"{PROJECT_FOLDER}/a.md": DENY, f"other/{PROJECT_FOLDER}/a.md": DENY})
    trust(root / PROJECT_FOLDER / "a.md", (root / PROJECT_FOLDER / "a.md").read_bytes(), home)

    assert [("a", Owner.UNTRUSTED)] == names(load_rules(str(root / "other"), home))


def test_hookify(root: Path, home: Environment) -> None:
    """hookify's rules are read, with the name that they give themselves."""
    write(root, {".claude/hookify.rm.local.md": HOOKIFY, ".claude/hookify.md": "x", ".claude/other.local.md": "x"})
    book = load_rules(str(root), home)

    assert [("warn-rm", Owner.UNTRUSTED)] == names(book)
    assert [True] == [rule.is_foreign for rule in book.rules]


def test_a_mistake_is_told_with_its_place(root: Path, home: Environment) -> None:
    """The file, the line and the key; the other files count."""
    write(root, {f"{PROJECT_FOLDER}/bad.md": "---\nevnt: x\n---\nx", f"{PROJECT_FOLDER}/good.md": DENY})
    book = load_rules(str(root), home)

    assert ([("good", Owner.UNTRUSTED)], f"{PROJECT_FOLDER}/bad.md:2: unknown key 'evnt'; did you mean 'event'?") == (
        names(book),
        book.problems[-1],
    )


def test_files_are_read_again_when_they_change(root: Path, home: Environment) -> None:
    """A new file, a changed one, one that is gone and new trust are noticed; nothing else is read twice."""
    files = RuleFiles(home)
    seen = [files.load(str(root))]
    path = write(root, {f"{PROJECT_FOLDER}/a.md": DENY}) / PROJECT_FOLDER / "a.md"
    sleep(0.1)  # what has changed just now is looked at again anyway
    seen += [files.load(str(root)), files.load(str(root))]
    path.write_text(DENY.replace("rm", "rmdir"))
    seen.append(files.load(str(root)))
    trust(path, path.read_bytes(), home)
    seen.append(files.load(str(root)))
    path.unlink()
    seen.append(files.load(str(root)))

    assert [0, 1, 1, 1, 1, 0] == [len(book.rules) for book in seen]
    assert seen[1] is seen[2]
    assert ["rm", "rmdir"] == [book.rules[0].conditions[0].pattern.source for book in seen[2:4]]
    assert [Owner.UNTRUSTED, Owner.PROJECT] == [book.rules[0].owner for book in seen[3:5]]


# --- a hostile repository ------------------------------------------------------------------------------


def test_what_is_no_file_of_the_repository(root: Path, home: Environment, tmp_path: Path) -> None:
    """A FIFO, a device, a folder, a large file, bytes, and links that lead out: each is shown, and none is read."""
    folder = root / PROJECT_FOLDER
    write(tmp_path, {"outside.md": DENY, "far/x.md": DENY})
    write(root, {f"{PROJECT_FOLDER}/good.md": DENY, "elsewhere.md": DENY})
    os.mkfifo(folder / "fifo.md")
    (folder / "device.md").symlink_to("/dev/zero")
    (folder / "folder.md").mkdir()
    (folder / "bytes.md").write_bytes(b"---\n\xff\n---")
    (folder / "out.md").symlink_to(tmp_path / "outside.md")
    (folder / "inside.md").symlink_to(root / "elsewhere.md")
    (folder / "loop.md").symlink_to("loop.md")
    with open(folder / "large.md", "wb") as file:
        file.truncate(100 * 1024 * 1024)
    before = perf_counter()
    book = load_rules(str(root), home)

    assert perf_counter() - before < 5
    assert [("good", Owner.UNTRUSTED), ("inside", Owner.UNTRUSTED)] == names(book)
    assert [
        f"{PROJECT_FOLDER}/bytes.md: not UTF-8 (byte 4)",
        f"{PROJECT_FOLDER}/device.md: leads out of the repository; not read",
        f"{PROJECT_FOLDER}/fifo.md: not a regular file",
        f"{PROJECT_FOLDER}/folder.md: not a regular file",
        f"{PROJECT_FOLDER}/large.md: larger than {MAX_BYTES} bytes; not read",
        f"{PROJECT_FOLDER}/loop.md: cannot be read (Too many levels of symbolic links)",
        f"{PROJECT_FOLDER}/out.md: leads out of the repository; not read",
    ] == list(book.problems)


def test_a_folder_that_leads_out(root: Path, home: Environment, tmp_path: Path) -> None:
    """Rules of another place are not this repository's."""
    write(tmp_path, {"far/x.md": DENY})
    (root / ".upbeat").mkdir()
    (root / PROJECT_FOLDER).symlink_to(tmp_path / "far")

    assert RuleSet(problems=(f"{PROJECT_FOLDER}: leads out of the repository; not read",)) == load_rules(
        str(root), home
    )


def test_more_files_than_are_read(root: Path, home: Environment) -> None:
    """The first files by name are loaded, and a problem reports how many are not."""
    write(root, {f"{PROJECT_FOLDER}/{number:03}.md": DENY for number in range(MAX_FILES + 100)})
    book = load_rules(str(root), home)

    assert (MAX_FILES, "000", "199") == (len(book.rules), book.rules[0].name, book.rules[-1].name)
    assert (f"{PROJECT_FOLDER}: 100 rule files over the limit of {MAX_FILES} are ignored",) == book.problems


@pytest.mark.bench
def test_two_hundred_files_as_large_as_can_be(root: Path, home: Environment) -> None:
    """Front matter, expressions, globs and text at their limits are read in seconds."""
    for number in range(MAX_FILES):
        globs = ", ".join(f"a{number}{letter}{{b,c}}*{{d,e}}*{{f,g}}*" for letter in "abcdefghijkl")
        front = f"event: before-tool\ntool: write\naction: deny\npaths: '{globs}'\npattern: '(a|b){{400}}{number}'"
        write(root, {f"{PROJECT_FOLDER}/{number:03}.md": f"---\n{front}\n---\n" + "key=x " * 800})
    before = process_time()
    book = load_rules(str(root), home)

    assert process_time() - before < 20
    assert (MAX_FILES, ()) == (len(book.rules), book.problems)


@pytest.mark.parametrize("name", ["\x1b[31mred\nline.md", b"\xff\xfe.md", "‮reversed.md", ".md", "a" * 250 + ".md"])
def test_odd_names(root: Path, home: Environment, name: str | bytes) -> None:
    """A name is shown without controls, on one line, as text."""
    folder = root / PROJECT_FOLDER
    folder.mkdir(parents=True)
    with open(os.path.join(os.fsencode(folder), os.fsencode(name)), "wb") as file:
        file.write(b"---\nevnt: x\n---\n")
    book = load_rules(str(root), home)
    shown = "".join((*book.problems, *book.untrusted))

    assert () == book.rules
    assert not any(char < " " or char == "‮" or "\ud800" <= char <= "\udfff" for char in shown)
