"""What every ``ToolProvider`` keeps to: the embedded one, the user's own servers and the fake of the tests alike."""

from __future__ import annotations

import atexit
import json
import shutil
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from fakes.provider import FakeProvider, waits
from own_servers import odd, provider, settings
from repositories import make_repository

from upbeat.adapters.code.provider import EmbeddedProvider
from upbeat.core.contract.codes import ErrorCode
from upbeat.core.contract.finding import Finding, ToolOutput
from upbeat.core.engine.ports import ToolProvider
from upbeat.core.errors import ToolFailure

ARGUMENTS: dict[str, dict[str, Any]] = {
    "ci_index_status": {},
    "ci_search": {"query": "where are uploads stored", "limit": 3, "files": ["src/store.py"], "symbols": ["Store.put"]},
    "ci_graph_rag": {"query": "where are uploads stored", "depth": 2, "budget": 2000, "top_k": 5},
    "ci_call_chain": {"symbol": "Store.put", "direction": "both", "depth": 3},
    "ci_bug_locate": {"query": "put loses uploads", "traces": ["at put (src/store.py:3)"], "errors": ["KeyError"]},
    "ci_impact": {"files": ["src/store.py"], "symbols": ["Store.put"], "depth": 2},
    "ci_complexity": {"files": ["src/store.py"]},
    "ci_hotspot": {"days": 30, "top": 5},
    "odd.search": {"q": "where are uploads stored"},
}


@dataclass(frozen=True)
class Case:
    """A way to make a provider, and the tools of it that are tried."""

    make: Callable[[], ToolProvider]
    tools: tuple[str, ...]


def fake() -> ToolProvider:
    output = ToolOutput("found", (Finding("src/store.py", start_line=1, end_line=2, score=0.5, text="x"),), {"n": 1})

    def answer(cancelled: Any) -> ToolOutput:
        if cancelled.is_set():
            waits(0.1)(cancelled)
        return output

    return FakeProvider({"ci_search": answer})


@cache
def own_servers() -> ToolProvider:
    """The user's own tools, of a real server; it ends with this process."""
    home = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, home)
    settings(home, odd("fine"))
    return provider(home)


CASES = [
    pytest.param(Case(EmbeddedProvider, tuple(name for name in ARGUMENTS if "." not in name)), id="embedded"),
    pytest.param(Case(own_servers, ("odd.search",)), id="own servers"),
    pytest.param(Case(fake, ("ci_search",)), id="fake"),
]


@pytest.fixture
def root(tmp_path: Path) -> str:
    store = "class Store:\n    def put(self, upload):\n        self.uploads = upload\n"
    use = "from src.store import Store\n\n\ndef receive(upload):\n    Store().put(upload)\n"
    return str(make_repository(tmp_path, {"src/store.py": store, "src/use.py": use}).resolve())


@pytest.mark.parametrize("case", CASES)
def test_every_tool_has_a_name_and_a_sentence(case: Case) -> None:
    """tools gives each tool with one sentence, the same at every call."""
    made = case.make()

    assert dict(made.tools()) == dict(made.tools())
    assert set(case.tools) <= set(made.tools())
    assert all(sentence.endswith(".") and "\n" not in sentence for sentence in made.tools().values())


@pytest.mark.parametrize("case", CASES)
def test_an_unknown_tool_is_unavailable(case: Case, root: str) -> None:
    """A tool that is not offered fails as unavailable."""
    with pytest.raises(ToolFailure) as failure:
        case.make().call("ci_nothing", {}, root, threading.Event())

    assert ErrorCode.TOOL_UNAVAILABLE == failure.value.code


@pytest.mark.parametrize("case", CASES)
def test_an_answer_keeps_its_promises(case: Case, root: str) -> None:
    """An answer is JSON, its rows lie inside the repository and have lines and scores in their ranges."""
    made = case.make()
    for tool in case.tools:
        output = made.call(tool, ARGUMENTS[tool], root, threading.Event())

        assert isinstance(output, ToolOutput)
        assert output.summary
        assert output.data == json.loads(json.dumps(output.data))
        for row in output.findings:
            assert (Path(root) / row.path).resolve().is_relative_to(root)
            assert not row.path.startswith("/")
            assert 0 <= row.start_line <= row.end_line
            assert 0 <= row.score <= 1


@pytest.mark.parametrize("case", CASES)
def test_a_call_leaves_its_arguments_alone(case: Case, root: str) -> None:
    """The caller's arguments are the same after the call."""
    for tool in case.tools:
        arguments = json.loads(json.dumps(ARGUMENTS[tool]))
        case.make().call(tool, arguments, root, threading.Event())

        assert ARGUMENTS[tool] == arguments


@pytest.mark.parametrize("case", CASES)
def test_a_cancelled_call_times_out(case: Case, root: str) -> None:
    """A call that nobody waits for any more fails as timed out."""
    cancelled = threading.Event()
    cancelled.set()
    for tool in case.tools:
        with pytest.raises(ToolFailure) as failure:
            case.make().call(tool, ARGUMENTS[tool], root, cancelled)

        assert ErrorCode.TIMEOUT == failure.value.code


@pytest.mark.parametrize("case", CASES)
def test_calls_do_not_disturb_each_other(case: Case, root: str) -> None:
    """Calls at the same time answer what each alone would."""
    made = case.make()
    tool = case.tools[-1]
    expected = made.call(tool, ARGUMENTS[tool], root, threading.Event())
    answers: list[ToolOutput] = []
    threads = [
        threading.Thread(target=lambda: answers.append(made.call(tool, ARGUMENTS[tool], root, threading.Event())))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [expected] * 4 == answers
