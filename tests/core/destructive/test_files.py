"""The hazards that ``destructive/files.py`` detects."""

from __future__ import annotations

from policy_play import detects

test_hazards = detects("files")
