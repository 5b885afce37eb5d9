"""What ``upbeat install`` did to files, byte by byte. Law: it is stored before the first of them is touched.

So whoever comes after a killed install or uninstall knows every file that may have been changed, what was in it, and
what was to be in it. Contents are kept once, by their digest; no time stands in it, so that doing the same again
changes nothing.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...core.errors import UserError
from . import atomic
from .environment import Environment
from .trust import digest_of

VERSION = 1
MAX_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class FileReceipt:
    """One file. ``path`` is where the bytes are, links resolved; None stands for no file.

    ``earlier`` is what else may still be there of us: the ``after`` of the release before, until an upgrade is through.
    A settings file has a ``format`` (json, toml) and the ``places`` in it that are ours; a file that is ours as a whole
    has none. ``is_own`` says that the file lies in a folder of our own, where nothing of anybody else's belongs.
    """

    path: Path
    before: bytes | None
    after: bytes | None
    earlier: tuple[bytes, ...] = ()
    format: str = ""
    places: tuple[tuple[str, ...], ...] = ()
    is_own: bool = False

    def is_ours(self, data: bytes | None) -> bool:
        """Whether ``data`` is what an install wrote there."""
        return data is not None and data in (self.after, *self.earlier)


@dataclass(frozen=True, slots=True)
class Receipt:
    """All that was done for one client. ``release`` is the upbeat that did it; ``folders`` are those that it made,
    outer ones first."""

    client: str
    route: str
    release: str
    files: tuple[FileReceipt, ...] = ()
    folders: tuple[Path, ...] = ()

    def of(self, path: Path) -> FileReceipt | None:
        """What was done to ``path``."""
        return next((file for file in self.files if file.path == path), None)


def receipt_path(environment: Environment, client: str) -> Path:
    """Where the receipt of ``client`` (claude, codex) is kept."""
    return environment.data_home / "upbeat" / "receipts" / f"{client}.json"


def read_receipt(environment: Environment, client: str) -> Receipt | None:
    """The receipt of ``client`` (claude, codex); None when nothing is installed, or a release without receipts did it.

    Raises UserError where it is there and cannot be read, or is of a newer upbeat.
    """
    path = receipt_path(environment, client)
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise UserError(f"{path} cannot be read ({error.strerror}); make it readable, and try again") from error
    try:
        return decode(data)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        way_out = "put it back from a backup, or take it and what is of upbeat in the client's settings away by hand"
        raise UserError(f"{path}: not a receipt of this upbeat ({error}); {way_out}") from error


def write_receipt(environment: Environment, receipt: Receipt) -> bool:
    """Store ``receipt``, durably, for its owner alone; False when it stands there already. The folder is there."""
    path, data = receipt_path(environment, receipt.client), encode(receipt)
    if path.is_file() and path.read_bytes() == data:
        return False
    atomic.write(path, data, private=True)
    return True


def encode(receipt: Receipt) -> bytes:
    """The bytes of the receipt's file."""
    contents: dict[str, Mapping[str, str]] = {}
    document = {
        "version": VERSION,
        "client": receipt.client,
        "route": receipt.route,
        "release": receipt.release,
        "folders": [str(folder) for folder in receipt.folders],
        "files": [_from_file(file, contents) for file in receipt.files],
        "contents": contents,
    }
    return (json.dumps(document, indent=1) + "\n").encode("ascii")


def decode(data: bytes) -> Receipt:
    """The receipt in the bytes of its file. Raises ValueError, KeyError, TypeError or AttributeError if it is none."""
    document = json.loads(data)
    if document["version"] != VERSION:
        raise ValueError(f"version {document['version']!r}")
    contents = {digest: _to_bytes(digest, stored) for digest, stored in document["contents"].items()}
    return Receipt(
        client=str(document["client"]),
        route=str(document["route"]),
        release=str(document["release"]),
        folders=tuple(Path(folder) for folder in document["folders"]),
        files=tuple(_to_file(file, contents) for file in document["files"]),
    )


def _from_file(file: FileReceipt, contents: dict[str, Mapping[str, str]]) -> dict[str, Any]:
    for data in _contents(file):
        contents.setdefault(digest_of(data), _from_bytes(data))
    return {
        "path": str(file.path),
        "before": _digest(file.before),
        "after": _digest(file.after),
        "earlier": [digest_of(data) for data in file.earlier],
        "format": file.format,
        "places": [list(place) for place in file.places],
        "own": file.is_own,
    }


def _to_file(stored: Mapping[str, Any], contents: Mapping[str, bytes]) -> FileReceipt:
    before, after = stored["before"], stored["after"]
    return FileReceipt(
        path=Path(stored["path"]),
        before=None if before is None else contents[before],
        after=None if after is None else contents[after],
        earlier=tuple(contents[digest] for digest in stored["earlier"]),
        format=str(stored["format"]),
        places=tuple(tuple(map(str, place)) for place in stored["places"]),
        is_own=bool(stored["own"]),
    )


def _contents(file: FileReceipt) -> Iterable[bytes]:
    return (data for data in (file.before, file.after, *file.earlier) if data is not None)


def _digest(data: bytes | None) -> str | None:
    return None if data is None else digest_of(data)


def _from_bytes(data: bytes) -> Mapping[str, str]:
    """As text where it is text, so that a person can read it; the digest is told by the key."""
    try:
        return {"text": data.decode("utf-8")}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode("ascii")}


def _to_bytes(digest: str, stored: Mapping[str, str]) -> bytes:
    try:
        data = stored["text"].encode("utf-8") if "text" in stored else base64.b64decode(stored["base64"], validate=True)
    except binascii.Error as error:
        raise ValueError(str(error)) from error
    if digest_of(data) != digest:
        raise ValueError("a content that does not match its digest")
    return data
