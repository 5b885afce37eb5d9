"""The hazards that ``destructive/services.py`` detects."""

from __future__ import annotations

from policy_play import detects

test_hazards = detects("services")
