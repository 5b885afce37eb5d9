"""The receipt of an installation: what is stored comes back, and what is no receipt is told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upbeat.adapters.install.receipt import (
    FileReceipt,
    Receipt,
    decode,
    encode,
    read_receipt,
    receipt_path,
    write_receipt,
)
from upbeat.adapters.system.environment import Environment, read_environment
from upbeat.core.errors import UserError

CONTENTS = st.none() | st.binary(max_size=50) | st.text(max_size=50).map(lambda text: text.encode("utf-8", "replace"))
FILES = st.builds(
    FileReceipt,
    path=st.text("abc/é", min_size=1, max_size=9).map(lambda name: Path("/h", name.strip("/") or "a")),
    before=CONTENTS,
    after=CONTENTS,
    earlier=st.lists(st.binary(max_size=9), max_size=2).map(tuple),
    format=st.sampled_from(["", "json", "toml"]),
    key_paths=st.lists(st.lists(st.text(max_size=5), max_size=3).map(tuple), max_size=2).map(tuple),
    is_own=st.booleans(),
)
RECEIPTS = st.builds(
    Receipt,
    client=st.sampled_from(["claude", "codex"]),
    route=st.sampled_from(["mcp", "command"]),
    release=st.just("0.1.0"),
    files=st.lists(FILES, max_size=4).map(tuple),
    folders=st.lists(st.just(Path("/h/x")), max_size=2).map(tuple),
)
ONE = Receipt("codex", "mcp", "0.1.0", (FileReceipt(Path("/h/a"), b"x", b"y"), FileReceipt(Path("/h/b"), None, b"x")))


@pytest.fixture
def environment(tmp_path: Path) -> Environment:
    return read_environment({"HOME": str(tmp_path)})


@given(RECEIPTS)
def test_a_stored_receipt_is_read_back(receipt: Receipt) -> None:
    """Any receipt is the same after it was stored, whether its contents are text or not."""
    assert receipt == decode(encode(receipt))


def test_a_receipt_is_readable_by_its_owner_only(environment: Environment) -> None:
    """Storing the same receipt again does not touch the file."""
    path = receipt_path(environment, "codex")
    path.parent.mkdir(parents=True)

    write_receipt(environment, ONE)
    first = path.stat()
    write_receipt(environment, ONE)
    assert (0o600, first.st_mtime_ns, first.st_ino) == (
        first.st_mode & 0o777,
        path.stat().st_mtime_ns,
        path.stat().st_ino,
    )
    assert ONE == read_receipt(environment, "codex")


def test_without_an_installation_there_is_no_receipt(environment: Environment) -> None:
    """Reading it creates nothing."""
    assert read_receipt(environment, "claude") is None
    assert [] == list(environment.data_home.parent.parent.iterdir())


CONTENT = next(iter(json.loads(encode(ONE))["contents"]))


@pytest.mark.parametrize(
    "spoil",
    [
        lambda document: document | {"version": 2},
        lambda document: document | {"contents": {}},
        lambda document: document | {"contents": document["contents"] | {CONTENT: {"text": "other"}}},
        lambda document: document | {"contents": document["contents"] | {CONTENT: {"base64": "?"}}},
        lambda document: document | {"files": [{}]},
        lambda document: {"version": 1},
        lambda document: [],
        lambda document: "text",
    ],
)
def test_an_invalid_receipt_is_an_error(environment: Environment, spoil) -> None:
    """A receipt of another version, and a damaged one, is reported with the file's name."""
    path = receipt_path(environment, "codex")
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(spoil(json.loads(encode(ONE)))), encoding="utf-8")

    with pytest.raises(UserError, match=f"^{path}: not a receipt that this version can read"):
        read_receipt(environment, "codex")
