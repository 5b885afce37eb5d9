"""See which command a container runs, and whether the tree that is tested is mounted in it."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from upbeat.core.shell.expand import UNKNOWN
from upbeat.core.shell.paths import Script
from upbeat.core.workflow.evidence.runner_calls import PROGRAM_FOLDERS, ProjectFiles, is_below, word_set
from upbeat.core.workflow.evidence.task_files import parse_yaml

ENGINES = frozenset({"docker", "podman", "nerdctl", "docker-compose", "podman-compose", "finch"})
COMPOSE_FILES = ("compose.yaml", "compose.yml", "docker-compose.yml", "docker-compose.yaml")
PLACE = "container"

_VALUE_OPTIONS = word_set("container_value_options")


@dataclass(frozen=True, slots=True)
class ContainerCommand:
    """What runs in a container. ``problem``: why its tree is not the tested one."""

    scripts: tuple[Script, ...] = ()
    problem: str = ""
    detail: str = ""
    command: tuple[str, ...] = ()
    """What would run, if the project names the container."""


@dataclass
class _Options:
    values: list[tuple[str, str]] = field(default_factory=list)
    flags: set[str] = field(default_factory=set)
    rest: list[str] = field(default_factory=list)

    def all(self, *names: str) -> list[str]:
        return [value for name, value in self.values if name in names]


def read_container_command(
    words: Sequence[str], cwd: str, root: str, files: ProjectFiles, built_images: Sequence[str]
) -> ContainerCommand | None:
    """Return what ``docker run``, ``docker compose run`` and ``exec`` run; None for other commands."""
    name = posixpath.basename(words[0])
    if name != words[0] and not PROGRAM_FOLDERS.search(words[0]):
        return None  # another program of that name
    if name == "devcontainer" and words[1:2] == ("exec",):
        return _devcontainer(words[2:], cwd, root, files)
    if name not in ENGINES:
        return None
    rest = list(words[1:])
    is_compose = name.endswith("-compose") or rest[:1] == ["compose"]
    outer = _parse(rest[1:] if rest[:1] == ["compose"] else rest)
    if is_compose and outer.rest[:1] == ["up"] and "--exit-code-from" in " ".join(outer.rest):
        options = _parse(outer.rest[1:], ("--exit-code-from",))
        return _compose(outer, _Options(rest=options.all("--exit-code-from")), cwd, root, files)
    if not outer.rest or outer.rest[0] not in ("run", "exec"):
        return None
    inner = _parse(outer.rest[1:])
    if not inner.rest:
        return None
    if {"-d", "--detach"} & inner.flags:
        return ContainerCommand(problem="container_detached")
    if entry := inner.all("--entrypoint"):
        return ContainerCommand(problem="container_entrypoint", detail=entry[0])
    if is_compose:
        return _compose(outer, inner, cwd, root, files)
    if outer.rest[0] == "exec":
        return _named_container(inner, root, files)
    mounts = dict(_mounts(inner, cwd))
    if inner.rest[0] in built_images:
        mounts = mounts or {posixpath.normpath(cwd): (inner.all("-w", "--workdir") or [root])[0]}
    return _command(inner, inner.rest[1:], mounts, (inner.all("-w", "--workdir") or [""])[-1], root)


def _devcontainer(words: Sequence[str], cwd: str, root: str, files: ProjectFiles) -> ContainerCommand | None:
    """``devcontainer exec``: it mounts the workspace."""
    options = _parse(words, ("--workspace-folder", "--config", "--id-label", "--container-id"))
    folder = posixpath.normpath(posixpath.join(cwd, (options.all("--workspace-folder") or ["."])[0]))
    if not is_below(folder, root) or not files.exists(".devcontainer") or not options.rest:
        return ContainerCommand(problem="container_tree", detail="devcontainer")
    return ContainerCommand((Script(shlex.join(options.rest), folder, "container", place=PLACE),))


def built_image(words: Sequence[str], cwd: str, root: str) -> str:
    """Return the name of the image that ``docker build -t NAME .`` builds of the tested tree."""
    if posixpath.basename(words[0]) not in ENGINES or "build" not in words[1:3]:
        return ""
    options = _parse(
        [word for word in words[1:] if word not in ("build", "buildx", "image")],
        ("-t", "--tag", "--target", "--build-arg"),
    )
    tags = options.all("-t", "--tag")
    context = posixpath.normpath(posixpath.join(cwd, options.rest[-1])) if options.rest else UNKNOWN
    return tags[0] if tags and is_below(root, context) else ""


def _parse(words: Sequence[str], more: Sequence[str] = ()) -> _Options:
    """Split options from the rest; the first word that is no option ends them."""
    options = _Options()
    at = 0
    while at < len(words) and words[at].startswith("-") and words[at] != "--":
        word = words[at]
        option, separator, value = word.partition("=")
        short = re.match(r"^(-[vwepuf])(\S+)$", word) if not word.startswith("--") and not separator else None
        if separator and word.startswith("--"):
            options.values.append((option, value))
        elif word in _VALUE_OPTIONS or word in more:
            options.values.append((word, words[at + 1] if at + 1 < len(words) else ""))
            at += 1
        elif short and not re.fullmatch(r"-[itdT]+", word):
            options.values.append((short[1], short[2]))
        else:
            options.flags.add(word)
        at += 1
    options.rest = [word for word in words[at:] if word != "--"] if words[at : at + 1] == ["--"] else list(words[at:])
    return options


def _mounts(options: _Options, cwd: str) -> Iterator[tuple[str, str]]:
    """Yield (folder here, folder in the container)."""
    for value in options.all("-v", "--volume"):
        source, _, target = value.partition(":")
        if target and (source.startswith((".", "/")) and UNKNOWN not in source):
            yield posixpath.normpath(posixpath.join(cwd, source)), target.split(":")[0]
    for value in options.all("--mount"):
        pairs = dict(part.partition("=")[::2] for part in value.split(","))
        source = pairs.get("source") or pairs.get("src", "")
        target = pairs.get("target") or pairs.get("destination") or pairs.get("dst", "")
        if source and target and UNKNOWN not in source:
            yield posixpath.normpath(posixpath.join(cwd, source)), target


def _command(
    options: _Options, command: Sequence[str], mounts: Mapping[str, str], workdir: str, root: str
) -> ContainerCommand:
    mount = next(
        ((here, there) for here, there in mounts.items() if is_below(root, here) or is_below(here, root)), None
    )
    if mount is None:
        return ContainerCommand(problem="container_tree", detail=" ".join(options.rest[:1]))
    here, there = mount
    inside = posixpath.normpath(workdir) if workdir else there
    if not is_below(inside, posixpath.normpath(there)):
        return ContainerCommand(problem="container_tree", detail=inside)
    folder = posixpath.normpath(posixpath.join(here, posixpath.relpath(inside, there)))
    if not command:
        return ContainerCommand(problem="container_command", detail=" ".join(options.rest[:1]))
    inner = re.compile(rf"(?<![\w./-]){re.escape(there.rstrip('/') or '/')}(?=$|[/\s'\";&|):])")
    mapped = [inner.sub(lambda _: here, word) for word in command]
    env = tuple(tuple(value.partition("=")[::2]) for value in options.all("-e", "--env") if "=" in value)
    script = Script(shlex.join(mapped), folder, "container", env=env, place=PLACE)  # type: ignore[arg-type]
    return ContainerCommand((script,))


def _compose(outer: _Options, inner: _Options, cwd: str, root: str, files: ProjectFiles) -> ContainerCommand:
    named = (
        outer.all("-f", "--file") or [name for name in COMPOSE_FILES if _read(files, cwd, name, root) is not None][:1]
    )
    base = cwd
    if not named:  # compose also looks in the folders above
        base = root
        named = [name for name in COMPOSE_FILES if files.read(name) is not None][:1]
    service: dict[str, Any] = {}
    for name in named:
        services = parse_yaml(_read(files, base, name, root) or "").get("services")
        found = services.get(inner.rest[0]) if isinstance(services, dict) else None
        service |= found if isinstance(found, dict) else {}
        base = posixpath.dirname(posixpath.normpath(posixpath.join(base, name))) if name == named[0] else base
    mounts = dict([*_service_mounts(service, base), *_mounts(inner, cwd)])
    built = str(
        service.get("build", {}).get("context", "")
        if isinstance(service.get("build"), dict)
        else service.get("build", "")
    )
    if not mounts and "--build" in inner.flags and built:
        folder = posixpath.normpath(posixpath.join(base, built))
        mounts = {folder: str(service.get("working_dir") or "/app")}
    workdir = (inner.all("-w", "--workdir") or [str(service.get("working_dir") or "")])[-1]
    command = inner.rest[1:]
    if not command and "command" in service:
        own = service["command"]
        command = [str(word) for word in own] if isinstance(own, list) else shlex.split(str(own))
    environment = service.get("environment", {})
    pairs = environment if isinstance(environment, list) else [f"{name}={value}" for name, value in environment.items()]
    inner.values += [("-e", str(pair)) for pair in pairs]
    if service.get("entrypoint"):
        return ContainerCommand(problem="container_entrypoint", detail=str(service["entrypoint"])[:40])
    return _command(inner, command, mounts, workdir, root)


def _service_mounts(service: Mapping[str, Any], base: str) -> Iterator[tuple[str, str]]:
    volumes = service.get("volumes")
    for volume in volumes if isinstance(volumes, list) else []:
        if isinstance(volume, dict):
            source, target = str(volume.get("source", "")), str(volume.get("target", ""))
        else:
            parts = str(volume).split(":")
            source, target = (parts[0], parts[1]) if len(parts) > 1 else ("", "")
        if source.startswith((".", "/", "$PWD", "${PWD")):
            source = re.sub(r"^\$\{?PWD[^/}]*\}?", ".", source)
            yield posixpath.normpath(posixpath.join(base, source)), target


def _named_container(options: _Options, root: str, files: ProjectFiles) -> ContainerCommand:
    """``docker exec NAME``: only a container that the project's compose file names."""
    for name in COMPOSE_FILES:
        services = parse_yaml(_read(files, root, name, root) or "").get("services")
        for service in services.values() if isinstance(services, dict) else ():
            if isinstance(service, dict) and service.get("container_name") == options.rest[0]:
                workdir = (options.all("-w", "--workdir") or [str(service.get("working_dir") or "")])[-1]
                return _command(options, options.rest[1:], dict(_service_mounts(service, root)), workdir, root)
    return ContainerCommand((), "container_unnamed", options.rest[0], tuple(options.rest[1:]))


def _read(files: ProjectFiles, folder: str, name: str, root: str) -> str | None:
    path = posixpath.normpath(posixpath.join(folder, name))
    return files.read(posixpath.relpath(path, root)) if is_below(path, root) else None
