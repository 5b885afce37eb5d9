"""upbeat: prepares, guards and continues the turns of coding agents.

``upbeat.core`` decides and does no I/O; ``upbeat.adapters`` talk to clients, files and processes.
"""

__version__ = "0.1.0"
