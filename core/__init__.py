"""The orchestration core: pure functions from events and tool results to decisions.

Law of this package: it opens no file, socket or process and reads no clock, environment or home
directory. What it needs from the world comes in as arguments or through the Protocols of ``ports``.
``tests/test_architecture.py`` holds it to an import allow-list.
"""
