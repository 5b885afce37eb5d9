"""Role and language of a file follow from its path."""

from __future__ import annotations

import pytest

from upbeat.adapters.code.files.file_types import FileKind, FileRole, classify_file

KINDS = [
    ("src/app.py", FileRole.SOURCE, "python"),
    ("web/App.tsx", FileRole.SOURCE, "javascript"),
    ("pkg/server/latest.go", FileRole.SOURCE, "go"),
    ("attestation.py", FileRole.SOURCE, "python"),
    ("contest/rules.rs", FileRole.SOURCE, "rust"),
    ("Dockerfile", FileRole.CONFIG, ""),
    ("config/app.yaml", FileRole.CONFIG, ""),
    ("tests/test_app.py", FileRole.TEST, "python"),
    ("src/app_test.go", FileRole.TEST, "go"),
    ("src/app.spec.ts", FileRole.TEST, "javascript"),
    ("src/__tests__/app.js", FileRole.TEST, "javascript"),
    ("src/test/java/AppTest.java", FileRole.TEST, "java"),
    ("conftest.py", FileRole.TEST, "python"),
    ("README.md", FileRole.DOCS, ""),
    ("docs/conf.py", FileRole.DOCS, "python"),
    ("CHANGELOG", FileRole.DOCS, ""),
    ("examples/run.py", FileRole.EXAMPLE, "python"),
    ("third_party/zlib/inflate.c", FileRole.VENDORED, "c"),
    ("node_modules/a/index.js", FileRole.VENDORED, "javascript"),
    ("static/jquery-3.5.1.js", FileRole.DATA, "javascript"),
    ("static/app.min.js", FileRole.DATA, "javascript"),
    ("api/user_pb2.py", FileRole.DATA, "python"),
    ("locale/de/django.po", FileRole.DATA, ""),
    ("Cargo.lock", FileRole.DATA, ""),
    ("LICENSE", FileRole.DOCS, ""),
    ("bin/tool", FileRole.SOURCE, ""),
    ("", FileRole.SOURCE, ""),
]


@pytest.mark.parametrize(("path", "role", "language"), KINDS)
def test_kind_of(path: str, role: FileRole, language: str) -> None:
    """kind_of tells what a file is for and what it is written in."""
    assert FileKind(role, language) == classify_file(path)
