"""The embedded tools find what a query is about, and read nothing outside of the repository."""

from __future__ import annotations

import json
import os
import re
import threading
from pathlib import Path
from typing import Any

import pytest
from case_files import read_groups
from fakes.source_tree import FILES, make_source_tree
from repositories import git

from upbeat.adapters.code.index.manager import IndexManager
from upbeat.adapters.code.provider import EmbeddedProvider
from upbeat.adapters.code.query.excerpt import MAX_CHARS, MAX_LINE_CHARS, WINDOW_LINES
from upbeat.core.contract.codes import ErrorCode
from upbeat.core.contract.finding import Finding, ToolOutput
from upbeat.core.errors import ToolFailure


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_source_tree(Path(os.path.realpath(tmp_path_factory.mktemp("project"))))


def ask(root: Path, query: str, **arguments: Any) -> ToolOutput:
    return EmbeddedProvider(5.0).call("ci_search", {"query": query, **arguments}, str(root), threading.Event())


def failure_of(root: Path, tool: str, arguments: dict[str, Any]) -> ErrorCode:
    with pytest.raises(ToolFailure) as failure:
        EmbeddedProvider().call(tool, arguments, str(root), threading.Event())
    return failure.value.code


CASES = read_groups(Path(__file__).with_name("provider_cases.tsv"))


@pytest.mark.parametrize(("query", "path", "symbol"), CASES["answer"])
def test_search_finds(project: Path, query: str, path: str, symbol: str) -> None:
    """The first finding is the place that the query is about."""
    first = ask(project, query).findings[0]

    assert path == first.path
    assert symbol in ("", first.symbol)


def test_index_status_has_the_state_of_the_index(project: Path, tmp_path: Path) -> None:
    """The status says whether there is an index, before and after it is built; a search then uses it."""
    library = IndexManager(tmp_path)
    provider = EmbeddedProvider(5.0, library)

    def call(tool: str, **arguments: str) -> ToolOutput:
        return provider.call(tool, arguments, str(project), threading.Event())

    before = call("ci_index_status")
    library.build(str(project))
    after = call("ci_index_status")

    assert (False, "scan", "none") == (before.data["indexed"], before.data["mode"], before.data["index"]["state"])
    assert (True, "index", "ready") == (after.data["indexed"], after.data["mode"], after.data["index"]["state"])
    assert "not indexed yet" in before.summary
    assert "index" == call("ci_search", query=CASES["answer"][0][0]).data["mode"]


def test_files_and_symbols_of_the_caller_rank_first(project: Path) -> None:
    """A query that says nothing is answered with what the caller names."""
    vague = "this is slow"

    assert "shop/http/client.py" == ask(project, vague, files=["shop/http/client.py"]).findings[0].path
    assert "shop/http/client.py" == ask(project, vague, files=["http/client.py"]).findings[0].path
    assert "peek_token" in ask(project, vague, symbols=["TokenStream.peek_token"]).findings[0].symbol


def test_findings_have_exactly_their_lines(project: Path) -> None:
    """The text is that of the lines, each shown once; there is one finding for each file, best first."""
    output = ask(project, "save and delete uploaded files in the session, retry, cart, token, permissions")
    shown: set[tuple[str, int]] = set()
    for row in output.findings:
        lines = [line.rstrip() for line in (project / row.path).read_text(encoding="utf-8").splitlines()]
        assert row.why
        for place in row.split_excerpts():
            if place.text:
                numbers = range(place.start_line, place.end_line + 1)
                assert "\n".join(lines[number - 1] for number in numbers) == place.text
                assert not shown & {(row.path, number) for number in numbers}
                shown |= {(row.path, number) for number in numbers}

    assert all(place.optional_score > 0 for row in output.findings for place in row.split_excerpts() if place.text)
    scores = [row.score for row in output.findings]
    assert scores == sorted(scores, reverse=True)
    assert [entry["file"] for entry in output.data["candidates"]] == [row.path for row in output.findings]


def test_a_definition_is_shown_as_a_whole(project: Path) -> None:
    """The best definition is shown completely, and the next best with it."""
    first = ask(project, "deleting a file without a name raises ValueError").findings[0]
    lines = (project / first.path).read_text(encoding="utf-8").splitlines()

    assert "FileSystemStorage.delete" == first.symbol
    assert lines[first.start_line - 1].lstrip().startswith("def delete")
    assert first.text.endswith(lines[first.end_line - 1])
    assert "FileSystemStorage.save" in [excerpt.symbol for excerpt in first.more_excerpts]


