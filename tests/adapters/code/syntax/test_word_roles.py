"""Every word of a text has a role: name, parameter, code, docstring, comment or string literal."""

from __future__ import annotations

import re
from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upbeat.adapters.code.syntax.outline import Outline
from upbeat.adapters.code.syntax.word_roles import WordRole, split_by_role

LANGUAGES = [
    *("python", "javascript", "go", "rust", "java", "c", "ruby", "php", "shell", "lua", "markup", "sql", "other", ""),
]
MARKS = {
    "n": WordRole.NAME,
    "p": WordRole.PARAMETER,
    "w": WordRole.CODE,
    "d": WordRole.DOC,
    "c": WordRole.COMMENT,
    "s": WordRole.STRING,
}


def roles(text: str, language: str) -> list[tuple[str, WordRole]]:
    """Return the words of ``text`` with their roles."""
    starts = [0, *accumulate(len(line) + 1 for line in text.split("\n")[:-1])]
    parts = split_by_role(text, language, Outline(text, language).definitions, starts)
    assert "".join(text[start:end] for start, end, _ in parts) == text
    return [(word, role) for start, end, role in parts for word in re.findall(r"\w+", text[start:end])]


SAMPLES = {
    "python": (
        'class n1(w1):\n    """d1 "d2" d3"""\n    def n2(p1, p2: p3 = "s1", *p4):  # c4\n'
        "        r'''d5'''\n        w2 = f'''s2\n#s3'''  + 's4\\'s5' # c6 's\n        w3(w4, (w5))\nn3 = (w6, w7)\n"
    ),
    "javascript": (
        "// c1 'c2\nexport function n1(p1, {p2}) { w1('s1', `s2 ${s3} // s4`) /* c3\n\" c4 */ }\n"
        "const n2 = (p3, p4) => w2\nconst n3 = (w3 + w4) * w5\n"
    ),
    "go": "/* c1 */\nfunc (w1 *w2) n1(p1 p2) {}\nfunc n2[p3 p4](p5 p6) `s1\n// s2`\n",
    "rust": (
        "/// c1 'c2\nfn n1<'p1>(p2: &'p1 p3) { w1('\"', '\\'', \"s1\n// s2\"); }\n/* c3 /* c4 */ c5 */ w2 // c6\n"
    ),
    "java": '/** c1 */\nclass n1 {\n  w1 n2(p1 p2, p3 p4) {\n    w2("s1 // s2"); // c2\n  }\n}\n',
    "c": "#w1 <w2>\nw3 n1(p1 p2, p3 *p4) {\n  w4(\"s1\", 's2'); /* c1 ' */ w5; // c2\n}\n",
    "ruby": 'def n1(p1)\n  w1 "s1 #{s2}" # c1\nend\n=begin c2\nc3\n=end\n',
    "php": "<?w1\n#[w2]\nfunction n1(p1 $p2) { w3('s1\n#s2'); } # c1\n",
    "shell": 'n1() {\n  w1 $# "s1\n# s2" # c1\n}\n',
    "lua": "--[[ c1\nc2 ]] w1 's1' -- c3\n",
    "markup": '<w1 w2="s1"><!-- c1 - -> "c2" --> w3\'w4 {# c3 #}\n',
    "sql": "w1 's1 -- s2' -- c1 'c2\n/* c3 */ w2\n",
    "other": '  % c1\nw1 # w2 "s1"\n',
    "": "# w1 'w2'\n",
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_words_have_the_role_that_their_first_letter_says(language: str) -> None:
    """In each language, comments, docstrings, string literals, names and parameters are told from code."""
    found = [
        (word, role) for word, role in roles(SAMPLES[language], language) if word[0] in MARKS and word[1:].isdigit()
    ]

    assert found
    assert [(word, MARKS[word[0]]) for word, _ in found] == found


@given(st.text("ab'\"`#/*\\-[]{}=%<>!()\n\t ,:é", max_size=80), st.sampled_from(LANGUAGES))
def test_any_text_is_split_without_gaps(text: str, language: str) -> None:
    """The parts are in order and together the text, whatever it is."""
    roles(f"def ab(a):\n{text}\nfunction ba(b) {{\n", language)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("text", ["/*", '"""', "'", "`", "--[[", "<!--", "{#", "=begin\n", "f(", "def f(("])
def test_unfinished_comments_are_read_once(language: str, text: str) -> None:
    """Two hundred thousand characters of openings without an end are split in linear time."""
    roles(text * (200_000 // len(text)), language)
