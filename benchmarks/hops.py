"""Count the product functions and modules that one event passes through, for three paths.

    python -m benchmarks.hops [--json] [--list PATH_NAME]

Each path runs twice to load modules and fill caches, then once under a profile hook in all threads. The count covers
everything between the first payload byte and the last output byte in this process:

- ``deny``: a rule of the user denies a shell command (PreToolUse payload of Claude Code).
- ``prompt``: a prompt about code (UserPromptSubmit payload of Claude Code) in a git repository that has an index.
- ``codex-auto``: ``codex-auto --once PROMPT --transport exec``, from its command line to its exit code, with a fake
  Codex and no index.

A product function is a (file, qualified name) pair of a code object in ``core/`` or ``adapters/`` of this checkout;
a module counts when at least one such function runs. Lambdas, comprehensions, generator expressions, module and class
bodies and generated methods (``__init__`` of a dataclass) do not count. Child processes do not count.
Every path has a temporary home and repository and reads nothing of the user's.
"""

from __future__ import annotations

import argparse
import contextlib
import inspect
import json
import os
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import CodeType, FrameType

from repositories import PROMPT, make_repository

# The only product names in this file.
from upbeat.adapters.codex_auto.app.main import main as run_codex_auto
from upbeat.adapters.hook_entry.answer import answer_payload
from upbeat.adapters.system.environment import read_environment
from upbeat.adapters.wiring import Application, build_application

from . import ROOT, SOURCE, TESTS

PRODUCT = tuple(path.resolve() for path in (SOURCE / "upbeat").iterdir() if path.is_symlink())
"""The folders of the product: ``core`` and ``adapters``, which ``src/upbeat`` links to."""
FAKE_CODEX = TESTS / "fakes" / "codex" / "codex.py"
CLIENT = "claude-code"
WARM_RUNS = 2
SETTLE_SECONDS = 0.1
"""Files that have just changed are not cached: their next change could bear the same time stamp."""
RULE = "---\nevent: before-tool\ntool: shell\npattern: rm\\s+-rf\naction: deny\n---\nRemove files one by one.\n"

Run = Callable[[], None]


@dataclass(frozen=True, slots=True)
class Target:
    """The counts that a path is to stay below."""

    functions: int
    modules: int


@dataclass(frozen=True, slots=True)
class Count:
    """The product functions of one traced run, by module."""

    path: str
    target: Target
    functions_by_module: Mapping[str, tuple[str, ...]]

    @property
    def functions(self) -> int:
        """The number of distinct functions."""
        return sum(map(len, self.functions_by_module.values()))

    @property
    def modules(self) -> int:
        """The number of distinct modules."""
        return len(self.functions_by_module)


@dataclass(slots=True)
class Recorder:
    """A profile hook that collects the code objects of all calls while ``is_recording``."""

    codes: set[CodeType] = field(default_factory=set)
    is_recording: bool = False

    def __call__(self, frame: FrameType, event: str, _argument: object) -> None:
        """Record a call."""
        if self.is_recording and event == "call":
            self.codes.add(frame.f_code)

    @contextlib.contextmanager
    def in_all_threads(self) -> Iterator[None]:
        """Profile this thread and every thread that starts from now on."""
        threading.setprofile(self)
        sys.setprofile(self)
        try:
            yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)


@cache
def product_file(filename: str) -> str | None:
    """Return the path of a product file relative to the checkout, or None for any other file."""
    path = Path(filename).resolve()
    is_product = any(path.is_relative_to(folder) for folder in PRODUCT)
    return str(path.relative_to(ROOT)) if is_product else None


def is_function(code: CodeType) -> bool:
    """Return whether ``code`` belongs to a named function, as opposed to a lambda, comprehension or class body."""
    return bool(code.co_flags & inspect.CO_OPTIMIZED) and not code.co_name.startswith("<")


def group_by_module(codes: set[CodeType]) -> dict[str, tuple[str, ...]]:
    """Return the names of the product functions among ``codes``, by module."""
    names: defaultdict[str, set[str]] = defaultdict(set)
    for code in codes:
        module = product_file(code.co_filename)
        if module and is_function(code):
            names[module].add(code.co_qualname)
    return {module: tuple(sorted(names[module])) for module in sorted(names)}


@contextlib.contextmanager
def sandbox() -> Iterator[tuple[Path, Path]]:
    """Yield a home and a git repository; the environment and the working directory point there meanwhile."""
    before, directory = dict(os.environ), os.getcwd()
    with tempfile.TemporaryDirectory(prefix="upbeat-hops-") as name:
        folder = Path(name).resolve()
        home, repository = folder / "home", make_repository(folder / "shop")
        (home / "tmp").mkdir(parents=True)
        os.environ.clear()
        path = f"{folder / 'bin'}:/usr/local/bin:/usr/bin:/bin"
        os.environ.update(PATH=path, HOME=str(home), TMPDIR=str(home / "tmp"), LANG="C.UTF-8")
        os.chdir(repository)
        try:
            yield home, repository
        finally:
            os.chdir(directory)
            os.environ.clear()
            os.environ.update(before)


