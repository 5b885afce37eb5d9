"""The receipt of an installation: what ``upbeat install`` did to every file.

Invariant: it is stored before the first change. So after a killed install or uninstall every file that may have changed
is known, with its old and its new content. Contents are stored once, by digest; there is no timestamp, so that a second
install changes nothing.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from upbeat.adapters.system.config.trust import digest_of
from upbeat.adapters.system.environment import Environment
from upbeat.adapters.system.files import atomic
from upbeat.core.errors import UserError

RECEIPT_VERSION = 1
MAX_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class FileReceipt:
    """The content of one file before and after the install; None for no file. ``path`` has its links resolved.

    ``earlier`` is the ``after`` of the previous release, which may be there until an upgrade is complete. A settings
    file has a ``format`` (json, toml) and the ``key_paths`` of upbeat's entries; a file that belongs to upbeat as a
    whole has none. ``is_own``: the file is in a folder that only upbeat writes to.
    """

    path: Path
    before: bytes | None
    after: bytes | None
    earlier: tuple[bytes, ...] = ()
    format: str = ""
    key_paths: tuple[tuple[str, ...], ...] = ()
    is_own: bool = False

    def is_ours(self, data: bytes | None) -> bool:
        """Return whether an install wrote ``data`` there."""
        return data is not None and data in (self.after, *self.earlier)


@dataclass(frozen=True, slots=True)
class Receipt:
    """Everything that was done for one client. ``release`` is upbeat's version; ``folders`` are those that it created,
    outer ones first."""

    client: str
    route: str
    release: str
    files: tuple[FileReceipt, ...] = ()
    folders: tuple[Path, ...] = ()

    def for_path(self, path: Path) -> FileReceipt | None:
        """Return the receipt of ``path``; None if it is not part of the installation."""
        return next((file for file in self.files if file.path == path), None)


def receipt_path(environment: Environment, client: str) -> Path:
    """Return where the receipt of ``client`` (a name on the command line) is stored."""
    return environment.data_home / "upbeat" / "receipts" / f"{client}.json"


def read_receipt(environment: Environment, client: str) -> Receipt | None:
    """Return the receipt of ``client``; None if nothing is installed, or a release without receipts installed it.

    Raises:
        UserError: It cannot be read, or a newer version of upbeat wrote it.
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
        hint = "restore it from a backup, or remove it and upbeat's entries in the client's settings by hand"
        raise UserError(f"{path}: not a receipt that this version can read ({error}); {hint}") from error


def write_receipt(environment: Environment, receipt: Receipt) -> None:
    """Store ``receipt`` durably, readable by its owner only; a receipt that is stored already is not touched."""
    path, data = receipt_path(environment, receipt.client), encode(receipt)
    if not path.is_file() or path.read_bytes() != data:
        atomic.write_file(path, data, is_private=True)


def encode(receipt: Receipt) -> bytes:
    """Return the content of the receipt's file."""
    contents: dict[str, Mapping[str, str]] = {}
    document = {
        "version": RECEIPT_VERSION,
        "client": receipt.client,
        "route": receipt.route,
        "release": receipt.release,
        "folders": [str(folder) for folder in receipt.folders],
        "files": [_encode_file(file, contents) for file in receipt.files],
        "contents": contents,
    }
    return (json.dumps(document, indent=1) + "\n").encode("ascii")


def decode(data: bytes) -> Receipt:
    """Return the receipt in the content of its file.

    Raises:
        ValueError, KeyError, TypeError, AttributeError: The content is not a receipt.
    """
    document = json.loads(data)
    if document["version"] != RECEIPT_VERSION:
        raise ValueError(f"version {document['version']!r}")
    contents = {digest: _decode_bytes(digest, stored) for digest, stored in document["contents"].items()}
    return Receipt(
        client=str(document["client"]),
        route=str(document["route"]),
        release=str(document["release"]),
        folders=tuple(Path(folder) for folder in document["folders"]),
        files=tuple(_decode_file(file, contents) for file in document["files"]),
    )


def _encode_file(file: FileReceipt, contents: dict[str, Mapping[str, str]]) -> dict[str, Any]:
    for data in (file.before, file.after, *file.earlier):
        if data is not None:
            contents.setdefault(digest_of(data), _encode_bytes(data))
    return {
        "path": str(file.path),
        "before": _digest(file.before),
        "after": _digest(file.after),
        "earlier": [digest_of(data) for data in file.earlier],
        "format": file.format,
        "places": [list(place) for place in file.key_paths],
        "own": file.is_own,
    }


def _decode_file(stored: Mapping[str, Any], contents: Mapping[str, bytes]) -> FileReceipt:
    before, after = stored["before"], stored["after"]
    return FileReceipt(
        path=Path(stored["path"]),
        before=None if before is None else contents[before],
        after=None if after is None else contents[after],
        earlier=tuple(contents[digest] for digest in stored["earlier"]),
        format=str(stored["format"]),
        key_paths=tuple(tuple(map(str, place)) for place in stored["places"]),
        is_own=bool(stored["own"]),
    )


def _digest(data: bytes | None) -> str | None:
    return None if data is None else digest_of(data)


def _encode_bytes(data: bytes) -> Mapping[str, str]:
    """Return ``data`` as text if it is UTF-8, so that users can read it."""
    try:
        return {"text": data.decode("utf-8")}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode("ascii")}


def _decode_bytes(digest: str, stored: Mapping[str, str]) -> bytes:
    try:
        data = stored["text"].encode("utf-8") if "text" in stored else base64.b64decode(stored["base64"], validate=True)
    except binascii.Error as error:
        raise ValueError(str(error)) from error
    if digest_of(data) != digest:
        raise ValueError("a content does not match its digest")
    return data
