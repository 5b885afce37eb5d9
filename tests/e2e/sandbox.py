"""A home, a temporary folder and a repository for one client run, and the clean environment that points there."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from textwrap import dedent

from .sample_repository import make_sample_repository
from .stubs.server import PORT

STUB_URL = f"http://127.0.0.1:{PORT}"
"""Where the stub model answers inside every namespace."""
FAKE_KEY = "sk-ant-api03-stub-key-of-no-account"
SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin"


class Sandbox:
    """The folders of one run. Nothing of the real home is visible from them."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.home, self.codex_home, self.tmp = root / "home", root / "codex-home", root / "tmp"
        self.bin = root / "bin"
        """First on ``PATH``: the client programs under their usual names, and upbeat's."""
        self.repository = root / "shop repository 店"
        """The sample repository, where clients start."""

    def environment(self, **extra: str) -> dict[str, str]:
        """The whole environment of a client; nothing is inherited from ours."""
        return {
            "PATH": f"{self.bin}:{SYSTEM_PATH}",
            "HOME": str(self.home),
            "CODEX_HOME": str(self.codex_home),
            "TMPDIR": str(self.tmp),
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            "ANTHROPIC_BASE_URL": STUB_URL,
            "ANTHROPIC_API_KEY": FAKE_KEY,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "CLAUDE_CODE_SESSIONEND_HOOKS_TIMEOUT_MS": "60000",  # by default it cancels them after 1.5 s
            **extra,
        }


def make_sandbox(root: Path, programs: dict[str, Path]) -> Sandbox:
    """Make every folder and settings file under ``root``; ``programs`` appear on ``PATH`` under their names."""
    sandbox = Sandbox(root)
    for folder in (sandbox.home, sandbox.codex_home, sandbox.tmp, sandbox.bin, sandbox.repository):
        folder.mkdir(parents=True)
    make_sample_repository(sandbox.repository)
    _write_codex_settings(sandbox)
    _write_claude_settings(sandbox)
    own = {name: Path(sys.executable).with_name(name) for name in ("upbeat", "codex-auto")}
    for name, program in {**own, **programs}.items():
        if program.exists():
            (sandbox.bin / name).symlink_to(program)
    return sandbox


def _write_codex_settings(sandbox: Sandbox) -> None:
    settings = dedent(f"""\
        model = "gpt-5.5"
        model_provider = "stub"
        check_for_update_on_startup = false

        [model_providers.stub]
        name = "stub"
        base_url = "{STUB_URL}/v1"
        wire_api = "responses"
        requires_openai_auth = false

        [agents]  # one that has answered counts until it is closed, and the stub closes none
        max_threads = 20

        [analytics]
        enabled = false

        [features]
        daemon_auto_start = false

        [notice.model_migrations]
        "gpt-5.5" = "gpt-6-sol"

        [projects.{json.dumps(str(sandbox.repository), ensure_ascii=False)}]
        trust_level = "trusted"
        """)
    (sandbox.codex_home / "config.toml").write_text(settings, encoding="utf-8")


def add_codex_settings(sandbox: Sandbox, *lines: str) -> None:
    """Put ``lines`` before the tables of Codex's settings."""
    path = sandbox.codex_home / "config.toml"
    path.write_text("\n".join([*lines, path.read_text(encoding="utf-8")]), encoding="utf-8")


def _write_claude_settings(sandbox: Sandbox) -> None:
    onboarding = {
        "hasCompletedOnboarding": True,
        "lastOnboardingVersion": "2.1.329",
        "theme": "dark",
        "autoUpdates": False,
        "customApiKeyResponses": {"approved": [FAKE_KEY[-20:]], "rejected": []},
        "projects": {
            os.fspath(sandbox.repository): {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
        },
    }
    (sandbox.home / ".claude.json").write_text(json.dumps(onboarding), encoding="utf-8")
    (sandbox.home / ".claude").mkdir()
    (sandbox.home / ".claude" / "settings.json").write_text(json.dumps({}), encoding="utf-8")