def payload(repository: Path, event: str, **fields: object) -> bytes:
    """Return a hook payload of Claude Code."""
    common = {"session_id": "hops", "cwd": str(repository), "transcript_path": "", "permission_mode": "default"}
    return json.dumps({**common, "hook_event_name": event, **fields}).encode()


@contextlib.contextmanager
def session_application() -> Iterator[Application]:
    """Yield the application as the server of a session builds it."""
    application = build_application(read_environment(), is_long_lived=True)
    try:
        yield application
    finally:
        application.close()


@contextlib.contextmanager
def deny() -> Iterator[Run]:
    """Yield a run of the path ``deny``."""
    with sandbox() as (home, repository), session_application() as application:
        rules = home / ".config" / "upbeat" / "rules"
        rules.mkdir(parents=True)
        (rules / "no-rm.md").write_text(RULE, encoding="utf-8")
        call = payload(repository, "PreToolUse", tool_name="Bash", tool_input={"command": "rm -rf build"})

        def run() -> None:
            output = json.loads(answer_payload(CLIENT, call, application))
            assert output["hookSpecificOutput"]["permissionDecision"] == "deny", output

        yield run


@contextlib.contextmanager
def prompt() -> Iterator[Run]:
    """Yield a run of the path ``prompt``."""
    with sandbox() as (_home, repository), session_application() as application:
        assert application.index_manager is not None
        application.index_manager.build(str(repository))
        event = payload(repository, "UserPromptSubmit", prompt=PROMPT)

        def run() -> None:
            output = json.loads(answer_payload(CLIENT, event, application))
            assert "send_with_retry" in output["hookSpecificOutput"]["additionalContext"], output

        yield run


@contextlib.contextmanager
def codex_auto() -> Iterator[Run]:
    """Yield a run of the path ``codex-auto``."""
    with sandbox() as (home, _repository):
        program, records = home.parent / "bin" / "codex", home.parent / "codex"
        records.mkdir()
        program.parent.mkdir()
        interpreter = os.path.realpath(sys.executable)
        program.write_text(f"#!{interpreter} -IS\n{FAKE_CODEX.read_text(encoding='utf-8')}", encoding="utf-8")
        program.chmod(0o755)
        os.environ["FAKE_CODEX"] = str(records)

        def run() -> None:
            log = home / "output"
            with (
                log.open("w", encoding="utf-8") as output,
                contextlib.redirect_stdout(output),
                contextlib.redirect_stderr(output),
            ):
                code = run_codex_auto(["--once", PROMPT, "--transport", "exec"])
            assert code == 0, log.read_text(encoding="utf-8")
            call = json.loads((records / "calls.jsonl").read_text(encoding="utf-8").splitlines()[-1])
            assert "shop/retry.py" in call["stdin"], call

        yield run


PATHS: dict[str, tuple[Callable[[], AbstractContextManager[Run]], Target]] = {
    "deny": (deny, Target(110, 35)),
    "prompt": (prompt, Target(350, 75)),
    "codex-auto": (codex_auto, Target(800, 140)),
}


def trace(name: str) -> Count:
    """Run a path until it is warm, then count the functions of one more run."""
    open_path, target = PATHS[name]
    recorder = Recorder()
    with recorder.in_all_threads(), open_path() as run:
        time.sleep(SETTLE_SECONDS)
        for _ in range(WARM_RUNS):
            run()
        recorder.is_recording = True
        run()
        recorder.is_recording = False
    return Count(name, target, group_by_module(recorder.codes))


def table(counts: list[Count]) -> str:
    """Return the counts as a Markdown table."""
    rows = ["| path | functions | target | modules | target |", "|---|---:|---:|---:|---:|"]
    rows += [f"| {c.path} | {c.functions} | {c.target.functions} | {c.modules} | {c.target.modules} |" for c in counts]
    return "\n".join(rows)


def listing(count: Count) -> str:
    """Return every function of a path, grouped by module."""
    lines: list[str] = []
    for module, names in count.functions_by_module.items():
        lines += [f"{module} ({len(names)})", *(f"  {name}" for name in names)]
    return "\n".join(lines)


def as_json(count: Count, *, lists: bool) -> dict[str, object]:
    """Return a count as JSON values, with the functions by module if ``lists``."""
    target = {"functions": count.target.functions, "modules": count.target.modules}
    values = {"path": count.path, "functions": count.functions, "modules": count.modules, "target": target}
    return values | ({"functions_by_module": dict(count.functions_by_module)} if lists else {})


def main() -> None:
    """Print the counts of all paths, or the functions of one."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")
    parser.add_argument("--list", choices=PATHS, metavar="PATH_NAME", help=f"list one path: {', '.join(PATHS)}")
    parser.add_argument("--quick", action="store_true", help="no effect: this benchmark always takes a few seconds")
    options = parser.parse_args()
    counts = [trace(name) for name in ([options.list] if options.list else PATHS)]
    if options.json:
        print(json.dumps([as_json(count, lists=bool(options.list)) for count in counts], indent=2))
        return
    if options.list:
        print(listing(counts[0]) + "\n")
    print(table(counts))


if __name__ == "__main__":
    main()
