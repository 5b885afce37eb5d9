"""Normalize text for matching. Invariant: the length stays, so offsets in one text are offsets in the other."""

from __future__ import annotations

import unicodedata

_LOOKALIKES = str.maketrans(
    "аеорсухіјѕԁɡԛԝһӏтьαικνορυχτɑʙᴀᴅᴇᴘᴛᴜƅɓɗđŧս",
    "aeopcyxijsdgqwhltbaiknopuxtabadeptubbddtu",
)
"""Cyrillic, Greek, Armenian and phonetic letters that look like Latin ones."""


def normalize(text: str) -> str:
    """Return ``text`` in lower case, with full-width, mathematical, accented and look-alike letters as plain ones.

    The result has the length of ``text``. It is for matching only, never for display.
    """
    if text.isascii():
        return text.lower()
    table: dict[int, str] = {}
    for char in [char for char in set(text) if not char.isascii()]:
        letters = [part for part in unicodedata.normalize("NFKD", char) if not unicodedata.combining(part)]
        plain = letters[0].lower() if len(letters) == 1 else char
        plain = plain if len(plain) == 1 and (not plain.isspace() or char.isspace()) else char
        plain = plain.translate(_LOOKALIKES)
        if plain != char:
            table[ord(char)] = plain
    return (text.translate(table) if table else text).lower()
