"""What an approval displays, and what it decodes to."""

from __future__ import annotations

import re
from typing import Any

from wcwidth import wcswidth

from upbeat.adapters.codex.transport.app_server.connection import RpcRequest
from upbeat.adapters.codex.transport.app_server.requests import PendingApproval, pending_approval_from
from upbeat.adapters.codex.transport.base import FileDiff
from upbeat.adapters.codex_auto.texts import Texts, load_texts
from upbeat.adapters.codex_auto.view.approval_rows import ApprovalRows

ESCAPE = re.compile(r"\\u\{([0-9a-f]+)\}")
MARK = re.compile(r"  (?:[$#>+~-] |\|[ +-]|in |with |reason: )")
ENGLISH = load_texts("en")


def ask_codex(method: str, fields: dict[str, Any], changes: tuple[FileDiff, ...] = ()) -> PendingApproval:
    """The request ``method`` of Codex, about ``changes`` that it announced."""
    pending = pending_approval_from(RpcRequest(0, method, fields), changes)
    assert pending
    return pending


def display(pending: PendingApproval, columns: int = 80, texts: Texts = ENGLISH, encoding: str = "utf-8") -> list[str]:
    """The rows of ``pending``; each fits, and has nothing invisible."""
    rows = [row for _style, row in ApprovalRows(texts, columns, encoding).of(pending.request)]
    assert [] == [row for row in rows if wcswidth(row) > columns or not row.isprintable()]
    return rows


def read_rows(rows: list[str]) -> list[tuple[str, str]]:
    """Decode ``rows``: every text with the mark or label before it, without rows of codex-auto itself."""
    texts: list[tuple[str, str]] = []
    is_open = False
    for row in rows:
        mark = MARK.match(row)
        if row.startswith("  \\ "):
            texts[-1] = (texts[-1][0], texts[-1][1] + row[4:])
        elif mark is None:
            is_open = False
        elif is_open and (mark[0] == texts[-1][0] != "  > " or (mark[0] == "  > " and texts[-1][0] != "  # ")):
            texts[-1] = (texts[-1][0], f"{texts[-1][1]}\n{row[mark.end() :]}")
        else:
            texts.append((mark[0], row[mark.end() :]))
            is_open = True
    return [(mark.strip(), decode_text(text)) for mark, text in texts]


def decode_text(text: str) -> str:
    """What ``text`` stands for."""
    return ESCAPE.sub(lambda match: chr(int(match[1], 16)), text)
