"""Definitions are found with their names, owners and lines, in many languages."""

from __future__ import annotations

import time
from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upbeat.adapters.code.files.file_types import LANGUAGE_BY_EXTENSION
from upbeat.adapters.code.syntax.outline import Outline

PYTHON = """\
LIMIT: int = 3

class Session:
    '''Doc.'''

    async def send(
        self,
        request,
    ) -> None:
        if request:
            return None

        pass

    @property
    def open(self): return True


def main():
    pass
"""
JAVASCRIPT = """\
export class Session extends Base {
  async send(request) {
    if (request) {
      return null
    }
  }
}
export const retry = async (times) => {
  return times
}
function main() {
}
interface Options {
  a: string
}
"""
GO = """\
type Engine struct {
	pool sync.Pool
}

func (engine *Engine) Run(addr ...string) (err error) {
	return
}

func New() *Engine { return nil }
"""
RUST = """\
pub(crate) struct Config {
    a: u8,
}
impl<'a> Default for Config {
    fn default() -> Self {
        Config { a: 1 }
    }
}
macro_rules! count {
}
"""
JAVA = """\
public class Store<T> extends Base {
    private static final int LIMIT = 3;

    @Override
    public T find(String key) {
        return null;
    }
}
"""
C = """\
#define LIMIT 3
struct node {
    int a;
};
static int
walk(struct node *n, int depth)
{
    return run(n);
}
void *find(int key) {
    return 0;
}
"""
RUBY = """\
module Web
  class Session
    def self.open?(name)
      true
    end
  end
end
"""
PHP = """\
class Mailer {
    public function send($to) {
        return 1;
    }
}
"""
SHELL = """\
function build {
  make
}
clean() {
  rm -f x
}
"""

OUTLINES = [
    (
        "python",
        PYTHON,
        [("LIMIT", 1, 1), ("Session", 3, 16), ("Session.send", 6, 13), ("Session.open", 16, 16), ("main", 19, 20)],
    ),
    (
        "javascript",
        JAVASCRIPT,
        [("Session", 1, 7), ("Session.send", 2, 6), ("retry", 8, 10), ("main", 11, 12), ("Options", 13, 15)],
    ),
    ("go", GO, [("Engine", 1, 3), ("Run", 5, 7), ("New", 9, 9)]),
    ("rust", RUST, [("Config", 1, 3), ("Config", 4, 8), ("Config.default", 5, 7), ("count", 9, 10)]),
    ("java", JAVA, [("Store", 1, 8), ("Store.find", 5, 7)]),
    ("c", C, [("LIMIT", 1, 1), ("node", 2, 4), ("walk", 6, 9), ("find", 10, 12)]),
    ("ruby", RUBY, [("Web", 1, 7), ("Web.Session", 2, 6), ("Session.open?", 3, 5)]),
    ("php", PHP, [("Mailer", 1, 5), ("Mailer.send", 2, 4)]),
    ("shell", SHELL, [("build", 1, 3), ("clean", 4, 6)]),
    ("", "anything\n", []),
]


@pytest.mark.parametrize(("language", "text", "expected"), OUTLINES, ids=[row[0] or "none" for row in OUTLINES])
def test_outline(language: str, text: str, expected: list[tuple[str, int, int]]) -> None:
    """Every definition has its symbol and its lines."""
    outline = Outline(text, language)

    assert expected == [(found.symbol, found.start_line, found.end_line) for found in outline.definitions]


def test_around_gives_the_innermost() -> None:
    """A line belongs to the innermost definition around it, or to none."""
    outline = Outline(PYTHON, "python")
    symbols = [
        outline.definitions[at].symbol if (at := outline.enclosing_position(line)) >= 0 else ""
        for line in (1, 2, 4, 8, 12, 18, 20)
    ]

    assert ["LIMIT", "", "Session", "Session.send", "Session.send", "", "main"] == symbols


PIECES = [
    "def f(",
    "class A:",
    "\n",
    "    ",
    "\t",
    "{",
    "}",
    ")",
    "x = 1",
    "func F() {",
    "fn g",
    "end",
    "#",
    "登录",
    " ",
    "a",
]


@given(
    st.lists(st.sampled_from(PIECES), max_size=60).map("".join),
    st.sampled_from([*sorted(set(LANGUAGE_BY_EXTENSION.values())), ""]),
)
def test_any_text_has_a_sound_outline(text: str, language: str) -> None:
    """Definitions lie inside the text, in order, and offsets find their lines."""
    outline = Outline(text, language)
    last = len(outline.lines)

    assert dedent(text).count("\n") + 1 == last
    assert all(1 <= found.start_line <= found.end_line <= last for found in outline.definitions)
    assert [found.start_line for found in outline.definitions] == sorted(
        found.start_line for found in outline.definitions
    )
    assert all(outline.line_at(at) == text.count("\n", 0, at) + 1 for at in range(len(text)))


LONG = [
    "a",
    "a ",
    "(",
    " ",
    "public static ",
    "<",
    "x = ",
    "const x: y",
    "a " * 60 + "\n",
    " " * 150 + "\n",
    "\n",
    "x(" * 90 + "\n",
]


@pytest.mark.parametrize("language", sorted(set(LANGUAGE_BY_EXTENSION.values())))
def test_no_text_takes_long(language: str) -> None:
    """Two hundred thousand characters of anything are outlined in a fraction of a second."""
    for piece in LONG:
        start = time.perf_counter()
        Outline(piece * (200_000 // len(piece)), language)

        assert time.perf_counter() - start < 1, piece[:20]
