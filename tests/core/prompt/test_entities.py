"""What a prompt names."""

from __future__ import annotations

import pytest

from upbeat.core.prompt.analysis import Targets
from upbeat.core.prompt.entities import Mention, MentionKind, collect_targets, find_mentions
from upbeat.core.prompt.quoted_spans import SpanKind, mask_prompt


def targets(text: str) -> Targets:
    return collect_targets(find_mentions(mask_prompt(text)))


FILES = [
    ("fix parser.py", ["parser.py"]),
    ("fix parser.py.", ["parser.py"]),
    ("look at src/app/main.ts, please", ["src/app/main.ts"]),
    ("crash at src/app/main.py:42", ["src/app/main.py"]),
    ("crash at src/app/main.py:42:7!", ["src/app/main.py"]),
    ("see main.go#L10-L20", ["main.go"]),
    ("see (lib/a.rb)", ["lib/a.rb"]),
    ("open src\\win\\file.cs", ["src\\win\\file.cs"]),
    ("open C:\\proj\\a.cs and D:/x/y.go", ["C:\\proj\\a.cs", "D:/x/y.go"]),
    ("read ../../etc/passwd", ["../../etc/passwd"]),
    ("read /etc/hosts and /var/log/app.log", ["/etc/hosts", "/var/log/app.log"]),
    ("read ~/x/y.go and ./run.sh and ../up.py", ["~/x/y.go", "./run.sh", "../up.py"]),
    ('explain "my docs/read me.md"', ["my docs/read me.md"]),
    ("explain `my docs/read me.md`", ["my docs/read me.md"]),
    ("explain 'lib/b c.ts'", ["lib/b c.ts"]),
    ('add "fix the bug in parser.py" to it', ["parser.py"]),
    ("explain `parser.py`", ["parser.py"]),
    ("修复parser.py里的问题", ["parser.py"]),
    ("请看看src/解析/文件.py和 解析器.py", ["src/解析/文件.py", "解析器.py"]),
    ("修复解析器.py", ["解析器.py"]),
    ('  File "x.py", line 3, in f', ["x.py"]),
    ("    at render (src/app.js:10:5)", ["src/app.js"]),
    ("@src/app.py what is this", ["src/app.py"]),
    ("edit Dockerfile, .env and Makefile", ["Dockerfile", ".env", "Makefile"]),
    ("edit package.json and requirements.txt", ["package.json", "requirements.txt"]),
    ("tidy src/components/ and core/turn", ["src/components", "core/turn"]),
    ("app.component.html, types.d.ts", ["app.component.html", "types.d.ts"]),
    ("bundle.js.map", ["bundle.js.map"]),
    ("a.py a.py b.py", ["a.py", "b.py"]),
    ("data.csv", ["data.csv"]),
    ("```\nimport './util.js'\n```", ["./util.js"]),
    ("my_lib.h and x.h", ["my_lib.h"]),
    ("we used node.js, next.js, asp.net and example.com/shop", []),
    ("process.env and console.log and res.json()", []),
    ("at 9 a.m. or p.m., e.g. U.S.", []),
    ("and/or, 24/7, TCP/IP, client/server, 2024/01/02", []),
    ("https://github.com/a/b/blob/main/src/x.py", []),
    ("version 1.2.3 or 3.14", []),
]

