"""What a query names stands first, whatever the weights say."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from repositories import make_repository

from upbeat.adapters.code.files.tree import SourceCache
from upbeat.adapters.code.index.manager import IndexManager
from upbeat.adapters.code.query.named import find_named_mentions
from upbeat.adapters.code.query.search import search_code
from upbeat.core.contract.finding import Finding
from upbeat.core.prompt.classify import analyze_prompt

RETRY = "retry the request, then retry the request with another limit and wait for the request\n" * 8
TRACE = (
    'retry the request\n\nTraceback (most recent call last):\n  File "/srv/shop/client.py", line 9, in get\n'
    '    retry_request()\n  File "/srv/shop/order.py", line 7, in place_order\n    return 3\nValueError: x'
)
FILES = {
    "shop/cart.py": "class Cart:\n    def total_price(self):\n        return 1\n\n\ndef checkout():\n    return 2\n",
    "shop/order.py": "class Order:\n    def total_price(self):\n        return 2\n\n\ndef place_order():\n    pass\n",
    "shop/retry.py": f"LIMIT = 3\n\n\ndef retry_request():\n    '''{RETRY}'''\n    return LIMIT\n",
    "shop/client.py": f"# {RETRY.replace(chr(10), chr(10) + '# ')}\ndef get():\n    return retry_request()\n",
    "shop/codes.go": "package shop\n\nconst (\n\tStatusLate = 1\n\tStatusLost = 2\n)\n",
    "web/cart.ts": "export const renderCart = () => 1\n",
    "tests/test_retry.py": "def test_retry_request():\n    assert retry_request()\n\n\ndef place_order():\n    pass\n",
    "docs/retry.md": RETRY,
}


@pytest.fixture(scope="module", params=["index", "scan"])
def shop(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, IndexManager]]:
    """The shop's root, and what searches it: with and without an index."""
    folder = Path(os.path.realpath(tmp_path_factory.mktemp("named")))
    root = str(make_repository(folder / "shop", FILES))
    manager = IndexManager(folder / "state" if request.param == "index" else None)
    if request.param == "index":
        manager.build(root)
    yield root, manager
    manager.close()


def ask(shop: tuple[str, IndexManager], prompt: str) -> tuple[Finding, ...]:
    """Return what the search of a turn with ``prompt`` finds."""
    root, manager = shop
    analysis = analyze_prompt(prompt)
    return search_code(
        root, analysis.query, 10, (), analysis.targets.symbols, SourceCache(), threading.Event(), 5.0, manager
    ).findings


@pytest.mark.parametrize(
    ("prompt", "path", "symbol"),
    [
        ("retry the request in shop/order.py with a limit", "shop/order.py", None),
        ("order.py 里 retry request 的 limit 是多少？", "shop/order.py", None),
        ("does `place_order` retry the request when the limit is reached?", "shop/order.py", "place_order"),
        ("does the retry request limit apply to checkout()?", "shop/cart.py", "checkout"),
        ("checkout 在哪里定义的？ retry request limit", "shop/cart.py", "checkout"),
        ("why does Order.total_price retry the request?", "shop/order.py", "Order.total_price"),
        ("why does total_price in shop/order.py retry the request?", "shop/order.py", "Order.total_price"),
        ("retry the request at shop/cart.py:7", "shop/cart.py", "checkout"),
        ("retry the request, cart.py line 3", "shop/cart.py", "Cart.total_price"),
        ("retry https://github.com/a/b/blob/main/shop/cart.py#L6-L7", "shop/cart.py", "checkout"),
        ("retry https://git.example.org/a/b/-/blob/v1/x/shop/cart.py#L6", "shop/cart.py", "checkout"),
        ("place order", "shop/order.py", "place_order"),
        (r"def place_\w+\(", "shop/order.py", None),
        ("class Order", "shop/order.py", "Order"),
        ("does renderCart retry the request?", "web/cart.ts", "renderCart"),
        ("is StatusLost a retry of the request?", "shop/codes.go", None),
        ("retry the request in test_retry_request", "tests/test_retry.py", "test_retry_request"),
        (
            TRACE,
            "shop/order.py",
            "place_order",
        ),
        ("panic: x\n\ngoroutine 1 [running]:\nmain.f(0x1)\n\t/srv/shop/codes.go:5 +0x1d\n", "shop/codes.go", None),
    ],
)
def test_a_named_thing_is_first(shop: tuple[str, IndexManager], prompt: str, path: str, symbol: str | None) -> None:
    """The file that a prompt names is first, and the definition that it names is the one shown."""
    first = ask(shop, prompt)[0]
    assert (path, symbol if symbol is not None else first.symbol) == (first.path, first.symbol)
    assert first.text


