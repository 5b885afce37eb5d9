"""Prompts that stop, pause or go on, and endings of turns that are lazy, wait or ask about something destructive.

``stops.tsv`` and ``endings.tsv`` have a label, a language, a text and its writer: ``own``, ``reader`` for an outside
reader who had not seen the implementation, ``text`` for a sentence that reports something. ``\\n`` is a line end.
"""
