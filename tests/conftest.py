"""What holds for every test: what may be imported, and how long a search for examples may take."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from hypothesis import HealthCheck, settings

sys.path.insert(0, str(Path(__file__).parent))

settings.register_profile(
    "upbeat",
    max_examples=int(os.environ.get("UPBEAT_EXAMPLES", "20")),
    deadline=None,  # a busy machine is no bug
    suppress_health_check=[HealthCheck.too_slow],
    derandomize="UPBEAT_EXAMPLES" not in os.environ,  # the same examples every time, unless more are asked for
)
settings.load_profile("upbeat")