SYMBOLS = [
    ("rename get_user and MAX_RETRIES", ["get_user", "MAX_RETRIES"]),
    ("rename getUser, isActive", ["getUser", "isActive"]),
    ("split UserService and HTTPServer", ["UserService", "HTTPServer"]),
    ("why does parse() call self.cache.get(key)", ["parse", "self.cache.get"]),
    ("what is foo::bar, Foo->bar and Foo#bar_baz", ["foo::bar", "Foo->bar", "Foo#bar_baz"]),
    ("config.timeout is wrong", ["config.timeout"]),
    ("os.path.join", ["os.path.join"]),
    ("explain `parse` and `x y`", ["parse"]),
    ("请解释 parse 函数的作用", ["parse"]),
    ("解释cache模块", ["cache"]),
    ("the slugify function", ["slugify"]),
    ("a class called Parser", ["Parser"]),
    ("the new function and this method", []),
    ("__init__ and _private", ["__init__", "_private"]),
    ("use @acme/ui", ["@acme/ui"]),
    ("@pytest.fixture", ["pytest.fixture"]),
    ("调用getUser的地方", ["getUser"]),
    ("用v2版本的get_user", ["get_user"]),
    ("用v2版本的GetUser", ["GetUser"]),
    ("```python\ndef foo(a):\n    return other_name(a)\n```", ["foo"]),
    ("class Foo:\n", ["Foo"]),
    ('  File "x.py", line 3, in load_all', ["load_all"]),
    ("    at Object.render (src/app.js:10:5)", ["Object.render"]),
    ("```\nclass Pasted:\n    pass\n```\nrename own_name", ["own_name", "Pasted"]),
    ("file(s), name(required field), f(x), sin(x), x()", []),
    ("my iPhone, YouTube, JavaScript and McDonald", []),
    ("hello.World thanks.Bye foo.com", []),
    ("the user's well-known state-of-the-art thing", []),
    ('say "get_user"', ["get_user"]),
    ("https://x.y/get_user", []),
    ("https://x.y/get_user calls set_user", ["set_user"]),
    ("```\nx\n``` explain `plain`", ["plain"]),
    ("explain `@cached`", ["cached"]),
]

ERRORS = [
    ("a KeyError in it", ["KeyError"]),
    ("KeyError: 'user'", ["KeyError", "KeyError: 'user'"]),
    ("java.lang.NullPointerException", ["java.lang.NullPointerException"]),
    ("I get ECONNREFUSED or SIGSEGV", ["ECONNREFUSED", "SIGSEGV"]),
    ("Error: no such thing  \n", ["Error: no such thing"]),
    ("error TS2345: no", ["error TS2345: no"]),
    ("error[E0382]: no", ["error[E0382]: no"]),
    ("npm ERR! code 1", ["npm ERR! code 1"]),
    ("fatal: not a repo", ["fatal: not a repo"]),
    ("```\nValueError: bad\n```", ["ValueError", "ValueError: bad"]),
    ("报了UserError这个错", ["UserError"]),
    ("an error: none", []),
    ("explain `KeyError`", ["KeyError"]),
    ("EVERYTHING IS AN ERROR", []),
]


@pytest.mark.parametrize(("text", "files"), FILES)
def test_files(text: str, files: list[str]) -> None:
    """Targets keep paths as written, without line numbers."""
    assert targets(text).files == tuple(files)


@pytest.mark.parametrize(("text", "symbols"), SYMBOLS)
def test_symbols(text: str, symbols: list[str]) -> None:
    """targets_of gives identifiers without call brackets, the user's own before pasted ones."""
    assert targets(text).symbols == tuple(symbols)


@pytest.mark.parametrize(("text", "errors"), ERRORS)
def test_errors(text: str, errors: list[str]) -> None:
    """targets_of gives error names and the messages that follow them."""
    assert targets(text).errors == tuple(errors)


def test_targets_are_true_when_there_are_any() -> None:
    """Targets are false only when nothing is named."""
    assert [bool(targets(text)) for text in ("a.py", "a_b", "KeyError", "hello")] == [True, True, True, False]


def test_a_message_holds_mentions() -> None:
    """find_mentions finds what an error message names."""
    assert targets("TypeError: load_all() failed in app.py") == Targets(
        ("app.py",), ("load_all",), ("TypeError", "TypeError: load_all() failed in app.py")
    )


def test_targets_are_bounded() -> None:
    """targets_of gives ten of a kind at most, each of 200 characters at most."""
    many = targets(" ".join(f"file_{i}.py name_{i}() Nr{i}Error" for i in range(11)))
    assert [len(many.files), len(many.symbols), len(many.errors)] == [10, 10, 10]
    assert many.files[-1] == "file_9.py"
    assert [len(name) for name in targets("Error: " + "x" * 300).errors] == [200]


def test_mentions_know_who_speaks() -> None:
    """Mentions have offsets, and the kind of the span that contains them."""
    assert find_mentions(mask_prompt('a.py "b.py" `c_d`\n```\ne.py\n```')) == (
        Mention(MentionKind.FILE, "a.py", 0, 4, 4),
        Mention(MentionKind.FILE, "b.py", 6, 10, 4, SpanKind.QUOTE),
        Mention(MentionKind.SYMBOL, "c_d", 12, 17, 3, SpanKind.INLINE),
        Mention(MentionKind.FILE, "e.py", 22, 26, 4, SpanKind.FENCE),
    )
