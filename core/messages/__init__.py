"""The message catalogue: every sentence that upbeat says to users and models, in English and in Chinese.

Each section is one TOML file per language (``en/workflow.toml``, ``zh/workflow.toml``). Both files of a section have
the same keys and the same placeholders; a test compares them. Untrusted values that fill a placeholder are sanitized.
"""
