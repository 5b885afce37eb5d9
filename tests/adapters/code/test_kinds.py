"""Role and language of a file follow from its path."""

from __future__ import annotations

import pytest

from upbeat.adapters.code.kinds import FileKind, Role, kind_of

KINDS = [
    ("src/app.py", Role.SOURCE, "python"),
    ("web/App.tsx", Role.SOURCE, "javascript"),
    ("pkg/server/latest.go", Role.SOURCE, "go"),
    ("attestation.py", Role.SOURCE, "python"),
    ("contest/rules.rs", Role.SOURCE, "rust"),
    ("Dockerfile", Role.CONFIG, ""),
    ("config/app.yaml", Role.CONFIG, ""),
    ("tests/test_app.py", Role.TEST, "python"),
    ("src/app_test.go", Role.TEST, "go"),
    ("src/app.spec.ts", Role.TEST, "javascript"),
    ("src/__tests__/app.js", Role.TEST, "javascript"),
    ("src/test/java/AppTest.java", Role.TEST, "java"),
    ("conftest.py", Role.TEST, "python"),
    ("README.md", Role.DOCS, ""),
    ("docs/conf.py", Role.DOCS, "python"),
    ("CHANGELOG", Role.DOCS, ""),
    ("examples/run.py", Role.EXAMPLE, "python"),
    ("third_party/zlib/inflate.c", Role.VENDORED, "c"),
    ("node_modules/a/index.js", Role.VENDORED, "javascript"),
    ("static/jquery-3.5.1.js", Role.DATA, "javascript"),
    ("static/app.min.js", Role.DATA, "javascript"),
    ("api/user_pb2.py", Role.DATA, "python"),
    ("locale/de/django.po", Role.DATA, ""),
    ("Cargo.lock", Role.DATA, ""),
    ("LICENSE", Role.DOCS, ""),
    ("bin/tool", Role.SOURCE, ""),
    ("", Role.SOURCE, ""),
]


@pytest.mark.parametrize(("path", "role", "language"), KINDS)
def test_kind_of(path: str, role: Role, language: str) -> None:
    """kind_of tells what a file is for and what it is written in."""
    assert FileKind(role, language) == kind_of(path)
