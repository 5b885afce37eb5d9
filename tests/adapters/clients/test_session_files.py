"""The clients' records of sessions: which are listed, and when one began."""

from __future__ import annotations

import os
from pathlib import Path

from repositories import write

from upbeat.adapters.clients.session_files import Recording, first_timestamp, list_recordings

STAMP = '{"timestamp": "2026-01-02T03:04:05.678Z"}\n'


def test_recordings_are_listed_most_recent_first(tmp_path: Path) -> None:
    """Links, deeper folders, unwanted names and older files are left out."""
    write(tmp_path, {"a.jsonl": "1", "x/b.jsonl": "22", "x/y/deep.jsonl": "", "c.txt": "", "old.jsonl": ""})
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "a.jsonl")
    for name, changed_at in {"a.jsonl": 100, "x/b.jsonl": 200, "old.jsonl": 10}.items():
        os.utime(tmp_path / name, (changed_at, changed_at))

    assert [Recording(200.0, str(tmp_path / "x/b.jsonl"), 2), Recording(100.0, str(tmp_path / "a.jsonl"), 1)] == (
        list_recordings(str(tmp_path), 1, lambda name: name.endswith(".jsonl"), 50)
    )


def test_a_folder_that_does_not_exist_has_no_recordings(tmp_path: Path) -> None:
    """A missing folder is an empty list, not an error."""
    assert [] == list_recordings(str(tmp_path / "gone"), 3, lambda _name: True, 0)


def test_the_first_timestamp_counts_only_in_a_session_with_a_prompt(tmp_path: Path) -> None:
    """Without a turn marker, or without a timestamp, the result is empty."""
    later = STAMP.replace("2026", "2027")
    write(tmp_path, {"turn": STAMP + later + '{"turn": 1}\n', "idle": STAMP, "undated": '{"turn": 1}\n'})

    assert ["2026-01-02T03:04:05.678Z", "", "", ""] == [
        first_timestamp(str(tmp_path / name), (b'"turn"',)) for name in ("turn", "idle", "undated", "gone")
    ]
