"""Real git repositories in a temporary folder."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

FILES = {
    "shop/retry.py": (
        "RETRY_LIMIT = 3\n\n\ndef send_with_retry(message):\n"
        '    """Send the message, at most RETRY_LIMIT times."""\n'
        "    for attempt in range(RETRY_LIMIT):\n"
        "        if send(message):\n            return attempt\n    return None\n"
    ),
    "shop/cart.py": "class Cart:\n    def total_price(self):\n        return sum(item.price for item in self.items)\n",
    "README.md": "# Shop\n\nSends messages and retries them.\n",
}
PROMPT = "where is the retry limit in send_with_retry enforced?"
"""A prompt that ``FILES`` answers."""


def read_tree(path: Path) -> dict[str, str]:
    """Return the files whose texts stand in ``path``, each below a line ``==> NAME <==``."""
    _, *parts = re.split(r"^==> (.+) <==\n", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return dict(zip(parts[::2], parts[1::2], strict=True))


def write(folder: Path, files: Mapping[str, str] = FILES) -> Path:
    """Write ``files`` below ``folder``, which is made."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def git(folder: Path, *arguments: str) -> str:
    """Return what ``git ARGUMENTS`` says in ``folder``, with a fixed author and date."""
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main"]
    done = subprocess.run(
        ["git", *identity, "-c", "protocol.file.allow=always", "-c", "commit.gpgsign=false", *arguments],
        cwd=folder,
        env={
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "HOME": str(folder),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z",
            "GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z",
        },
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def make_repository(folder: Path, files: Mapping[str, str] = FILES) -> Path:
    """Make a git repository with one commit that holds ``files``."""
    write(folder, files)
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "first")
    return folder


def make_small_repository(folder: Path, *names: str) -> Path:
    """Make a git repository with one commit of files with these names (default: ``a.py``)."""
    return make_repository(folder, dict.fromkeys(names or ("a.py",), f"# {folder.name}\n"))


def commit(folder: Path, message: str) -> str:
    """Commit everything in ``folder``, or nothing; return the commit's id."""
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--allow-empty", "-m", message)
    return git(folder, "rev-parse", "HEAD")


def make_with_submodule(folder: Path) -> Path:
    """Make the repository ``outer`` below ``folder`` with the repository ``inner`` as a submodule."""
    make_small_repository(folder / "inner", "in.py", "deep/in 2.py")
    outer = make_small_repository(folder / "outer")
    git(outer, "submodule", "--quiet", "add", str(folder / "inner"), "libs/inner part")
    commit(outer, "with a submodule")
    return outer
