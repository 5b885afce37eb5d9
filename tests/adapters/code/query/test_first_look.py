"""The first look: numbers about a query's words in a tree."""

from __future__ import annotations

import math
import threading
from pathlib import Path

import pytest
from repositories import make_repository, write

from upbeat.adapters.code.files.tree import SourceCache, WorkingTree
from upbeat.adapters.code.index.manager import IndexManager
from upbeat.adapters.code.query.first_look import collect_evidence
from upbeat.adapters.code.query.glossary import translate_to_english
from upbeat.adapters.code.query.parse_query import parse_search_query
from upbeat.adapters.code.query.posting_source import IndexSource, WorkingTreeSource
from upbeat.adapters.code.query.retrieval import retrieve
from upbeat.core.prompt.gate import Evidence

NEVER = threading.Event()
FAR = 1e18


@pytest.fixture
def shop(tmp_path: Path) -> str:
    return str(make_repository(tmp_path / "shop"))


def look(root: str, query: str) -> Evidence:
    """Return the evidence of the files themselves."""
    parsed = parse_search_query(query)
    files = (path.relative_to(root) for path in sorted(Path(root).rglob("*")) if path.is_file())
    paths = [str(path) for path in files if path.parts[0] != ".git"]
    source = WorkingTreeSource(WorkingTree(root, SourceCache()), paths, parsed, NEVER, FAR)
    return collect_evidence(source, query, parsed, retrieve(source, parsed, NEVER))


def test_words_of_one_function(shop: str) -> None:
    """Words that occur together in a function, its name and its file's name are evidence."""
    evidence = look(shop, "send the message with a retry limit")

    assert 4 == evidence.function_terms
    assert (1.0, 0.0, 0.0) == (evidence.function_share, evidence.unknown_share, evidence.unknown_gain)
    assert min(evidence.rare_pair, evidence.name_gain, evidence.path_gain) > 0


@pytest.mark.parametrize(("query", "is_name"), [("cart", 1.0), ("购物车", 1.0), ("message", 0.0), ("cart retry", 0.0)])
def test_a_word_that_is_a_name(shop: str, query: str, is_name: float) -> None:
    """A query of one word that is the whole name of a definition says so, in Chinese by its translation."""
    assert is_name == look(shop, query).whole_name


def test_words_of_no_file(shop: str) -> None:
    """Unknown words count against the repository."""
    evidence = look(shop, "boil an egg for breakfast")

    assert (0, 0.0) == (evidence.function_terms, evidence.function_gain)
    assert (evidence.unknown_gain, evidence.unknown_share) == (pytest.approx(3.0), evidence.files)


def test_chinese_words_count_by_their_translation(shop: str) -> None:
    """The technical terms of a Chinese query are looked up in English."""
    evidence = look(shop, "重试 message")

    assert evidence.function_terms >= 1
    assert evidence.chinese > 0
    assert evidence.translated > 0


def test_translations_of_a_term_are_one_concept(shop: str) -> None:
    """A Chinese term counts once, and is known if the files have one of its English words."""
    evidence = look(shop, "重试")

    assert len(translate_to_english("重试")) > 1
    assert (1, 0.0, 1.0) == (evidence.function_terms, evidence.unknown_gain, evidence.function_share)
    assert evidence.terms == pytest.approx(math.log(2))


def test_chinese_comments_count(tmp_path: Path) -> None:
    """Pairs of Chinese characters that the files have count; those that they lack say nothing."""
    files = {"cart.py": "def total():\n    # 折扣上限\n    return 1\n", "mail.py": "def send():\n    return 2\n"}
    evidence = look(str(write(tmp_path / "r", files)), "上限")

    assert (1, 0.0) == (evidence.function_terms, look(str(tmp_path / "r"), "甲乙").unknown_gain)


def test_another_spelling_is_the_same_concept(tmp_path: Path) -> None:
    """A word that the files have in American spelling only is known, in British spelling, too."""
    files = {"paint.py": "def initialize_color():\n    return 1\n", "mail.py": "def send():\n    return 2\n"}
    root = str(write(tmp_path / "r", files))

    assert (2, 0.0) == (look(root, "initialise the colour").function_terms, look(root, "colour").unknown_gain)
    assert look(root, "initialise the colour").terms == look(root, "initialize the color").terms


def test_no_sources(tmp_path: Path) -> None:
    """A folder without source files gives no evidence at all."""
    assert Evidence() == look(str(write(tmp_path / "notes", {"a.md": "# retry\n"})), "retry")


def test_the_index_gives_the_same_evidence(shop: str) -> None:
    """The numbers of the index are those of the files."""
    query = "what happens when sending a message fails every time"
    library = IndexManager(Path(shop).parent / "state")
    library.build(shop)
    parsed = parse_search_query(query)
    with library.open_view(shop) as view:
        assert view
        source = IndexSource(WorkingTree(shop, SourceCache(0)), view, parsed, NEVER)
        evidence = collect_evidence(source, query, parsed, retrieve(source, parsed, NEVER))
    library.close()

    assert look(shop, query) == evidence
