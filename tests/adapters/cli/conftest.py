"""The fixtures of the commands' tests."""

from __future__ import annotations

import pytest
from commands import Here, in_this_process


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Here:
    """Runs ``upbeat`` here."""
    return in_this_process(monkeypatch, capfdbinary)
