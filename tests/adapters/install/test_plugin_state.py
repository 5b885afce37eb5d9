"""What counts as upbeat's own plugin, as one in conflict with it, and as a version that is too old."""

from __future__ import annotations

from upbeat.adapters.install.plugin_state import is_conflicting, version_faults


def test_a_supported_version_has_no_fault() -> None:
    """The oldest supported version, and a newer one, are accepted; an older one is one fault."""
    oldest = (2, 1, 197)

    assert ([], [], 1) == (
        list(version_faults(oldest, oldest)),
        list(version_faults((3, 0, 0), oldest)),
        len(list(version_faults((2, 1, 196), oldest))),
    )


def test_plugins_that_upbeat_replaces_are_in_conflict() -> None:
    """A name that contains that of such a plugin is in conflict; upbeat's own and other names are not."""
    assert [True, True, False, False] == [
        is_conflicting(name) for name in ("overtone", "my-oh-my-codex-fork", "upbeat", "prettier")
    ]
