"""PowerShell and cmd lines."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upbeat.core.destructive import ShellLocation
from upbeat.core.destructive.windows import detect_windows

HERE = ShellLocation("/home/dev/project", "/home/dev/project")


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("Remove-Item -Recurse -Force C:\\", "delete-system"),
        ("gci $HOME -r | ri -fo -r", "delete-home"),
        ("$p = $env:USERPROFILE; Remove-Item -LiteralPath $p -r", "delete-home"),
        ("& ('Remove'+'-Item') -Recurse ~", "delete-home"),
        ("Set-Alias zap Remove-Item; zap C:\\ProgramData -Recurse", "delete-system"),
        ("function Clean($d) { Remove-Item $d -Recurse }; Clean C:\\Windows", "delete-system"),
        ("Set-Location C:\\; Remove-Item * -Recurse", "delete-system"),
        ("[IO.Directory]::Delete('D:\\data', $true)", "delete-outside"),
        ('cmd /c "rd /s /q C:\\Users\\dev"', "delete-home"),
        ('for /d %i in (C:\\Users\\*) do @rd /s /q "%i"', "delete-home"),
        ("r^d /s /q C:\\Users", "delete-system"),
        ("rd /s /q .git", "delete-history"),
        ("format D: /q", "disk"),
        ("'select disk 0','clean' | diskpart", "disk"),
        ("reg delete HKLM\\SOFTWARE /f", "system-change"),
        ("Remove-ADUser -Identity a", "system-change"),
        ("robocopy C:\\empty C:\\Users\\dev /MIR", "delete-outside"),
        ("type nul > C:\\Windows\\x", "settings"),
        ("Set-Content t.ps1 'ri ~ -r'; .\\t.ps1", "delete-home"),
        ("Remove-Item build -Recurse", ""),
        ("rd /s /q node_modules", ""),
        ("Get-ChildItem -r -Filter *.pyc | Remove-Item", ""),
        ("Remove-Item $HOME -Recurse -WhatIf", ""),
        ("echo rd /s /q C:\\", ""),
        ("rem format D:", ""),
        ("Get-Help Remove-Item", ""),
        ("Remove-Item $env:TEMP\\x -Recurse", ""),
    ],
)
def test_lines(line: str, kind: str) -> None:
    """Each line has this hazard first, or none."""
    assert kind == next((hazard.kind for hazard in detect_windows(line, HERE)), "")


@given(st.text(alphabet="rd /s\\C:*%$'\"(){}|;&^~-@", max_size=60))
def test_any_line(line: str) -> None:
    """No line raises."""
    list(detect_windows(f"Remove-Item {line}", HERE))
