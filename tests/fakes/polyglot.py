"""A project whose parts call each other, once in each of several languages."""

from __future__ import annotations

import threading
from pathlib import Path
from textwrap import dedent
from typing import Any

from upbeat.adapters.code.files.tree import SourceCache
from upbeat.adapters.code.graph.codebase import CodeBase, ParseCache
from upbeat.adapters.code.provider import EmbeddedProvider
from upbeat.core.contract.finding import ToolOutput

FILES = {
    "shop/store.py": """\
        class EmptyNameError(ValueError):
            pass


        class Store:
            # keeps things
            def put(self, name, content):
                if not name or not content:
                    raise EmptyNameError("The name must not be empty")
                return self._write(name, content)

            def _write(self, name, content):
                return len(content)
        """,
    "shop/upload.py": """\
        from shop.store import Store


        def receive(request):
            return Store().put(request.name, request.body)


        def retry(request, times):
            for _ in range(times):
                if receive(request):
                    return True
            return retry(request, times - 1) if times else False
        """,
    "shop/app.py": """\
        from shop import upload


        def main(request):
            upload.receive(request)
        """,
    "tests/test_upload.py": """\
        from shop.upload import receive


        def test_receive():
            assert receive(None)
        """,
    "web/cart.ts": """\
        import { format } from "./money"

        export class Cart {
          total(items: number[]): string {
            return format(items.length > 0 && items[0] ? items[0] : 0)
          }
        }
        """,
    "web/money.ts": "export function format(amount: number): string {\n  return String(amount)\n}\n",
    "web/page.tsx": 'import { Cart } from "./cart"\n\nexport const Page = () => <p>{new Cart().total([])}</p>\n',
    "worker/queue.go": """\
        package worker

        type Queue struct{ size int }

        func (q *Queue) Push(job string) error {
        \treturn check(job)
        }
        """,
    "worker/check.go": (
        'package worker\n\nfunc check(job string) error {\n\tif job == "" {\n\t\tpanic("x")\n\t}\n\treturn nil\n}\n'
    ),
    "engine/src/lib.rs": "mod scan;\n\npub fn run(text: &str) -> usize {\n    scan::count(text)\n}\n",
    "engine/src/scan.rs": "pub fn count(text: &str) -> usize {\n    text.len()\n}\n",
    "native/list.h": "int list_push(int value);\n",
    "native/list.c": '#include "list.h"\n\nint list_push(int value)\n{\n    return value;\n}\n',
    "native/main.c": '#include "list.h"\n\nint main(void)\n{\n    return list_push(1);\n}\n',
    ".env": "STORE_SECRET=hunter2 receive list_push\n",
}


def make_polyglot(root: Path) -> Path:
    """Write the project below ``root``."""
    for name, text in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text), encoding="utf-8")
    return root


def code_of(root: Path, seconds: float = 30.0) -> CodeBase:
    """The code below ``root``, with plenty of time."""
    return CodeBase(str(root.resolve()), SourceCache(), ParseCache(1000), threading.Event(), seconds)


def call(root: Path, tool: str, **args: Any) -> ToolOutput:
    """Call ``tool`` on ``root`` through a new provider."""
    return EmbeddedProvider().call(tool, args, str(root), threading.Event())


def places(output: ToolOutput) -> list[tuple[str, str]]:
    """The path and symbol of every finding."""
    return [(row.path, row.symbol) for row in output.findings]
