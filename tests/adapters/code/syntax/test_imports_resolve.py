from __future__ import annotations

import pytest

from upbeat.adapters.code.syntax.imports import Import, may_import


@pytest.mark.parametrize(
    ("importer", "module", "names", "target"),
    [
        ("shop/app.py", "shop.store", ("Store",), "shop/store.py"),
        ("shop/app.py", "shop", ("upload",), "shop/upload.py"),
        ("shop/app.py", ".store", (), "shop/store.py"),
        ("shop/http/a.py", "..store", (), "shop/store.py"),
        ("a.py", "shop", (), "shop/__init__.py"),
        ("a.py", "shop.store", (), "src/shop/store.py"),
        ("web/a.ts", "./money", ("format",), "web/money.ts"),
        ("web/a.ts", "../lib", (), "lib/index.ts"),
        ("web/a.js", "./money.js", (), "web/money.ts"),
        ("cmd/main.go", "github.com/x/shop/worker", (), "worker/queue.go"),
        ("engine/src/lib.rs", "self::scan", ("*",), "engine/src/scan.rs"),
        ("engine/src/a.rs", "crate::scan", ("count",), "engine/src/scan.rs"),
        ("A.java", "com.shop", ("Cart",), "src/main/java/com/shop/Cart.java"),
        ("native/main.c", "list.h", (), "native/list.h"),
        ("a.rb", "./y/z", (), "y/z.rb"),
        ("a.php", "App\\Shop", ("Cart",), "src/Shop/Cart.php"),
    ],
)  # fmt: skip
def test_imports_file(importer: str, module: str, names: tuple[str, ...], target: str) -> None:
    """An import means the file that its module names."""
    if target == "src/Shop/Cart.php":
        pytest.xfail("a prefix that composer.json maps to a folder is not known")

    assert may_import(importer, Import(module, names, 1), target)


@pytest.mark.parametrize(
    ("importer", "module", "target"),
    [
        ("shop/app.py", "os", "shop/store.py"),
        ("shop/app.py", ".store", "other/store.py"),
        ("shop/app.py", "shop.stores", "shop/store.py"),
        ("web/a.ts", "../../../etc", "etc.ts"),
        ("web/a.ts", "./money", "lib/money.ts"),
        ("a.py", "", "a.py"),
        ("a.go", "fmt", "worker/queue.go"),
        ("a.py", "pkg.install", "install.sh"),
    ],
)
def test_imports_file_says_no_for(importer: str, module: str, target: str) -> None:
    """Other modules, and files of that name elsewhere, are not meant."""
    assert not may_import(importer, Import(module, (), 1), target)
