"""Where the paths of a shell line lead."""

from __future__ import annotations

import pytest

from upbeat.core.destructive import ShellLocation
from upbeat.core.destructive.paths import ClassifiedPath, PathClass, classify_path, classify_word, normalize_path

HERE = ShellLocation("/home/me/shop", "/home/me/shop/api")


@pytest.mark.parametrize(
    ("path", "path_class", "relative"),
    [
        ("/", PathClass.SYSTEM, ""),
        ("/usr/lib", PathClass.SYSTEM, ""),
        ("~", PathClass.HOME, ""),
        ("$HOME/.ssh", PathClass.HOME, ""),
        ("..", PathClass.PROJECT, ""),
        ("../.git", PathClass.GIT, ""),
        ("$X/*", PathClass.EMPTY_VARIABLE, ""),
        ("/opt/thing", PathClass.OUTSIDE, ""),
        ("main.py", PathClass.INSIDE, "api/main.py"),
        ("../web/./app", PathClass.INSIDE, "web/app"),
        ("../node_modules", PathClass.DISPOSABLE, ""),
        ("/tmp/build-1", PathClass.DISPOSABLE, ""),
        ("~/.cache/pip", PathClass.DISPOSABLE, ""),
    ],
)
def test_classes(path: str, path_class: PathClass, relative: str) -> None:
    """A path is classified as written, from the folder of the command."""
    place = classify_path(path, HERE)

    assert path_class is place.path_class
    assert relative in ("", place.relative_path)


def test_the_folder_of_the_command() -> None:
    """``cd`` in the line moves relative paths; an unknown folder leads nowhere."""
    assert ClassifiedPath(PathClass.INSIDE, "api/v1/a.py") == classify_path("a.py", HERE, "v1")
    assert PathClass.DISPOSABLE is classify_path("a.py", HERE, "?").path_class


def test_braces() -> None:
    """Each alternative is a path of its own."""
    assert ["/bin", "/usr"] == [path for path, _place in classify_word("/{bin,usr}", HERE)]


@pytest.mark.parametrize(("path", "normal"), [("/a/../b//c/.", "/b/c"), ("/..", "/"), ("~/..", "/home")])
def test_normalize(path: str, normal: str) -> None:
    """``..`` is resolved, and has no effect above the start."""
    assert normal == normalize_path(path)
