"""A home with both clients, for the tests of what the doctor sees in it."""

from __future__ import annotations

import pytest
from doctor_home import DoctorHome, make_home

from upbeat.adapters.claude import doctor as claude
from upbeat.adapters.doctor import handshake


@pytest.fixture(scope="session")
def kept_home(tmp_path_factory: pytest.TempPathFactory) -> DoctorHome:
    """The home, made once: everything in it is active."""
    home = make_home(tmp_path_factory.mktemp("doctor").resolve() / "h")
    home.keep()
    return home


@pytest.fixture
def doctor_home(kept_home: DoctorHome, monkeypatch: pytest.MonkeyPatch) -> DoctorHome:
    """The home as it was made; upbeat's server is taken to start, which other tests try."""
    kept_home.restore()
    monkeypatch.chdir(kept_home.project)
    for name, value in kept_home.variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(claude, "MANAGED_SETTINGS_FOLDER", kept_home.folder / "managed")
    monkeypatch.setattr(handshake, "handshake_problem", lambda *_: "")
    return kept_home
