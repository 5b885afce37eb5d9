"""Measure the shape of source trees: sizes, complexity, duplicate class names, wide lines, comments and type errors.

    python -m benchmarks.shape [--json] [--types] [--list homonyms|complex|wide] [[NAME=]FOLDER[,FOLDER] ...]

Prints a Markdown table with a column for each tree; without arguments it measures ``src/upbeat``, links
followed. Tests are excluded: folders such as ``tests`` and ``testing``, and files such as ``test_*.py``. In Rust trees
only files and lines count.

- A function runs from its ``def`` to its last line, nested functions and methods included.
- ``ruff`` measures cyclomatic complexity (rule C901, the algorithm of ``mccabe``), whatever ``noqa`` comments say.
- A homonym is a public class name with more than one definition in the tree.
- Shares of comments and docstrings are those of non-blank lines.
- ``--types`` counts the errors of ``pyright`` and ``mypy`` in strict mode, in a copy without links; ``mypy`` ignores
  missing imports. ``--python`` names the interpreter that has the packages that the tree imports.
- A tool that is not installed leaves a dash.
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import tokenize
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from . import SOURCE

WIDTH, COMPLEXITY = 100, 10
SUFFIXES = {".py", ".rs"}
TEST_FOLDERS = {"test", "tests", "testing", "typing_tests", "__pycache__"}
TEST_FILE = re.compile(r"(test_.*|.*_tests?|conftest|tests?)\.(py|rs)")
RUST_COMMENT = re.compile(r"\s*//")
MYPY_ERROR = re.compile(r"^(.*?):\d+(?::\d+)?: error: ")
PYTHON_FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)
DOCUMENTED = (ast.Module, ast.ClassDef, *PYTHON_FUNCTION)


@dataclass(frozen=True, slots=True)
class Tree:
    """A named set of folders and the source files in them."""

    name: str
    folders: tuple[Path, ...]
    files: tuple[Path, ...]

    @property
    def python_files(self) -> tuple[Path, ...]:
        """The Python files."""
        return tuple(path for path in self.files if path.suffix == ".py")


@dataclass(slots=True)
class Counts:
    """What one pass over the files of a tree counts."""

    file_lines: list[int] = field(default_factory=list)
    function_lines: list[int] = field(default_factory=list)
    classes: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    wide: list[str] = field(default_factory=list)
    lines: int = 0
    non_blank: int = 0
    comments: int = 0
    docstrings: int = 0
    public: int = 0
    documented: int = 0

    @property
    def homonyms(self) -> dict[str, list[str]]:
        """The public class names that have more than one definition, with their places."""
        return {name: places for name, places in sorted(self.classes.items()) if len(places) > 1}


@dataclass(frozen=True, slots=True)
class Shape:
    """All measures of one tree. None stands for a tool that is missing or a measure that does not apply."""

    tree: Tree
    counts: Counts
    complex_functions: list[str] | None
    pyright_errors: int | None
    mypy_errors: int | None


def is_test(path: Path) -> bool:
    """Return whether a path relative to its tree belongs to tests."""
    return not TEST_FOLDERS.isdisjoint(path.parts[:-1]) or bool(TEST_FILE.fullmatch(path.name))


def source_files(folder: Path) -> Iterator[Path]:
    """Yield the source files below ``folder``, tests excluded, links followed."""
    for where, folders, names in os.walk(folder, followlinks=True):
        folders.sort()
        for name in sorted(names):
            path = Path(where, name)
            if path.suffix in SUFFIXES and path.is_file() and not is_test(path.relative_to(folder)):
                yield path


def read_tree(argument: str) -> Tree:
    """Return the tree that an argument ``[NAME=]FOLDER[,FOLDER]`` names."""
    name, separator, rest = argument.rpartition("=")
    folders = tuple(Path(part).resolve() for part in rest.split(","))
    for folder in folders:
        if not folder.is_dir():
            raise SystemExit(f"{folder} is not a folder")
    files = tuple(path for folder in folders for path in source_files(folder))
    if not files:
        raise SystemExit(f"{argument} holds no source files")
    return Tree(name if separator else folders[0].name, folders, files)


def count(tree: Tree) -> Counts:
    """Count everything that needs no other program."""
    counts = Counts()
    for path in tree.files:
        text = path.read_text(encoding="utf-8", errors="replace")
        lines = text.splitlines()
        counts.file_lines.append(len(lines))
        counts.lines += len(lines)
        counts.non_blank += sum(bool(line.strip()) for line in lines)
        counts.wide += [f"{path}:{n}" for n, line in enumerate(lines, start=1) if len(line) > WIDTH]
        if path.suffix == ".py":
            counts.comments += count_comments(text)
            count_definitions(ast.parse(text), str(path), counts)
        else:
            counts.comments += sum(bool(RUST_COMMENT.match(line)) for line in lines)
    return counts


def count_comments(text: str) -> int:
    """Return the number of lines of a Python file that hold a comment."""
    return sum(token.type == tokenize.COMMENT for token in tokenize.generate_tokens(io.StringIO(text).readline))


def count_definitions(module: ast.Module, path: str, counts: Counts) -> None:
    """Add the functions, public classes and docstrings of a module to ``counts``."""
    for node in ast.walk(module):
        if isinstance(node, PYTHON_FUNCTION):
            counts.function_lines.append((node.end_lineno or node.lineno) - node.lineno + 1)
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            counts.classes[node.name].append(f"{path}:{node.lineno}")
        if isinstance(node, DOCUMENTED):
            docstring = docstring_lines(node)
            counts.docstrings += docstring
            if isinstance(node, ast.Module) or not node.name.startswith("_"):
                counts.public += 1
                counts.documented += bool(docstring)


def docstring_lines(node: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Return the number of lines of a definition's docstring; 0 when there is none."""
    first = node.body[0] if node.body else None
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
        return (first.end_lineno or first.lineno) - first.lineno + 1
    return 0


