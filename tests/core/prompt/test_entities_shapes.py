"""What a run of characters names, by its shape."""

from __future__ import annotations

import pytest

from upbeat.core.prompt.entities import MentionKind, RecognizedName, identifier_weight, recognize_name

FILE, SYMBOL, ERROR = MentionKind.FILE, MentionKind.SYMBOL, MentionKind.ERROR

SHAPES = [
    ("a.py", "", FILE, "a.py", 4),
    ("@a.py", "", FILE, "a.py", 4),
    ("lib/a.py", " ", FILE, "lib/a.py", 4),
    ("A.PY", "", FILE, "A.PY", 4),
    ("foo.test.ts", "", FILE, "foo.test.ts", 4),
    ("ab.c", "", FILE, "ab.c", 4),
    ("requirements.txt", "", FILE, "requirements.txt", 4),
    ("notes.txt", "", FILE, "notes.txt", 1),
    ("doc/notes.txt", "", FILE, "doc/notes.txt", 3),
    ("doc\\notes.txt", "", FILE, "doc\\notes.txt", 3),
    ("Dockerfile", "", FILE, "Dockerfile", 4),
    (".env", "", FILE, ".env", 4),
    ("src/app", "", FILE, "src/app", 3),
    ("./app", "", FILE, "./app", 3),
    ("../app", "", FILE, "../app", 3),
    ("~/app", "", FILE, "~/app", 3),
    ("C:/app", "", FILE, "C:/app", 3),
    ("z:\\app", "", FILE, "z:\\app", 3),
    ("/etc/hosts", "", FILE, "/etc/hosts", 3),
    ("my-lib/x/y", "", FILE, "my-lib/x/y", 3),
    ("x/y_z/w", "", FILE, "x/y_z/w", 3),
    ("KeyError", "", ERROR, "KeyError", 4),
    ("a.b.KeyError", "", ERROR, "a.b.KeyError", 4),
    ("UserWarning", "", ERROR, "UserWarning", 4),
    ("ENOENT", "", ERROR, "ENOENT", 4),
    ("@acme/ui", "", SYMBOL, "@acme/ui", 3),
    ("get_user", "", SYMBOL, "get_user", 4),
    ("getUser", "", SYMBOL, "getUser", 4),
    ("do", "()", SYMBOL, "do", 4),
    ("run", "( )", SYMBOL, "run", 4),
    ("run", "(x, 1)", SYMBOL, "run", 2),
    ("run", "(", SYMBOL, "run", 4),
    ("a.run", "()", SYMBOL, "a.run", 4),
    ("foo.bar_baz", "", SYMBOL, "foo.bar_baz", 4),
    ("foo::bar", "", SYMBOL, "foo::bar", 4),
    ("foo->bar", "", SYMBOL, "foo->bar", 4),
    ("foo.bar.baz", "", SYMBOL, "foo.bar.baz", 3),
    ("self.name", "", SYMBOL, "self.name", 3),
    ("console.log", "(x)", SYMBOL, "console.log", 3),
    ("res.json", "()", SYMBOL, "res.json", 4),
    ("app.log", "('x')", SYMBOL, "app.log", 3),
    ("foo.name", "", SYMBOL, "foo.name", 1),
    ("com.name", "", SYMBOL, "com.name", 1),
    ("foo.self", "", SYMBOL, "foo.self", 1),
    ("Foo#bar_baz", "", SYMBOL, "Foo#bar_baz", 4),
    ("PaymentGateway", "", SYMBOL, "PaymentGateway", 2),
]

PART_OF_A_RUN = [
    ("a.py里的get_user", RecognizedName(FILE, "a.py", 4, 4)),
    ("get_user函数", RecognizedName(SYMBOL, "get_user", 8, 4)),
    ("src/app/", RecognizedName(FILE, "src/app", 7, 3)),
    ("get_user.", RecognizedName(SYMBOL, "get_user", 8, 4)),
    ("a.py.", RecognizedName(FILE, "a.py", 4, 4)),
    ("@get_user", RecognizedName(SYMBOL, "get_user", 9, 4)),
]

NOTHING = [
    ("word", ""),
    ("Word", ""),
    ("WORD", ""),
    ("x", "()"),
    ("", "()"),
    ("Word", "(s)"),
    ("box", "(es)"),
    ("plan", "(see the appendix)"),
    ("sin", "(x)"),
    ("MAX", ""),
    ("node.js", ""),
    ("Next.js", ""),
    ("a.m", ""),
    ("p.m", ""),
    ("ab.C", ""),
    ("example.com", ""),
    ("e.g", ""),
    ("x.foo", ""),
    ("done.Then", ""),
    ("foo#bar", ""),
    ("and/or", ""),
    ("read/write/run", ""),
    ("24/7", ""),
    ("./..", ""),
    ("2024/01/02", ""),
    ("Test/Word", ""),
    ("/admin", ""),
    ("YouTube", ""),
    ("McDonald", ""),
    ("1.2.3", ""),
    ("foo-bar", ""),
    ("函数", ""),
]


@pytest.mark.parametrize(("run", "after", "kind", "name", "weight"), SHAPES)
def test_shapes(run: str, after: str, kind: MentionKind, name: str, weight: int) -> None:
    """shape_of tells what a run names and how sure that is."""
    assert recognize_name(run, after) == RecognizedName(kind, name, len(run), weight)


@pytest.mark.parametrize(("run", "shape"), PART_OF_A_RUN)
def test_takes_the_first_part(run: str, shape: RecognizedName) -> None:
    """shape_of leaves Chinese prose and closing marks behind a name alone, and @ before it."""
    assert recognize_name(run, "") == shape


@pytest.mark.parametrize(("run", "after"), NOTHING)
def test_ordinary(run: str, after: str) -> None:
    """shape_of sees nothing in ordinary words, abbreviations, products and domains."""
    assert recognize_name(run, after) is None


@pytest.mark.parametrize(
    ("word", "weight"),
    [
        ("a_b", 4),
        ("__init__", 4),
        ("MAX_SIZE", 4),
        ("aB", 0),
        ("abC", 4),
        ("_name", 2),
        ("UserService", 4),
        ("UserGroup", 2),
        ("HTTPServer", 4),
        ("HTTPThing", 2),
        ("XMLHttpRequest", 4),
        ("DeLorean", 0),
        ("GitHub", 0),
        ("word", 0),
        ("a-b", 0),
    ],
)
def test_identifier_weight(word: str, weight: int) -> None:
    """identifier_weight is 4 for what nobody writes in prose, 2 for CamelCase, which brands use too."""
    assert identifier_weight(word) == weight
