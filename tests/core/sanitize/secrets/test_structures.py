"""Secrets are found by the structure of documents, and the rest of these documents stays."""

from __future__ import annotations

from base64 import b64encode

import pytest

from upbeat.core.sanitize.redact import redact

VALUE = "Ember2Glacier!9"
ENCODED = b64encode(b"anna:" + VALUE.encode()).decode()
RANDOM = "f3Kq9ZtLw2Vb7XyP" * 2

DOCUMENTS = {
    "Markdown table": ("| Service | User | Password |\n|---|---|---|\n| wiki | anna | {} |\n", VALUE),
    "Markdown list": ("| Key | Value |\n| --- | --- |\n| URL | https://h |\n| API key | {} |\n", VALUE),
    "separated values": ("name,url,username,password\nwiki,https://h,anna,{}\n", VALUE),
    "Kubernetes stringData": ("kind: Secret\nstringData:\n  user: anna\n  foreign_7: {}\nx: 1\n", VALUE),
    "Kubernetes JSON": ('{"kind":"Secret","data":{"blob.key":"{}"}}', b64encode(VALUE.encode()).decode()),
    "web key": ('{"kty":"EC","crv":"P-256","x":"abc","d":"{}"}', RANDOM),
    "PuTTY key": ("Private-Lines: 1\n{}\nPrivate-MAC: 00ff\n", RANDOM),
    ".pgpass": ("db.acme.io:5432:shop:anna:{}\n", VALUE),
    "docker config.json": ('{"auths":{"r.io":{"auth":"{}"}}}', ENCODED),
    "cookie": ("Cookie: lang=en; sessionid={}; theme=dark", RANDOM),
    "login on lines": ("login\nanna\npassword\n{}\n", VALUE),
    "credentials on a line": ("creds for db1:\nanna / {}\n", VALUE),
    "SQL user": ("CREATE USER 'anna'@'%' IDENTIFIED BY '{}';", VALUE),
    "SQL insert": ("INSERT INTO users (login, password) VALUES ('anna', '{}');", VALUE),
    "ODBC": ("DRIVER={X};SERVER=h;UID=anna;PWD={{}};", VALUE),
    "shadow": ("root:{}:19722:0:99999:7:::", "$6$" + "salt1234" + "$" + "aB3./" * 17 + "x"),
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_finds_secrets_of_documents(name: str) -> None:
    """The secret is gone, and what precedes it stays."""
    text, secret = DOCUMENTS[name]
    redacted = redact(text.replace("{}", secret)).text

    assert secret not in redacted
    assert redacted.startswith(text[:5])


@pytest.mark.parametrize(
    "text",
    [
        "| Variable | Default | Description |\n|---|---|---|\n| `DB_PASSWORD` | none | password of the user |\n",
        "| Method | Password | Token |\n|--|--|--|\n| basic | yes | no |\n",
        "kind: Deployment\nspec:\n  replicas: 3\n",
        "Set-Cookie: theme=dark; Path=/; Max-Age=31536000",
        "found at main.py:1234:5: expected token",
        "The types are identified by their name.",
        "anna@acme.io\nben@acme.io\n",
    ],
)
def test_leaves_other_documents(text: str) -> None:
    """Tables about passwords, other manifests, harmless cookies and lists of addresses stay."""
    assert redact(text).text == text
