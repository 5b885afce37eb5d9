"""``python -I -m upbeat.adapters.codex_auto`` is the ``codex-auto`` program."""

import sys

from upbeat.adapters.codex_auto.app.main import main

sys.exit(main())
