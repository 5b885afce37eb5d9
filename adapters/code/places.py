"""Which places of a file answer best: a few numbers of each definition, scaled within the file, then one sum.

Law: the table is all there is. Its weights were fitted on bug fixes and issues of public projects, those of names
by hand on top; ``benchmarks/localization/block.py`` measures what comes of them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from .features import Corpus, Part, Profile, part_score, term_score
from .question import Question
from .words import terms_of

WEIGHTS = {
    "score": 1.27,
    "title": 0.82,
    "name": 0.89,
    "name_words": 0.8,
    "line": 1.02,
    "spread": 1.76,
    "is_owned": 1.5,
    "is_outside": -2.39,
}
"""What each number of ``_measure``, scaled to at most 1 within the file, adds to a place's sum."""

SHARPNESS = 0.5
"""How steeply a place's share falls with its distance from the best one."""


def ranked_parts(profile: Profile, question: Question, corpus: Corpus) -> list[tuple[float, Part]]:
    """The parts of one file that say anything, best first, each with its share of the best one's worth (0..1]."""
    scored = [(part_score(profile, part, corpus), part) for part in profile.parts.values()]
    rows = [(_measure(score, profile, part, question, corpus), part) for score, part in scored if score > 0]
    most = {name: max((row[name] for row, _ in rows), default=0.0) or 1.0 for name in WEIGHTS}
    sums = [(sum(weight * row[name] / most[name] for name, weight in WEIGHTS.items()), part) for row, part in rows]
    best = max((total for total, _ in sums), default=0.0)
    ranked = sorted(sums, key=lambda item: (-item[0], item[1].position))
    return [(math.exp(SHARPNESS * (total - best)), part) for total, part in ranked]


def _measure(score: float, profile: Profile, part: Part, question: Question, corpus: Corpus) -> dict[str, float]:
    """The numbers of one part.

    Its score, that of the first line's words alone, how sure the question names it, how much of its name the question
    has, its best line, how often it has the words whatever its length, whether the question names it with its owner
    (``Session.send``), and whether it lies outside of all definitions.
    """
    gains = corpus.gains
    name = profile.outline.definitions[part.position].name if part.position >= 0 else ""
    words = terms_of(name)
    return {
        "score": score,
        "title": term_score(profile, part, corpus.title_gains),
        "name": question.names.get(name, 0.0),
        "name_words": sum(term in question.terms for term in words) / (len(words) or 1),
        "line": _best_line(part, gains),
        "spread": sum(gains.get(term, 0.0) * math.log1p(count) for term, count in part.terms.items()),
        "is_owned": float(part.position in profile.owned),
        "is_outside": float(part.position < 0),
    }


def _best_line(part: Part, gains: Mapping[str, float]) -> float:
    """What the terms that meet on one line are worth, on the line where that is most."""
    lines: dict[int, tuple[str, ...]] = {}
    for line, terms in part.hits:
        known = lines.get(line)
        lines[line] = terms if known is None or known == terms else known + terms
    return max([sum([gains.get(term, 0.0) for term in {*terms}]) for terms in {*lines.values()}], default=0.0)