@pytest.mark.parametrize(
    "prompt",
    [
        "where do we get the retry limit of a request?",
        "which order do the retries of a request have, and what is the total limit?",
        "retry the request when GitHub is down, as in node.js",
        "retry the request in missing.py",
        "does total_pricing retry the request?",
    ],
)
def test_ordinary_words_and_unknown_names_change_nothing(shop: tuple[str, IndexManager], prompt: str) -> None:
    """A word that happens to be a name, and a name that the tree does not have, leave the ranks as they are."""
    assert "shop/retry.py" == ask(shop, prompt)[0].path


def test_several_named_things_are_in_the_order_named(shop: tuple[str, IndexManager]) -> None:
    """The first two things that a prompt names are the first two files."""
    found = ask(shop, "compare `place_order` with checkout() and renderCart, do they retry the request?")
    assert ["shop/order.py", "shop/cart.py", "web/cart.ts"] == [finding.path for finding in found[:3]]


FRAMES = 'why?\nTraceback (most recent call last):\n  File "/srv/shop/cart.py", line {}, in {}\n    x()\nValueError: x'


@pytest.mark.parametrize(
    ("line", "function", "symbol"),
    [
        (1, "checkout", "checkout"),
        (7, "checkout", "checkout"),
        (3, "gone", "Cart.total_price"),
        (99, "checkout", "checkout"),
    ],
)
def test_a_frame_whose_line_is_wrong(shop: tuple[str, IndexManager], line: int, function: str, symbol: str) -> None:
    """The function that a frame names is shown if its line is elsewhere by now, else the line."""
    first = ask(shop, FRAMES.format(line, function))[0]
    assert ("shop/cart.py", symbol) == (first.path, first.symbol)


def test_frames_of_one_file(shop: tuple[str, IndexManager]) -> None:
    """Several frames in one file are all shown, the innermost first."""
    trace = FRAMES.format(7, "checkout").replace(
        "    x()", '  File "/srv/shop/cart.py", line 3, in total_price\n    x()'
    )
    first = ask(shop, trace)[0]
    assert ["Cart.total_price", "checkout"] == [first.symbol, *(more.symbol for more in first.more_excerpts)][:2]


def test_a_report_names_what_was_used(shop: tuple[str, IndexManager]) -> None:
    """In a long text only paths and stack frames are a rule; its symbols are evidence among others."""
    report = "The retry of a request with a limit fails.\n" + "I retry the request, and wait, and retry.\n" * 10
    assert "shop/retry.py" == ask(shop, report + "`place_order` is what I called.")[0].path
    assert "shop/order.py" == ask(shop, report + "See shop/order.py.")[0].path


@given(st.text(max_size=200), st.lists(st.text(max_size=20), max_size=3))
def test_any_text_can_be_read(query: str, symbols: list[str]) -> None:
    """Finding what a query names raises nothing and finds no more than a few things."""
    assert 5 >= len(find_named_mentions(query, (), symbols))


@pytest.mark.parametrize("prompt", ["why does `self` matter for `this.self`?", "`@$` and `self.` in total_price"])
def test_a_receiver_alone_names_nothing(shop: tuple[str, IndexManager], prompt: str) -> None:
    """``self`` and ``this`` are no names, and the search answers."""
    assert ask(shop, prompt) is not None