def test_texts_stay_short_in_large_files(tmp_path: Path) -> None:
    """Of a long definition only a few lines are shown, and the total is bounded, however large the files are."""
    for name in "abcdefgh":
        body = "\n".join(f"    upload_{name}_{number} = 'upload ' * {number} " + "x" * 600 for number in range(300))
        (tmp_path / f"{name}.py").write_text(f"def upload_{name}():\n{body}\n")
    output = ask(tmp_path, "upload")
    texts = [place.text for row in output.findings for place in row.split_excerpts()]

    assert 8 == len(output.data["candidates"])
    assert 0 < sum(map(len, texts)) <= MAX_CHARS
    assert all(len(line) <= MAX_LINE_CHARS for text in texts for line in text.splitlines())
    assert all(len(text.splitlines()) <= WINDOW_LINES for text in texts)


def test_tests_and_vendored_code_come_last(project: Path) -> None:
    """A test with the same words ranks behind the source, and so does vendored code."""
    paths = [entry["file"] for entry in ask(project, "FileSystemStorage file upload permissions").data["candidates"]]

    assert {"shop/settings.py", "shop/storage.py"} == set(paths[:2])
    assert all(paths.index(path) > 1 for path in ("tests/test_storage.py", "vendor/lib/storage.py") if path in paths)


def test_tests_are_found_when_asked_for(project: Path) -> None:
    """A query for tests finds them next to the source."""
    paths = [entry["file"] for entry in ask(project, "extend the tests of login").data["candidates"]]

    assert {"shop/accounts/login.py", "tests/test_login.py"} <= set(paths[:3])


def test_secrets_are_not_searched(project: Path) -> None:
    """Credential files appear nowhere in an answer."""
    output = ask(project, "FILE_UPLOAD_PERMISSIONS_SECRET hunter2 upload.pem .env", files=[".env", "certs/upload.pem"])
    everything = json.dumps([output.data, *[(row.path, row.text, row.why) for row in output.findings]])

    assert {".env", "certs/upload.pem"}.isdisjoint(row.path for row in output.findings)
    assert "PRIVATE KEY" not in everything
    assert "=hunter2" not in everything


def test_limit_is_the_number_of_files(project: Path) -> None:
    """limit bounds the files of the answer."""
    for limit in (1, 3):
        output = ask(project, "session user file token", limit=limit)

        assert limit == len(output.data["candidates"]) == len({row.path for row in output.findings})


@pytest.mark.parametrize("query", ["zzqy xkcd", "the of and", "？？？", "\x00", "()[]{}\\", "a" * 30_000])
def test_a_query_without_matches_is_answered(project: Path, query: str) -> None:
    """An answer can be empty."""
    output = ask(project, query)

    assert () == output.findings
    assert [] == output.data["candidates"]


def test_an_empty_folder_has_nothing(tmp_path: Path) -> None:
    """An empty folder is searched without an error."""
    assert () == ask(tmp_path, "anything").findings


def test_unusual_files_are_skipped_and_counted(tmp_path: Path) -> None:
    """Pipes, links to the outside, binaries and large files are counted; control characters in names are escaped."""
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "outside.py").write_text("def upload_outside(): pass\n")
    (root / "link.py").symlink_to(tmp_path / "outside.py")
    os.mkfifo(root / "upload_pipe.py")
    (root / "upload_binary.py").write_bytes(b"upload\0")
    (root / "upload_large.py").write_text("upload\n" * 100_000)
    (root / "new\nline \u202eupload.py").write_text("def upload_here(): pass\n")
    (root / os.fsdecode(b"\xff.py")).write_text("def upload_there(): pass\n")
    output = ask(root, "upload in upload_large.py")

    assert {"link": 1, "special": 1, "binary": 1, "large": 1} == output.data["skipped"]
    assert [{"path": "upload_large.py", "size": 700_000}] == output.data["large"]
    assert {"new\\nline \\u202eupload.py", "\\xff.py", "upload_large.py"} == {row.path for row in output.findings}
    assert (
        Finding("upload_large.py", title="700000 bytes, not read", kind="file", score=0.1, why="named in the query")
        == output.findings[-1]
    )
    assert "outside" not in json.dumps([row.text for row in output.findings])


