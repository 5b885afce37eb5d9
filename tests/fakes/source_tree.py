"""A small project in several languages, for tests of code search."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

FILES = {
    "README.md": "# Shop\n\nInstall it with make. Uploads, sessions, retries: all in here.\n",
    "docs/uploads.md": "# Uploads\n\nHow file uploads and their permissions work.\n",
    "pyproject.toml": '[project]\nname = "shop"\n',
    "shop/__init__.py": "",
    "shop/settings.py": """\
        DEBUG = False
        FILE_UPLOAD_PERMISSIONS = 0o644
        FILE_UPLOAD_MAX_SIZE = 1 << 20
        SESSION_COOKIE_AGE = 1209600
        """,
    "shop/storage.py": """\
        import os


        class FileSystemStorage:
            '''Keeps uploaded files on disk.'''

            def __init__(self, location):
                self.location = location

            def save(self, name, content):
                path = self.path(name)
                with open(path, "wb") as stream:
                    stream.write(content.read())
                return name

            def path(self, name):
                return os.path.join(self.location, name)

            def delete(self, name):
                if not name:
                    raise ValueError("The name must be given to delete().")
                os.remove(self.path(name))
        """,
    "shop/http/retry.py": """\
        import time


        class RetryPolicy:
            # 失败后重试，指数退避
            def __init__(self, attempts=3, backoff=0.5):
                self.attempts = attempts
                self.backoff = backoff

            def delays(self):
                for attempt in range(self.attempts):
                    yield self.backoff * 2**attempt
        """,
    "shop/http/client.py": """\
        from .retry import RetryPolicy


        def send(request, policy=None):
            policy = policy or RetryPolicy()
            for delay in policy.delays():
                response = request.perform()
                if response.ok:
                    return response
            raise ConnectionError("gave up")
        """,
    "shop/accounts/login.py": """\
        def authenticate(name, password):
            # 校验用户的登录密码
            return check_password(name, password)


        def login(session, user):
            session["user"] = user.id
            session.rotate()
        """,
    "shop/accounts/session.py": """\
        class SessionStore:
            def rotate(self):
                self.key = new_key()

            def expire(self):
                self.data.clear()
        """,
    "web/src/cart.ts": """\
        export class ShoppingCart {
          private items: Item[] = []

          addItem(item: Item): void {
            this.items.push(item)
          }

          computeTotal(): number {
            return this.items.reduce((sum, item) => sum + item.price, 0)
          }
        }
        """,
    "web/src/currency.ts": """\
        export const formatCurrency = (amount: number, locale: string) => {
          return new Intl.NumberFormat(locale).format(amount)
        }
        """,
    "worker/main.go": """\
        package main

        func main() {
        \trunQueue(connectBroker())
        }

        func connectBroker() *Broker {
        \treturn dial("amqp://localhost")
        }
        """,
    "engine/src/parser.rs": """\
        pub struct TokenStream { position: usize }

        impl TokenStream {
            pub fn peek_token(&self) -> Option<Token> {
                self.tokens.get(self.position)
            }

            pub fn skip_whitespace(&mut self) {
                while self.peek().is_whitespace() { self.position += 1; }
            }
        }
        """,
    "scripts/deploy.sh": "rollback() {\n  kubectl rollout undo deployment/shop\n}\n",
    "tests/test_storage.py": """\
        from shop.storage import FileSystemStorage


        def test_file_upload_permissions():
            storage = FileSystemStorage("/tmp")
            storage.save("file upload permissions", None)
            storage.delete("file upload permissions")
        """,
    "tests/test_login.py": "def test_login_rotates_session():\n    login(session, user)\n",
    "vendor/lib/storage.py": "class FileSystemStorage:\n    def save(self): pass\n",
    ".env": "FILE_UPLOAD_PERMISSIONS_SECRET=hunter2\n",
    "certs/upload.pem": "-----BEGIN PRIVATE KEY-----\nfile upload permissions\n",
}


def make_source_tree(root: Path) -> Path:
    """Write the project below ``root``."""
    for name, text in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text), encoding="utf-8")
    return root
