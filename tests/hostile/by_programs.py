"""Repositories that would be run themselves: modules, interpreters and programs by the names of others."""

from __future__ import annotations

from .place import Place

MODULES = ("sitecustomize", "usercustomize", "json", "re", "apsw", "tomli", "pathspec", "conftest", "setup", "mcp")
PACKAGES = ("core", "adapters", "upbeat", "config", "re2", "dulwich", "tree_sitter", "core/contract", "adapters/cli")
PROGRAMS = ("git", "rg", "python3", "python", "sh", "node", "codex", "claude", "tmux", "notify-send", "osascript", "ps")


def modules(place: Place) -> None:
    """Modules and packages by our names and those of libraries, with a PYTHONPATH of empty entries."""
    _bait(place)
    place.variables |= {"PYTHONPATH": ":.:", "PYTHONSTARTUP": "json.py", "PYTHONHOME": ""}


def programs(place: Place) -> None:
    """Programs by the names of others, with a PATH of empty and relative entries."""
    for name in PROGRAMS:
        place.trap(name)
    place.variables["PATH"] = "::.:./:"


def programs_of_an_environment(place: Place) -> None:
    """Programs in a virtual environment of the repository, which comes first in PATH by its whole name."""
    for name in PROGRAMS:
        place.trap(f".venv/bin/{name}")
    (place.root / ".venv/pyvenv.cfg").write_text("home = /usr/bin\n")
    place.variables |= {"PATH": f"{place.root}/.venv/bin:", "VIRTUAL_ENV": str(place.root / ".venv")}


def programs_by_a_link(place: Place) -> None:
    """A folder outside in PATH that is a link into the repository."""
    for name in PROGRAMS:
        place.trap(f"tools/{name}")
    (place.base / "bin").symlink_to(place.root / "tools")
    place.variables["PATH"] = f"{place.base}/bin:"


def projects(place: Place) -> None:
    """Files that tools of a project would run: settings of Python, a build, a test run, an editor and a shell."""
    _bait(place)
    trap = place.trap("bin/project")
    place.put(
        {
            "pyproject.toml": f'[build-system]\nrequires = []\nbuild-backend = "{trap}"\nbackend-path = ["."]\n',
            "pytest.ini": "[pytest]\naddopts = -p json\n",
            ".envrc": f"{trap}\n",
            ".env": f"PATH=.\nBASH_ENV={trap}\nGIT_EXTERNAL_DIFF={trap}\nCI_AUTO_TOOLS_REPO_ROOT={place.outside}\n",
            "package.json": f'{{"scripts": {{"preinstall": "{trap}", "test": "{trap}"}}}}',
            "Makefile": f"all:\n\t{trap}\n",
            ".vscode/tasks.json": f'{{"tasks": [{{"command": "{trap}", "runOptions": {{"runOn": "folderOpen"}}}}]}}',
            "evil.pth": f"import os; os.system({trap!r})\n",
        }
    )


def variables_of_git(place: Place) -> None:
    """An environment in which git is told to run programs, as a shell left it in a repository may be."""
    trap = place.trap("bin/variable")
    names = (
        "GIT_EXTERNAL_DIFF",
        "GIT_PAGER",
        "GIT_EDITOR",
        "GIT_SSH_COMMAND",
        "GIT_ASKPASS",
        "PAGER",
        "GIT_PROXY_COMMAND",
    )
    place.variables |= dict.fromkeys(names, trap)
    place.variables |= {"GIT_DIR": str(place.outside / "private/.git"), "GIT_WORK_TREE": str(place.outside)}
    place.variables |= {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.fsmonitor", "GIT_CONFIG_VALUE_0": trap}


def _bait(place: Place) -> None:
    mark = f"import os; open(os.path.join({str(place.marks)!r}, __name__.replace('.', '_')), 'a').close()\n"
    for package in PACKAGES:
        place.put({f"{package}/__init__.py": mark, f"{package}/__main__.py": mark})
    place.put({f"{module}.py": mark for module in MODULES})


FIXTURES = (
    modules,
    programs,
    programs_of_an_environment,
    programs_by_a_link,
    projects,
    variables_of_git,
)
