"""Parts of settings files: put in, and taken out again, whatever else was changed meanwhile."""

from __future__ import annotations

import os

import pytest

from upbeat.adapters.system.files.settings_edit import (
    NotEditableError,
    SettingsEntry,
    has_entry,
    insert_entries,
    remove_entries,
    remove_key_paths,
)

JSON = (SettingsEntry(("extra", "upbeat"), {"source": "/h"}), SettingsEntry(("enabled", "upbeat@upbeat"), True))
TOML = (
    SettingsEntry(("marketplaces", "upbeat"), {"source": "/h"}),
    SettingsEntry(("plugins", "upbeat@upbeat"), {"enabled": True}),
)
PARTS = {"json": JSON, "toml": TOML}
TRACES = (("hooks", "state", "upbeat@upbeat:"),)
TRUST = b"\n[hooks.state]\n" + b"".join(
    b'\n[hooks.state."upbeat@upbeat:hooks.json:%s"]\ntrusted_hash = "sha256:1"\n' % event
    for event in (b"stop", b"start")
)
OTHER = b'\n[hooks.state."other@m:hooks.json:stop"]\ntrusted_hash = "sha256:2"\n'


def back(kind: str, before: bytes | None, now: bytes) -> bytes | None:
    """``now`` without what was put into ``before``."""
    places = [part.key_path for part in PARTS[kind]]
    return remove_entries(kind, places, (before, insert_entries(kind, before, PARTS[kind]), now), TRACES)


def after(kind: str, before: bytes | None) -> bytes:
    return insert_entries(kind, before, PARTS[kind])


BEFORE = [
    ("json", None),
    ("json", b"{}"),
    ("json", b'\xef\xbb\xbf{\r\n\t"a": [1], // c\r\n\t"enabled": {"x@y": false},\r\n}\r\n'),
    ("json", '{"enabled": {"upbeat@upbeat": false}, "é": "店"}'.encode()),
    ("toml", None),
    ("toml", b"\xef\xbb\xbfa = 1 # c\r\n\r\n[b]\r\n"),
    ("toml", b'[plugins."x@y"]\nenabled = false'),
    ("toml", b'[plugins."upbeat@upbeat"]\nenabled = false # off\n[b]\nn = nan\n'),
]


@pytest.mark.parametrize(("kind", "before"), BEFORE)
def test_there_and_back(kind: str, before: bytes | None) -> None:
    """Inserting twice equals inserting once, the file has every entry, and removing them restores the bytes."""
    now = after(kind, before)

    assert now == insert_entries(kind, now, PARTS[kind])
    assert [True, True] == [has_entry(kind, now, part) for part in PARTS[kind]]
    assert before == back(kind, before, now)


def test_what_was_changed_meanwhile_stays() -> None:
    """Settings that the user added, changed or rewrote stay; only upbeat's entries go."""
    rewritten = b'{"enabled":{"upbeat@upbeat":true,"new@y":true},"extra":{"upbeat":{"source":"/h"}},"b":2}'
    appended = after("toml", b"a = 1\n") + b"\n[c]\nd = 2\n"

    assert b'{"enabled":{"new@y":true},"b":2}' == back("json", b'{"a": 1}', rewritten)
    assert b"{}" == back("json", b"{}", after("json", b"{}").replace(b"\n", b"").replace(b" ", b""))
    assert b"a = 1\n\n[c]\nd = 2\n" == back("toml", b"a = 1\n", appended)
    assert b"a = 2\n" == back("toml", b"a = 1\n", after("toml", b"a = 1\n").replace(b"a = 1", b"a = 2"))


def test_what_the_client_noted_of_us_goes() -> None:
    """Trust in our hooks goes with them; trust in other hooks, and trust that was there before us, stays."""
    before = b"a = 1\n"
    trusted = before + TRUST

    assert before == back("toml", before, after("toml", before) + TRUST)
    assert before + b"\n[hooks.state]\n" + OTHER == back("toml", before, after("toml", before) + TRUST + OTHER)
    assert trusted == back("toml", trusted, after("toml", trusted))


@pytest.mark.parametrize(
    ("kind", "now"),
    [
        ("json", b'{"enabled": {"upbeat@upbeat": false}}'),
        ("toml", b'[plugins."upbeat@upbeat"]\nenabled = false\n'),
    ],
)
def test_an_entry_goes_whatever_it_says_now(kind: str, now: bytes) -> None:
    """An entry that the user switched off goes with the rest: it is about upbeat's plugin alone."""
    assert back(kind, None, now) is None


def test_parts_that_are_gone_already() -> None:
    """If upbeat's entries are already gone, the rest stays unchanged."""
    assert b'{"b": 1}' == back("json", b'{"a": 1}', b'{"b": 1}')
    assert b"b = 1\n" == back("toml", b"a = 1\n", b"b = 1\n")


def test_without() -> None:
    """Places go, and tables that are empty then."""
    assert b'{"a": 1}' == remove_key_paths("json", b'{"a": 1, "enabled": {"upbeat@upbeat": true}}', [JSON[1].key_path])
    assert b"a = 1\n" == remove_key_paths("toml", after("toml", b"a = 1\n"), [part.key_path for part in TOML])


@pytest.mark.parametrize("kind", ["json", "toml"])
def test_what_no_text_can_say(kind: str) -> None:
    """A path whose bytes are not UTF-8 is refused."""
    path = os.fsdecode(b"/h/\xff")
    parts = [SettingsEntry(("extra", "upbeat"), {"source": path}), SettingsEntry(("extra", "other"), {"source": "/h"})]

    with pytest.raises(NotEditableError, match=r"^the new value is not UTF-8; "):
        insert_entries(kind, None, parts)


def test_what_no_text_can_say_is_not_given_back() -> None:
    """What a JSON text says with half a character is not written as one."""
    before = b'{"enabled": {"upbeat@upbeat": "\\ud800"}, "a": 1}'

    with pytest.raises(NotEditableError, match=r"^the new value is not UTF-8; "):
        back("json", before, after("json", before).replace(b"1", b"2"))


def test_not_text() -> None:
    """A file that is not UTF-8 is refused with the place."""
    with pytest.raises(NotEditableError, match=r"^not UTF-8 \(byte 5\)$"):
        insert_entries("json", b'\xef\xbb\xbf{"\xff": 1}', JSON)
