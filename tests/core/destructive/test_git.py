"""The hazards that ``destructive/git.py`` detects."""

from __future__ import annotations

from policy_play import detects

test_hazards = detects("git")
