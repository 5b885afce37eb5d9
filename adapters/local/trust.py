"""Which files of projects their user trusts. Law: trust is for a content at a place; a change ends it.

What cannot be read is not trusted, and does not stand in the way of new trust.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path

from .environment import Environment

TRUST_FILE = "upbeat/trusted.json"


def is_trusted(path: Path, digest: str, environment: Environment) -> bool:
    """Whether the user has trusted the content with ``digest`` at this very place."""
    return bool(digest) and trusted_contents(environment).get(str(path.resolve())) == digest


def trust(path: Path, environment: Environment) -> bytes:
    """Remember that the user trusts the present content of ``path``, which comes back.

    Raises OSError where it cannot be read or remembered.
    """
    data = path.read_bytes()
    store = environment.state_home / TRUST_FILE
    store.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    trusted = dict(trusted_contents(environment)) | {str(path.resolve()): digest_of(data)}
    draft = store.with_name(f"{store.name}.{os.getpid()}")
    draft.write_text(json.dumps(trusted, indent=2), encoding="utf-8")
    draft.replace(store)
    return data


def digest_of(data: bytes) -> str:
    """How a content is remembered."""
    return "sha256:" + hashlib.sha256(data).hexdigest()


def trusted_contents(environment: Environment) -> Mapping[str, str]:
    """Every trusted content, by its real place."""
    try:
        stored = json.loads((environment.state_home / TRUST_FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return stored if isinstance(stored, dict) else {}
