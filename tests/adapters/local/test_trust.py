"""Trust is for a content at a place, and is never guessed."""

from __future__ import annotations

from pathlib import Path

import pytest

from upbeat.adapters.local.environment import Environment, read_environment
from upbeat.adapters.local.trust import digest_of, is_trusted, trust

DIGEST = digest_of(b"x=1")


@pytest.fixture
def home(tmp_path: Path) -> Environment:
    return read_environment({"HOME": str(tmp_path / "home")})


def put(path: Path, text: str = "x=1") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_trust_is_for_a_content_at_a_place(tmp_path: Path, home: Environment) -> None:
    """The content that comes back is trusted where it was, and neither another content nor another place."""
    path = put(tmp_path / "one")
    before = is_trusted(path, DIGEST, home)

    assert (False, b"x=1", True) == (before, trust(path, home), is_trusted(path, DIGEST, home))
    assert (False, False) == (
        is_trusted(path, digest_of(b"x=2"), home),
        is_trusted(put(tmp_path / "two"), DIGEST, home),
    )


def test_trust_remembers_others(tmp_path: Path, home: Environment) -> None:
    """Trusting one project keeps the trust in another."""
    one, two = put(tmp_path / "a" / "x"), put(tmp_path / "b" / "x")
    trust(one, home)
    trust(two, home)

    assert (True, True) == (is_trusted(one, DIGEST, home), is_trusted(two, DIGEST, home))


@pytest.mark.parametrize("stored", ["", "[]", "{", '{"x": 5}', "null"])
def test_a_broken_trust_file_trusts_nobody(tmp_path: Path, home: Environment, stored: str) -> None:
    """Trust that cannot be read is no trust, and does not stand in the way of new trust."""
    path = put(tmp_path / "x")
    put(home.state_home / "upbeat/trusted.json", stored)

    assert not is_trusted(path, DIGEST, home)

    trust(path, home)

    assert is_trusted(path, DIGEST, home)


def test_a_file_that_was_not_read_is_not_trusted(tmp_path: Path, home: Environment) -> None:
    """Without a content there is nothing to trust."""
    assert not is_trusted(tmp_path / "absent", "", home)