def test_a_search_can_be_cancelled(tmp_path: Path) -> None:
    """A search that is cancelled in the middle fails with a timeout."""
    for number in range(400):
        (tmp_path / f"m{number}.py").write_text(f"def upload_{number}():\n    return 'file'\n")

    checks = 0

    class CancelledLater:
        def is_set(self) -> bool:
            nonlocal checks
            checks += 1
            return checks > 12

    with pytest.raises(ToolFailure) as failure:
        EmbeddedProvider().call("ci_search", {"query": "upload file"}, str(tmp_path), CancelledLater())

    assert ErrorCode.TIMEOUT == failure.value.code
    assert 13 == checks


def test_a_search_out_of_time_ranks_what_it_read(tmp_path: Path) -> None:
    """Without time for everything the answer is partial and says so."""
    for number in range(300):
        (tmp_path / f"m{number:03}.py").write_text("def upload():\n    return 'file'\n" * 50)
    output = EmbeddedProvider(0.0).call("ci_search", {"query": "upload"}, str(tmp_path), threading.Event())

    assert output.truncated
    assert output.data["candidates"]
    assert 0 < output.data["scanned"] < 300


@pytest.mark.parametrize(("tool", "arguments"), CASES["invalid"])
def test_invalid_arguments_are_rejected(project: Path, tool: str, arguments: str) -> None:
    """Wrong types, missing or unknown names, and paths outside of the repository are invalid."""
    assert ErrorCode.INVALID_ARGS == failure_of(project, tool, json.loads(arguments))


def test_a_link_that_leads_out_is_refused(tmp_path: Path) -> None:
    """A path through a link that leads out of the root is invalid."""
    root = tmp_path / "root"
    root.mkdir()
    (root / "out").symlink_to(tmp_path)

    assert ErrorCode.INVALID_ARGS == failure_of(root, "ci_search", {"query": "x", "files": ["out/x.py"]})


def test_absolute_paths_inside_are_relative(project: Path) -> None:
    """An absolute path below the root names the file."""
    output = ask(project, "this is slow", files=[str(project / "worker" / "main.go")])

    assert "worker/main.go" == output.findings[0].path


@pytest.mark.parametrize(
    ("tool", "hint"),
    [
        ("ci_searc", "did you mean 'ci_search'?"),
        ("CI_SEARCH", ""),
        ("x", "there are ci_index_status, ci_search,"),
        ("", "there are ci_index_status, ci_search,"),
    ],
)
def test_an_unknown_tool_is_unavailable(project: Path, tool: str, hint: str) -> None:
    """The failure names the nearest tool, or all of them."""
    with pytest.raises(ToolFailure, match=re.escape(f"there is no tool {tool!r} here; {hint}")) as failure:
        EmbeddedProvider().call(tool, {}, str(project), threading.Event())
    assert ErrorCode.TOOL_UNAVAILABLE == failure.value.code


def test_a_missing_root_is_an_error(tmp_path: Path) -> None:
    """A root that is no folder has its own error code."""
    assert ErrorCode.REPO_ROOT == failure_of(tmp_path / "gone", "ci_index_status", {})


def test_status_describes_the_tree(tmp_path: Path) -> None:
    """The status has the files and their languages, that nothing is indexed, and the branch of HEAD."""
    make_source_tree(tmp_path)
    bare = EmbeddedProvider().call("ci_index_status", {}, str(tmp_path), threading.Event())
    git(tmp_path, "init", "-q", "-b", "trunk")
    tracked = EmbeddedProvider().call("ci_index_status", {}, str(tmp_path), threading.Event())

    assert ("none", "", len(FILES) - 1) == (bare.data["vcs"], bare.data["head"], bare.data["files"])
    assert ("git", "trunk", len(FILES)) == (tracked.data["vcs"], tracked.data["head"], tracked.data["files"])
    assert (False, "scan") == (tracked.data["indexed"], tracked.data["mode"])
    assert {"python": 10, "javascript": 2, "go": 1, "rust": 1, "shell": 1} == tracked.data["languages"]
    assert (
        sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file() and ".git/" not in str(path))
        == (tracked.data["bytes"])
    )
