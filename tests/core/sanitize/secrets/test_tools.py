"""Passwords on command lines are found at the places that the table of programs names."""

from __future__ import annotations

import time

import pytest

from upbeat.core.sanitize.redact import redact

VALUE = "maple4Harbor!77"


@pytest.mark.parametrize(
    "line",
    [
        "docker login -u ci -p {} registry.example.com",
        "mysql -uroot -p{} shop",
        "sshpass -p '{}' ssh root@10.0.0.1",
        "redis-cli -h cache -a {} PING",
        "ldapsearch -x -D cn=admin -w {} -b dc=x",
        "htpasswd -bc /etc/nginx/users anna {}",
        "zip -P {} out.zip a b",
        "openssl enc -aes-256-cbc -pass pass:{} -in a",
        "echo root:{} | chpasswd",
        "echo '{}' | sudo -S apt update",
        "xfreerdp /v:host /u:anna /p:{}",
        "net user anna {} /add",
        "smbclient //h/s -U 'anna%{}'",
        "vault kv put secret/app password={}",
        "sqlplus scott/{}@//db:1521/ORCL",
        "requirepass {}",
        "cryptsetup open /dev/sdb1 x <<< '{}'",
        "unknown-tool -u anna -p {} --host h",
    ],
)
def test_finds_passwords_of_commands(line: str) -> None:
    """The password is gone from the line, and the program's name stays."""
    redacted = redact(line.format(VALUE)).text

    assert VALUE not in redacted
    assert line.split()[0] in redacted


@pytest.mark.parametrize(
    "line",
    [
        "mysql -u root -p shop",
        "docker run -p 8080:80 --name web nginx",
        "ssh -p 2222 anna@host",
        "openssl enc -pass env:BACKUP_PASS -in a",
        'docker login -u ci -p "$TOKEN" registry.example.com',
        "mkdir -p /srv/app2/releases",
        "the net user base grew by 12percent",
        "psql -U anna -p 5433 shop",
    ],
)
def test_leaves_other_options(line: str) -> None:
    """Ports, data bases, folders and references to variables are no passwords."""
    assert redact(line).text == line


def test_long_commands_take_linear_time() -> None:
    """A line with a thousand programs does not read the rest of the line for each of them."""
    text = "mysql -p docker login " * 1000
    started = time.process_time()
    redact(text)

    assert time.process_time() - started < 5
