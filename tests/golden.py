"""The files that are generated from code. ``python tests/golden.py`` writes them; the suite compares them."""

from __future__ import annotations

import sys
from pathlib import Path

from upbeat.adapters.claude import agents as claude
from upbeat.adapters.claude.install import in_place_files
from upbeat.adapters.cli.schema import SCHEMA_FILES, schema_text
from upbeat.adapters.codex import agents as codex

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "docs"), str(ROOT / "tests")]
from generate import (  # noqa: E402
    clients_page,
    commands_page,
    configuration_page,
    contract_page,
    default_settings_file,
)
from manual_page import manual_page  # noqa: E402
from policies_page import policies_page  # noqa: E402
from promises_page import promises_page  # noqa: E402
from rules_page import rules_page  # noqa: E402
from workflow_page import workflows_page  # noqa: E402


def golden_files() -> dict[Path, str]:
    """Path below the checkout -> the text that belongs there."""
    plugins = {"claude": in_place_files() | claude.plugin_files(), "codex": codex.plugin_files()}
    return {
        Path("config/auto-tools.toml"): default_settings_file(),
        **{Path("config/schema/v1", file): schema_text(name) for name, file in SCHEMA_FILES.items()},
        Path("docs/configuration.md"): configuration_page(),
        Path("docs/clients.md"): clients_page(),
        Path("docs/commands.md"): commands_page(),
        Path("docs/contract.md"): contract_page(),
        Path("docs/policies.md"): policies_page(),
        Path("docs/upbeat.1"): manual_page(),
        Path("docs/promises.md"): promises_page(),
        Path("docs/rules.md"): rules_page(),
        Path("docs/workflows.md"): workflows_page(),
        **{
            Path("adapters", name, "plugin", file): text
            for name, files in plugins.items()
            for file, text in files.items()
        },
    }


def main() -> None:
    """Write every golden file that differs; the list of the wheel's files last, because it names the others."""
    from package.building import CONTENTS, wheel_contents  # needs hatchling, which comparing the others does not

    for path, text in golden_files().items():
        _write(path, text)
    _write(CONTENTS.relative_to(ROOT), wheel_contents())


def _write(path: Path, text: str) -> None:
    target = ROOT / path
    if not target.exists() or target.read_text(encoding="utf-8") != text:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        print(f"wrote {path}")


if __name__ == "__main__":
    main()
