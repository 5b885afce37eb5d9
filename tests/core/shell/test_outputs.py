"""What programs print."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upbeat.core.shell.outputs import decode_escapes, known_output


@pytest.mark.parametrize(
    ("words", "stdin", "output"),
    [
        (("echo", "a", "b"), None, "a b\n"),
        (("echo", "-e", "a\\nb"), None, "a\nb\n"),
        (("printf", "%s-%s\\n", "a", "b", "c"), None, "a-b\nc-\n"),
        (("printf", "%b", "\\162\\155"), None, "rm"),
        (("cat",), "x", "x"),
        (("cat", "file"), "x", None),
        (("base64", "-d"), "cm0gLXJmIH4=", "rm -rf ~"),
        (("base64", "-d"), "!", ""),
        (("xxd", "-r", "-p"), "726d", "rm"),
        (("rev",), "ab\ncd", "ba\ndc"),
        (("tr", "ezs", "rmf"), "ez -es", "rm -rf"),
        (("tr", "-d", "x"), "axb", "ab"),
        (("dirname", "$HOME"), None, "$HOME/.."),
        (("date",), None, None),
        ((), None, None),
    ],
)
def test_outputs(words: tuple[str, ...], stdin: str | None, output: str | None) -> None:
    """An output is known if it depends on nothing but the words and the input."""
    assert output == known_output(words, stdin)


def test_escapes() -> None:
    """Escapes of hexadecimal, octal and Unicode numbers and of letters are decoded."""
    assert "rm\n!\\" == decode_escapes("\\x72\\155\\n\\u21\\\\")


@given(
    st.sampled_from(["echo", "printf", "base64", "xxd", "tr", "rev"]),
    st.lists(st.text(max_size=8)),
    st.text(max_size=9),
)
def test_any_words(program: str, words: list[str], stdin: str) -> None:
    """No words raise."""
    known_output((program, *words), stdin)
