"""A source of advisories on loopback that answers like the OSV API, and says only what it was told."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

CANARY = "jinja2"


@contextmanager
def advisories(known: Mapping[str, Sequence[str]], *, knows_canary: bool = True, status: int = 200) -> Iterator[str]:
    """Serve ``known``, package -> ids, at the address that is given; ``status`` is what every answer has."""
    published = {**known, **({CANARY: ["PYSEC-2019-217"]} if knows_canary else {})}

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            query = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            name = query["package"]["name"]
            holes = [vulnerability(name, number) for number in published.get(name, ())]
            answer = {"vulns": holes} if name in published else {}
            body = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1/query"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def vulnerability(package: str, number: str) -> dict[str, Any]:
    """An entry in the OSV format: all versions up to 999 are affected."""
    events = [{"introduced": "0"}, {"fixed": "999"}]
    affected = {"package": {"name": package, "ecosystem": "PyPI"}, "ranges": [{"type": "ECOSYSTEM", "events": events}]}
    return {"id": number, "aliases": [f"CVE-{number}"], "summary": "bad", "affected": [affected]}
