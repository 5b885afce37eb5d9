"""Benchmarks of this checkout, each run as ``python -m benchmarks.NAME``.

Importing the package puts ``src`` and ``tests`` of the checkout first on the module path. A benchmark therefore
measures the code beside it, even when the environment has another checkout installed, and uses the test helpers.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE, TESTS = ROOT / "src", ROOT / "tests"

sys.path[:0] = [str(SOURCE), str(TESTS)]
