from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upbeat.core.prompt.entities import MAX_FRAMES, StackFrame, parse_stack_frames

TRACES = {
    "python": (
        (
            'Traceback (most recent call last):\n  File "/app/main.py", line 10, in <module>\n    run()\n'
            '  File "/app/cart.py", line 22, in total\n    x\nKeyError: 1'
        ),
        [("/app/cart.py", 22, "total"), ("/app/main.py", 10, "")],
    ),
    "python, one exception after another": (
        (
            'Traceback (most recent call last):\n  File "a.py", line 1, in f\nKeyError: 1\n\nDuring handling\n\n'
            'Traceback (most recent call last):\n  File "b.py", line 2, in g\nValueError: 2'
        ),
        [("b.py", 2, "g"), ("a.py", 1, "f")],
    ),
    "pytest": (
        "tests/test_a.py:33: in test_x\n    foo()\nshop/a.py:3: KeyError",
        [("shop/a.py", 3, ""), ("tests/test_a.py", 33, "test_x")],
    ),
    "node": (
        (
            "Error: boom\n    at Cart.total (/src/cart.ts:12:5)\n    at async run (file:///src/main.js:3:1)\n"
            "    at /src/x.js:4:2"
        ),
        [("/src/cart.ts", 12, "Cart.total"), ("/src/main.js", 3, "run"), ("/src/x.js", 4, "")],
    ),
    "firefox": ("total@https://host/cart.js:12:5", [("https://host/cart.js", 12, "total")]),
    "go": (
        (
            "panic: boom\n\ngoroutine 1 [running]:\nmain.(*Cart).Total(0xc000, 0x1)\n\t/src/cart.go:12 +0x1d\n"
            "created by main.main in goroutine 1\n\t/src/main.go:5 +0x1"
        ),
        [("/src/cart.go", 12, "Cart.Total"), ("/src/main.go", 5, "main.main")],
    ),
    "rust": (
        (
            "thread 'main' panicked at src/cart.rs:12:5:\nboom\nstack backtrace:\n   3: shop::cart::Cart::total\n"
            "             at ./src/cart.rs:12:5\n"
            "   4: <shop::A as B>::run::h0123456789abcdef\n             at ./src/a.rs:3"
        ),
        [("src/cart.rs", 12, ""), ("./src/cart.rs", 12, "Cart.total"), ("./src/a.rs", 3, "A.run")],
    ),
    "java": (
        (
            "java.lang.NullPointerException\n\tat com.shop.Cart.total(Cart.java:12)\n"
            "\tat java.base/java.lang.Thread.run(Thread.java:829)\n\tat com.shop.Main.main(Native Method)"
        ),
        [("Cart.java", 12, "Cart.total"), ("Thread.java", 829, "Thread.run")],
    ),
    "c#": (
        "   at Shop.Cart.Total(Int32 a) in /src/Cart.cs:line 12\n   at Shop.Main() in C:\\src\\Main.cs:line 3",
        [("/src/Cart.cs", 12, "Cart.Total"), ("C:\\src\\Main.cs", 3, "Shop.Main")],
    ),
    "ruby": (
        (
            "cart.rb:12:in `total': boom (RuntimeError)\n\tfrom cart.rb:30:in `block in run'\n"
            "\tfrom main.rb:3:in 'Cart#go'"
        ),
        [("cart.rb", 12, "total"), ("cart.rb", 30, "run"), ("main.rb", 3, "Cart.go")],
    ),
    "php": (
        (
            "PHP Fatal error:  Uncaught Exception: x in /src/Cart.php:12\n"
            "#0 /src/run.php(33): Shop\\Cart->total()\n#1 {main}"
        ),
        [("/src/Cart.php", 12, ""), ("/src/run.php", 33, "Cart.total")],
    ),
    "sanitizer": (
        (
            "==1==ERROR: AddressSanitizer: heap-use-after-free\n    #0 0x4f2a in cart_total /src/cart.c:12:5\n"
            "    #1 0x4f2b in ns::Shop::run(int, char*) /src/shop.cc:3:1"
        ),
        [("/src/cart.c", 12, "cart_total"), ("/src/shop.cc", 3, "Shop.run")],
    ),
    "gdb": ("#1  cart_total (a=1) at cart.c:12", [("cart.c", 12, "cart_total")]),
}


@pytest.mark.parametrize("name", TRACES)
def test_read_frames(name: str) -> None:
    """The innermost frame of a trace comes first."""
    text, expected = TRACES[name]

    assert expected == [(frame.path, frame.line, frame.symbol) for frame in parse_stack_frames(text)]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "fix the bug in cart.py",
        "see cart.py, line 12",
        "meet at noon (room 5:30)",
        "http://example.org:80/",
        "#0 is the first",
        "it happens in a.php",
        "x = 1\n    at = 2",
    ],
)
def test_read_frames_says_nothing_for(text: str) -> None:
    """Prose and code have no frames."""
    assert () == parse_stack_frames(text)


@pytest.mark.parametrize("name", TRACES)
def test_a_printed_frame_is_read_again(name: str) -> None:
    """A frame survives being passed on as a line of text."""
    frames = parse_stack_frames(TRACES[name][0])

    assert frames == parse_stack_frames("\n".join(map(str, frames)))


PIECES = ('  File "a", line 1', "\tat a.b(", "#0 ", " at ", "x.go:1", "(", ":", "1", "\n")


@given(
    st.one_of(
        st.text(max_size=400),
        st.lists(st.sampled_from(PIECES), max_size=60).map("".join),
    )
)
def test_read_frames_never_raises(text: str) -> None:
    """Any text gives frames with a path and no line below zero, and not too many."""
    frames = parse_stack_frames(text)

    assert all(isinstance(frame, StackFrame) and frame.path and frame.line >= 0 for frame in frames)
    assert len(frames) <= MAX_FRAMES


@pytest.mark.parametrize("piece", ["at " * 300, "#0 in " * 200, "a::" * 300, "(" * 900, "\\" * 900, "/a" * 450])
def test_read_frames_takes_linear_time(piece: str) -> None:
    """Two thousand hostile lines are read in well under a second."""
    import time

    started = time.process_time()
    parse_stack_frames(("    at " + piece + "\n") * 2000)

    assert time.process_time() - started < 2
