"""``python -m upbeat`` is the ``upbeat`` command."""

import sys

from upbeat.adapters.cli.main import main

sys.exit(main())