def find_program(name: str, given: str | None = None) -> str | None:
    """Return the path of a program: the given one, the one beside this interpreter, or the one on the search path."""
    return given or shutil.which(name, path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")


def find_complex_functions(tree: Tree) -> list[str] | None:
    """Return the functions whose cyclomatic complexity exceeds ``COMPLEXITY``."""
    program = find_program("ruff")
    if program is None or not tree.python_files:
        return None
    command = [program, "check", "--isolated", "--ignore-noqa", "--no-cache", "--select=C901", "--output-format=json"]
    command += ["--config", f"lint.mccabe.max-complexity={COMPLEXITY}", *map(str, tree.python_files)]
    findings = json.loads(subprocess.run(command, capture_output=True, text=True).stdout)
    found = [one for one in findings if one["code"] == "C901"]
    return [f"{one['filename']}:{one['location']['row']}: {one['message']}" for one in found]


def copy_tree(tree: Tree, target: Path) -> list[str]:
    """Copy the folders of a tree to ``target`` with links resolved; return their names there."""
    for folder in tree.folders:
        shutil.copytree(folder, target / folder.name, ignore=shutil.ignore_patterns("__pycache__", ".git"))
    return [folder.name for folder in tree.folders]


def count_pyright_errors(tree: Tree, program: str | None, python: str) -> int | None:
    """Return the number of errors of ``pyright`` in strict mode."""
    program = find_program("pyright", program)
    if program is None or not tree.python_files:
        return None
    with tempfile.TemporaryDirectory() as name:
        copy = Path(name).resolve()
        settings = {"include": copy_tree(tree, copy), "typeCheckingMode": "strict"}
        Path(copy, "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
        command = [os.path.abspath(program), "--outputjson", "--pythonpath", python, "--project", str(copy)]
        output = json.loads(subprocess.run(command, capture_output=True, text=True, cwd=copy).stdout)
    if not output["summary"]["filesAnalyzed"]:
        raise SystemExit(f"pyright analyzed no file of {tree.name}")
    errors = [Path(one["file"]).relative_to(copy) for one in output["generalDiagnostics"] if one["severity"] == "error"]
    return sum(not is_test(path) for path in errors)


def count_mypy_errors(tree: Tree, python: str) -> int | None:
    """Return the number of errors of ``mypy --strict``."""
    program = find_program("mypy")
    if program is None or not tree.python_files:
        return None
    with tempfile.TemporaryDirectory() as copy, tempfile.TemporaryDirectory() as cache:
        command = [program, "--strict", "--config-file=", "--ignore-missing-imports", f"--cache-dir={cache}"]
        command += [f"--python-executable={python}", "--no-error-summary", *copy_tree(tree, Path(copy))]
        done = subprocess.run(command, capture_output=True, text=True, cwd=copy)
    if done.returncode not in (0, 1):
        raise SystemExit(f"mypy cannot check {tree.name}:\n{done.stdout}{done.stderr}")
    found = (MYPY_ERROR.match(line) for line in done.stdout.splitlines())
    return sum(not is_test(Path(match[1])) for match in found if match)


def measure(tree: Tree, options: argparse.Namespace) -> Shape:
    """Measure one tree."""
    pyright = count_pyright_errors(tree, options.pyright, options.python) if options.types else None
    mypy = count_mypy_errors(tree, options.python) if options.types else None
    return Shape(tree, count(tree), find_complex_functions(tree), pyright, mypy)


def spread(values: Sequence[int]) -> tuple[int, int, int] | None:
    """Return the median, the 95th percentile and the maximum."""
    if not values:
        return None
    return round(statistics.median(values)), sorted(values)[int(0.95 * (len(values) - 1))], max(values)


def share(part: int, whole: int) -> float:
    """Return ``part`` in percent of ``whole``."""
    return round(100 * part / whole, 1) if whole else 0.0


MEASURES: dict[str, Callable[[Shape], object]] = {
    "files": lambda s: len(s.tree.files),
    "lines": lambda s: s.counts.lines,
    "file lines, median / p95 / max": lambda s: spread(s.counts.file_lines),
    "functions": lambda s: len(s.counts.function_lines) if s.tree.python_files else None,
    "function lines, median / p95 / max": lambda s: spread(s.counts.function_lines),
    f"functions of complexity over {COMPLEXITY}": lambda s: (
        None if s.complex_functions is None else len(s.complex_functions)
    ),
    "the same, % of functions": lambda s: (
        None if s.complex_functions is None else share(len(s.complex_functions), len(s.counts.function_lines))
    ),
    "public classes": lambda s: sum(map(len, s.counts.classes.values())) if s.tree.python_files else None,
    "homonyms (public class names)": lambda s: len(s.counts.homonyms) if s.tree.python_files else None,
    f"lines over {WIDTH} wide": lambda s: len(s.counts.wide),
    "the same, % of lines": lambda s: share(len(s.counts.wide), s.counts.lines),
    "comment lines, %": lambda s: share(s.counts.comments, s.counts.non_blank),
    "docstring lines, %": lambda s: share(s.counts.docstrings, s.counts.non_blank) if s.tree.python_files else None,
    "public definitions with a docstring, %": lambda s: (
        share(s.counts.documented, s.counts.public) if s.tree.python_files else None
    ),
    "pyright strict errors": lambda s: s.pyright_errors,
    "pyright strict errors per 1,000 lines": lambda s: per_thousand(s.pyright_errors, s),
    "mypy strict errors": lambda s: s.mypy_errors,
    "mypy strict errors per 1,000 lines": lambda s: per_thousand(s.mypy_errors, s),
}


def per_thousand(errors: int | None, shape: Shape) -> float | None:
    """Return ``errors`` per 1,000 lines."""
    return None if errors is None else round(1000 * errors / shape.counts.lines, 1)


def shown(value: object) -> str:
    """Return a measure as a table cell."""
    if isinstance(value, tuple):
        return " / ".join(map(str, value))
    return "–" if value is None else f"{value:,}" if isinstance(value, int) else str(value)


def table(shapes: list[Shape], *, types: bool) -> str:
    """Return the measures as a Markdown table."""
    rows = ["| measure |" + "".join(f" {shape.tree.name} |" for shape in shapes), "|---|" + "---:|" * len(shapes)]
    for name, value in MEASURES.items():
        if types or "strict errors" not in name:
            rows.append(f"| {name} |" + "".join(f" {shown(value(shape))} |" for shape in shapes))
    return "\n".join(rows)


def listing(shape: Shape, what: str) -> str:
    """Return the places behind one measure."""
    match what:
        case "homonyms":
            lines = [f"{name}: {', '.join(places)}" for name, places in shape.counts.homonyms.items()]
        case "complex":
            lines = shape.complex_functions or []
        case _:
            lines = shape.counts.wide
    return "\n".join(lines)


def main() -> None:
    """Print the table, or the places behind one measure."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("trees", nargs="*", metavar="[NAME=]FOLDER[,FOLDER]", help="default: src/upbeat")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--list", choices=("homonyms", "complex", "wide"), help="list the places behind one measure")
    parser.add_argument("--types", action="store_true", help="count the errors of pyright and mypy in strict mode")
    parser.add_argument("--python", default=sys.executable, help="interpreter with the packages that the trees import")
    parser.add_argument("--pyright", help="the pyright program, if it is not on the search path")
    parser.add_argument("--quick", action="store_true", help="no effect: without --types it takes a few seconds")
    options = parser.parse_args()
    trees = options.trees or [f"upbeat={SOURCE / 'upbeat'}"]
    shapes = [measure(read_tree(argument), options) for argument in trees]
    if options.json:
        values = {shape.tree.name: {name: value(shape) for name, value in MEASURES.items()} for shape in shapes}
        print(json.dumps(values, indent=2))
    elif options.list:
        print("\n".join(listing(shape, options.list) for shape in shapes))
    else:
        print(table(shapes, types=options.types))


if __name__ == "__main__":
    main()
