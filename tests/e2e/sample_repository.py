"""A small git repository for a client to work in: Python code, awkward file names, and secrets that must never leak."""

from __future__ import annotations

import subprocess
from pathlib import Path
from textwrap import dedent

ENV_SECRET = "sk-live-9f8e7d6c5b4a39281706f5e4d3c2b1a0"
"""Stands in ``.env``."""
KEY_SECRET = "AKIA" + "Q3EXAMPLE7TESTKEY"[:16]
"""Stands in a comment of ``shop/storage.py``; looks like an AWS access key id."""
SECRETS = (ENV_SECRET, KEY_SECRET)

FILES = {
    ".gitignore": ".env\n__pycache__/\n",
    ".env": f"PAYMENT_API_KEY={ENV_SECRET}\n",
    "README.md": "# shop\n\nSells things. `shop.cart.total_price` adds up what is in the cart.\n",
    "shop/__init__.py": '"""A small shop."""\n',
    "shop/cart.py": dedent('''\
        """What the customer is about to buy."""

        from shop.discounts import discount_for


        class Cart:
            """Items and how many of each."""

            def __init__(self):
                self.items = {}

            def add(self, name, price, count=1):
                """Put ``count`` pieces of ``name`` into the cart."""
                self.items[name] = (price, count)


        def total_price(cart):
            """The sum over the cart, after the discount."""
            total = sum(price * count for price, count in cart.items.values())
            return total - discount_for(total)
        '''),
    "shop/discounts.py": dedent('''\
        """Who pays less."""


        def discount_for(total):
            """Ten per cent off above a hundred."""
            return total // 10 if total > 100 else 0
        '''),
    "shop/storage.py": dedent(f'''\
        """Where orders are kept."""

        # the old bucket was read with {KEY_SECRET}


        def save_order(cart, bucket):
            """Write the cart into ``bucket``."""
            bucket.append(dict(cart.items))
        '''),
    "shop/price list.py": 'PRICES = {"tea": 4, "cup": 9}\n',
    "shop/订单处理.py": dedent('''\
        """处理订单。"""


        def 处理订单(cart):
            """检查购物车是否为空。"""
            return bool(cart.items)
        '''),
    "tests/test_cart.py": dedent("""\
        from shop.cart import Cart, total_price


        def test_a_full_cart_costs_less():
            cart = Cart()
            cart.add("tea", 60, 2)
            assert total_price(cart) == 108
        """),
}

_IDENTITY = {
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_SYSTEM": "/dev/null",
    "GIT_AUTHOR_NAME": "Sample",
    "GIT_AUTHOR_EMAIL": "sample@example.invalid",
    "GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z",
    "GIT_COMMITTER_NAME": "Sample",
    "GIT_COMMITTER_EMAIL": "sample@example.invalid",
    "GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z",
    "PATH": "/usr/local/bin:/usr/bin:/bin",
}


def make_sample_repository(folder: Path) -> Path:
    """Write the repository into ``folder``, with everything but ``.env`` in one commit."""
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for command in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "A small shop"]):
        subprocess.run(["git", *command], cwd=folder, env=_IDENTITY, check=True)
    return folder
