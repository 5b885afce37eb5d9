"""Prompts that stop, pause or go on, and endings of turns that are lazy, wait or ask about something destructive.

``stops.tsv`` and ``endings.tsv`` have a label, a language, a text and its writer: ``own``, or ``reader`` for an
outside reader who had not seen the implementation. ``\\n`` in a text is a line end.
"""
