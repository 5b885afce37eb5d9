"""Store which files of projects their user trusts. Invariant: trust is for one content at one path.

A store that is damaged or cannot be read trusts nothing, and is never overwritten.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path

from upbeat.adapters.system.environment import Environment
from upbeat.adapters.system.files import atomic
from upbeat.adapters.system.files.lock import lock_private_file
from upbeat.adapters.system.files.safe_open import is_below
from upbeat.core.errors import UserError

TRUST_FILE = "upbeat/trusted.json"


def is_trusted(path: Path, digest: str, environment: Environment) -> bool:
    """Return whether the user trusts the content with ``digest`` at this path."""
    return bool(digest) and trusted_digests(environment).get(str(path.resolve())) == digest


def trust(path: Path, data: bytes, environment: Environment) -> None:
    """Store that the user trusts ``data`` as the content of ``path``. Raises UserError and OSError."""
    _update_store(lambda trusted: trusted | {str(path.resolve()): digest_of(data)}, environment)


def revoke(path: str, environment: Environment) -> list[str]:
    """End the trust in the real ``path`` and all below; return the revoked paths. Raises UserError and OSError."""
    revoked = sorted(name for name in read_trust_store(environment) if is_below(path, name))
    if revoked:
        _update_store(lambda trusted: {name: trusted[name] for name in trusted if name not in revoked}, environment)
    return revoked


def _update_store(change: Callable[[dict[str, str]], dict[str, str]], environment: Environment) -> None:
    store = environment.state_home / TRUST_FILE
    with lock_private_file(store):
        atomic.write_file(store, json.dumps(change(read_trust_store(environment)), indent=2).encode(), is_private=True)


def digest_of(data: bytes) -> str:
    """Return the digest that identifies a content."""
    return "sha256:" + hashlib.sha256(data).hexdigest()


def trusted_digests(environment: Environment) -> Mapping[str, str]:
    """Return the digest of every trusted content by its real path; empty if the store is unreadable or damaged."""
    try:
        return read_trust_store(environment)
    except UserError:
        return {}


def read_trust_store(environment: Environment) -> dict[str, str]:
    """Return the digest of every trusted content by its real path; empty if there is no store.

    Raises:
        UserError: The store is unreadable or damaged.
    """
    store = environment.state_home / TRUST_FILE
    try:
        stored = json.loads(store.read_bytes())
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise UserError(f"{store}, which stores what you trust, cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise _damaged(store, str(error)) from error
    if not isinstance(stored, dict):
        raise _damaged(store, "it is not a JSON object")
    return stored


def _damaged(store: Path, problem: str) -> UserError:
    return UserError(
        f"{store}, which stores what you trust, is damaged: {problem}. Nothing in it is trusted until you "
        "repair it, or delete it and trust your projects again"
    )
