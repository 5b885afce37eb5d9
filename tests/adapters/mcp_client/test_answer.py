"""Declarations have a digest, and text of servers is sanitized before it is truncated."""

from __future__ import annotations

from upbeat.adapters.mcp_client.answer import MAX_MESSAGE_CHARS, ToolDeclaration, sanitize_server_text


def test_the_digest_is_that_of_the_whole_declaration() -> None:
    """Another declaration has another digest; a lone surrogate does not raise."""
    digests = {ToolDeclaration("t", True, (), text).digest for text in ("{}", '{"a": 1}', "\ud800")}

    assert (3, True) == (len(digests), all(digest.startswith("sha256:") for digest in digests))


def test_no_part_of_a_secret_is_left() -> None:
    """A secret across the limit is redacted, controls are removed, and the text fits."""
    secret = "ghp_" + "a1B2" * 9
    text = sanitize_server_text("x" * (MAX_MESSAGE_CHARS - 10) + f" {secret}\x1b[2J")

    assert (True, False, False) == (len(text) <= MAX_MESSAGE_CHARS, "ghp_" in text, "\x1b" in text)
