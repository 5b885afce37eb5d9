"""Prompts that stop, pause or go on, and endings of turns that are lazy, wait or ask about something destructive.

``stops.tsv`` and ``endings.tsv`` have a label, a language, a text and its writer: ``own``, ``short`` for our own short
statements, ``reader1`` and so on for outside readers who had not seen the implementation (2 to 4 are two people each),
``text`` for a sentence that reports something. ``\\n`` is a line end. Nothing is ever fitted to the rows of
``held_out_*.tsv``.
"""
