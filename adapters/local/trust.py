"""Which files of projects their user trusts. Law: trust is for a content at a place; a change ends it.

What cannot be understood is not trusted, and does not stand in the way of new trust; a store that cannot be read is not
written over.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path

from . import atomic
from .environment import Environment
from .lock import locked
from .opening import is_below

TRUST_FILE = "upbeat/trusted.json"
LOCK_SECONDS = 5.0


def is_trusted(path: Path, digest: str, environment: Environment) -> bool:
    """Whether the user has trusted the content with ``digest`` at this very place."""
    return bool(digest) and trusted_contents(environment).get(str(path.resolve())) == digest


def trust(path: Path, data: bytes, environment: Environment) -> None:
    """Remember that the user trusts ``data`` as the content of ``path``. Raises OSError where it cannot be stored."""
    _change(lambda trusted: trusted | {str(path.resolve()): digest_of(data)}, environment)


def revoke(path: str, environment: Environment) -> list[str]:
    """End the trust in the real ``path``, and in all below it; what was trusted there. Raises OSError as ``trust``."""
    ended = sorted(one for one in trusted_contents(environment) if is_below(path, one))
    if ended:
        _change(lambda trusted: {one: digest for one, digest in trusted.items() if one not in ended}, environment)
    return ended


def _change(change: Callable[[dict[str, str]], dict[str, str]], environment: Environment) -> None:
    store = environment.state_home / TRUST_FILE
    store.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with locked(store.with_name(f"{store.name}.lock"), LOCK_SECONDS) as is_ours:
        if is_ours is False:
            raise TimeoutError(f"another upbeat is writing {store}; try again")
        atomic.write(store, json.dumps(change(_stored(store)), indent=2).encode(), private=True)


def digest_of(data: bytes) -> str:
    """How a content is remembered."""
    return "sha256:" + hashlib.sha256(data).hexdigest()


def trusted_contents(environment: Environment) -> Mapping[str, str]:
    """Every trusted content, by its real place."""
    try:
        return _stored(environment.state_home / TRUST_FILE)
    except OSError:
        return {}


def _stored(store: Path) -> dict[str, str]:
    """What is in the store; nothing where it cannot be understood. Raises OSError where it cannot be read."""
    try:
        stored = json.loads(store.read_bytes())
    except (FileNotFoundError, ValueError, RecursionError):
        return {}
    return stored if isinstance(stored, dict) else {}
