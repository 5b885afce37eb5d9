"""A folded text has one character for each of the original, so that a place in one is the same place in the other."""

from __future__ import annotations

import unicodedata

_LOOKALIKES = str.maketrans(
    "аеорсухіјѕԁɡԛԝһӏтьαικνορυχτɑʙᴀᴅᴇᴘᴛᴜƅɓɗđŧս",
    "aeopcyxijsdgqwhltbaiknopuxtabadeptubbddtu",
)
"""Cyrillic, Greek, Armenian and phonetic letters that read as Latin ones."""


def fold(text: str) -> str:
    """``text`` in lower case with full-width, mathematical, accented and look-alike letters as plain ones.

    Has the length of ``text``. It is for matching only and never shown.
    """
    if text.isascii():
        return text.lower()
    table = {ord(char): _plain(char) for char in set(text) if not char.isascii()}
    return text.translate(table).lower()


def _plain(char: str) -> str:
    letters = [part for part in unicodedata.normalize("NFKD", char) if not unicodedata.combining(part)]
    plain = letters[0].lower() if len(letters) == 1 else char
    plain = plain if len(plain) == 1 and (not plain.isspace() or char.isspace()) else char
    return plain.translate(_LOOKALIKES)
