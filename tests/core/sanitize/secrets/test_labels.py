"""Labels of secrets in other languages than English are recognized."""

from __future__ import annotations

import time

import pytest

from upbeat.core.sanitize.redact import redact

VALUE = "Wal7nut-Harbor"


@pytest.mark.parametrize(
    "text",
    [
        "秘钥：{}",
        "邮箱授权码：{}",
        "访问凭证是{}",
        "Das Kennwort für anna lautet {}",
        "Contraseña: {}",
        "la clave de acceso del servidor db1.acme.io es {}",
        "Пароль от базы — {}",
        "パスワードは「{}」です",
        "le mot de passe est {}",
        "비밀번호: {}",
        "Passwort: “{}”",
    ],
)
def test_finds_values_behind_labels(text: str) -> None:
    """The value is gone, the label stays."""
    redacted = redact(text.format(VALUE)).text

    assert VALUE not in redacted
    assert redacted.startswith(text[:3])


@pytest.mark.parametrize(
    "text",
    [
        "请不要把密码写在代码里，应使用环境变量。",
        "Das Passwort muss mindestens 12 Zeichen lang sein.",
        "Введите пароль ещё раз.",
        "パスワードを忘れた場合は管理者に連絡してください。",
        "访问令牌的有效期是30分钟",
    ],
)
def test_leaves_prose(text: str) -> None:
    """Sentences about passwords stay."""
    assert redact(text).text == text


def test_many_labels_take_linear_time() -> None:
    """What follows many labels is judged once."""
    started = time.process_time()
    redact("密码" * 20_000)

    assert time.process_time() - started < 5
