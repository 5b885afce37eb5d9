"""Trust is for a content at a place, and is never guessed."""

from __future__ import annotations

import errno
import json
import os
import re
import stat
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

from upbeat.adapters.system.config.trust import digest_of, is_trusted, read_trust_store, revoke, trust, trusted_digests
from upbeat.adapters.system.environment import Environment
from upbeat.core.errors import UserError

DIGEST = digest_of(b"x=1")


def put(path: Path, text: str = "x=1") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("stored", "problem"),
    [
        ("", "Expecting value: line 1 column 1 (char 0)"),
        ("{\nbad", "Expecting property name enclosed in double quotes: line 2 column 1 (char 2)"),
        ("[]", "it is not a JSON object"),
        ("null", "it is not a JSON object"),
    ],
)
def test_a_damaged_store_trusts_nothing_and_is_kept(
    tmp_path: Path, home: Environment, stored: str, problem: str
) -> None:
    """A damaged store trusts nothing; whoever lists, adds or ends trust reads where the damage is."""
    path = put(tmp_path / "x")
    store = put(home.state_home / "upbeat/trusted.json", stored)
    actions = (lambda: read_trust_store(home), lambda: trust(path, b"x=1", home), lambda: revoke(str(tmp_path), home))
    for action in actions:
        with pytest.raises(UserError, match=re.escape(f"{store}, which stores what you trust, is damaged: {problem}.")):
            action()

    assert (False, {}, stored) == (is_trusted(path, DIGEST, home), trusted_digests(home), store.read_text())


def test_a_folder_in_place_of_the_store(tmp_path: Path, home: Environment) -> None:
    """A folder in place of the store trusts nothing and is reported in a sentence."""
    store = home.state_home / "upbeat/trusted.json"
    store.mkdir(parents=True)
    with pytest.raises(UserError, match=rf"^{re.escape(str(store))}, .* cannot be read: Is a directory$"):
        trust(tmp_path, b"x=1", home)

    assert not is_trusted(tmp_path, DIGEST, home)


def test_an_entry_that_is_no_digest_trusts_nothing(tmp_path: Path, home: Environment) -> None:
    """An entry of another type does not trust its file, and new trust replaces it."""
    path = put(tmp_path / "x")
    put(home.state_home / "upbeat/trusted.json", json.dumps({str(path.resolve()): 5}))
    before = is_trusted(path, DIGEST, home)
    trust(path, b"x=1", home)

    assert (False, True) == (before, is_trusted(path, DIGEST, home))


def test_a_file_that_was_not_read_is_not_trusted(tmp_path: Path, home: Environment) -> None:
    """Without a content there is nothing to trust."""
    assert not is_trusted(tmp_path / "absent", "", home)


def test_trust_at_the_same_time(tmp_path: Path, home: Environment) -> None:
    """Two processes that trust different projects at the same moment both have it remembered."""
    paths = [put(tmp_path / str(number)) for number in range(12)]
    with ProcessPoolExecutor(4, mp_context=get_context("fork")) as processes:
        list(processes.map(trust, paths, [b"x=1"] * len(paths), [home] * len(paths)))

    assert [True] * len(paths) == [is_trusted(path, DIGEST, home) for path in paths]


def test_the_store_is_private(tmp_path: Path, home: Environment) -> None:
    """The trust file is readable by its owner only, and no draft is left beside it."""
    trust(put(tmp_path / "x"), b"x=1", home)
    files = sorted((home.state_home / "upbeat").iterdir())

    assert ["trusted.json", "trusted.json.lock"] == [file.name for file in files]
    assert {0o600} == {stat.S_IMODE(file.stat().st_mode) for file in files}


def test_a_store_that_cannot_be_read_is_not_written_over(
    tmp_path: Path, home: Environment, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that does not give the store costs no earlier trust: the new one fails."""
    one, two = put(tmp_path / "one"), put(tmp_path / "two")
    trust(one, b"x=1", home)
    real = Path.read_bytes

    def refuse(path: Path) -> bytes:
        if path.name == "trusted.json":
            raise OSError(errno.EIO, os.strerror(errno.EIO), str(path))
        return real(path)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "read_bytes", refuse)
        assert not is_trusted(one, DIGEST, home)
        with pytest.raises(UserError, match="cannot be read: Input/output error"):
            trust(two, b"x=1", home)

    assert (True, False) == (is_trusted(one, DIGEST, home), is_trusted(two, DIGEST, home))


def test_trust_that_ends(tmp_path: Path, home: Environment) -> None:
    """Revoking ends the trust in a folder's files, says which those were, and leaves others alone."""
    one, two, other = put(tmp_path / "a/x"), put(tmp_path / "a/b/x"), put(tmp_path / "ab/x")
    for path in (one, two, other):
        trust(path, b"x=1", home)

    assert ([str(two), str(one)], []) == (revoke(str(tmp_path / "a"), home), revoke(str(tmp_path / "a"), home))
    assert [False, False, True] == [is_trusted(path, DIGEST, home) for path in (one, two, other)]
