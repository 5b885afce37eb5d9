"""Tell which paths and texts of a call are controls: upbeat's files and sockets, and the clients' settings.

Invariant: a path counts by what it is here: links, ``~``, variables of folders and patterns are resolved. Nothing is
read but scripts that the call runs.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

import upbeat
from upbeat.adapters.system.environment import Environment
from upbeat.adapters.system.files.bounded_read import read_content
from upbeat.core import lazy_re as re
from upbeat.core.lazy_dataclass import dataclass, field
from upbeat.core.policy.own_controls import mentions_control, names_control, reserved_command
from upbeat.core.policy.queries import OwnControlsQuery

MAX_SCRIPT_BYTES = 64 * 1024
_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")
_PATTERN = re.compile(r"[*?\[{]")
_BRACES = re.compile(r"\{[^{}]*\}")


@dataclass(frozen=True)
class OwnControls:
    """The controls of one user on this machine. ``client_paths`` are files and folders of clients."""

    environment: Environment
    client_paths: Sequence[Path] = ()
    socket_folder: Path = field(default_factory=lambda: Path(f"/tmp/upbeat-{os.getuid()}"))  # noqa: S108

    def find(self, query: OwnControlsQuery, cwd: str, root: str) -> tuple[str, ...]:
        """Return the items of ``query`` that are controls, as written; of texts, one line."""
        return tuple(dict.fromkeys(self._find(query, cwd, root)))

    def _find(self, query: OwnControlsQuery, cwd: str, root: str) -> Iterator[str]:
        places = self._places(root)
        for word in query.paths:
            if self._is_control(word, cwd, places):
                yield word
        for word in query.trees:
            if self._is_control(word, cwd, places, counts_content=True):
                yield word
        needles = [place for place in places if len(place) > len("/root/.x")]
        for text in query.texts:
            if mentions_control(text, needles):
                yield " ".join(text.split())
        for word in query.scripts:
            path = self._resolve(word, cwd)
            content = read_content(Path(path), None, MAX_SCRIPT_BYTES) if path and os.path.isfile(path) else None
            if content and not content.problem:
                text = content.data.decode("utf-8", "replace")
                if not self._is_own_code(path) and (reserved_command(text) or mentions_control(text, needles)):
                    yield word

    def _places(self, root: str) -> list[str]:
        """Return the real paths of the controls. The package itself is none while its checkout is worked on."""
        environment = self.environment
        package = Path(upbeat.__file__).parent
        folders = [
            *(home / "upbeat" for home in (environment.config_home, environment.state_home, environment.data_home)),
            self.socket_folder,
            *self.client_paths,
        ]
        if not os.path.realpath(package).startswith(f"{root}/"):
            folders.append(package)
        return list(dict.fromkeys(path for folder in folders for path in (str(folder), os.path.realpath(folder))))

    def _is_own_code(self, path: str) -> bool:
        """Return whether a script is upbeat's own or the client's launcher, which name controls for good reasons."""
        return os.path.realpath(path).startswith(os.path.realpath(Path(upbeat.__file__).parent) + "/")

    def _is_control(self, word: str, cwd: str, places: Sequence[str], *, counts_content: bool = False) -> bool:
        if names_control(word):
            return True
        path = self._resolve(word, cwd)
        if not path:
            return False
        forms = {path, os.path.realpath(path)}
        if any(names_control(form) for form in forms):
            return True
        return any(_overlaps(form, place, counts_content=counts_content) for form in forms for place in places)

    def _resolve(self, word: str, cwd: str) -> str:
        """Return the absolute path that a shell makes of ``word``; empty if that is unknown."""
        environment = self.environment
        known = {
            "HOME": str(environment.home),
            "XDG_CONFIG_HOME": str(environment.config_home),
            "XDG_STATE_HOME": str(environment.state_home),
            "XDG_DATA_HOME": str(environment.data_home),
            "PWD": cwd,
            **environment.client_variables,
        }
        text = _VARIABLE.sub(lambda match: known.get(match[1] or match[2], match[0]), word)
        if text == "~" or text.startswith("~/"):
            text = known["HOME"] + text[1:]
        if "\0" in text or "$" in text or "`" in text:
            return ""
        return os.path.normpath(os.path.join(cwd, text))


def _overlaps(path: str, place: str, *, counts_content: bool) -> bool:
    """Return whether ``path``, which may have patterns, is ``place`` or inside of it, or contains it."""
    if not _PATTERN.search(path):
        return path == place or path.startswith(f"{place}/") or (counts_content and place.startswith(f"{path}/"))
    parts, names = _BRACES.sub("*", path).split("/"), place.split("/")
    if len(parts) < len(names) and not counts_content:
        return False
    is_general = place.startswith("/tmp/upbeat-") and "upbeat" not in path  # noqa: S108 -- `rm /tmp/*` is about anything
    return not is_general and all(
        fnmatchcase(name, part) and not (name.startswith(".") and part[:1] in "*?[")
        for name, part in zip(names, parts, strict=False)
    )
