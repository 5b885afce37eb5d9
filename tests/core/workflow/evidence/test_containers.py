"""Which command a container runs, and whether the tested tree is mounted in it."""

from __future__ import annotations

import pytest
from project_files import Project, proven_programs

from upbeat.core.workflow.evidence.containers import built_image, read_container_command

COMPOSE = """services:
  app: {build: ., working_dir: /app, volumes: [".:/app"], container_name: shop-app}
  sub: {image: x, volumes: [{type: bind, source: ./sub, target: /sub}], command: [pytest, -q]}
  bare: {image: x}
  shell: {image: x, volumes: [".:/app"], entrypoint: /x}
"""


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("docker run --rm -v $PWD:/app -w /app x pytest", "pytest"),
        ("docker run --mount type=bind,source=/repo,target=/app -w /app x pytest", "pytest"),
        ("podman run -v .:/app:Z --workdir=/app/sub x sh -c 'pytest -q'", "pytest -q"),
        ("docker run -v /repo:/app -w /app x pytest /app/tests", "pytest /repo/tests"),
        ("docker compose run --rm app pytest", "pytest"),
        ("docker-compose -f compose.yaml exec -T app pytest", "pytest"),
        ("docker compose run sub", "pytest -q"),
        ("docker exec -it shop-app pytest", "pytest"),
        ("docker build -t shop . && docker run --rm shop pytest", "pytest"),
    ],
)
def test_the_tree_is_mounted(command: str, expected: str) -> None:
    """The command runs on the tested tree, in the folder that the mount stands for."""
    assert expected in proven_programs(command, {"compose.yaml": COMPOSE})


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        ("docker run x pytest", "container_tree"),
        ("docker run -v /tmp/x:/app -w /app x pytest", "container_tree"),
        ("docker run -v /repo:/app -w /srv x pytest", "container_tree"),
        ("docker run -d -v /repo:/app x pytest", "container_detached"),
        ("docker run -v /repo:/app --entrypoint true x pytest", "container_entrypoint"),
        ("docker run -v /repo:/app x", "container_command"),
        ("docker compose run bare pytest", "container_tree"),
        ("docker compose run shell pytest", "container_entrypoint"),
        ("docker exec other pytest", "container_unnamed"),
    ],
)
def test_why_it_is_not(command: str, problem: str) -> None:
    """Another tree, another folder or another program is named as the problem."""
    found = read_container_command(command.split(), "/repo", "/repo", Project({"compose.yaml": COMPOSE}), ())

    assert found is not None
    assert problem == found.problem


def test_other_commands() -> None:
    """Commands that run nothing in a container are not read."""
    for command in ("docker ps", "docker compose up", "ls", "docker run"):
        assert read_container_command(command.split(), "/repo", "/repo", Project(), ()) is None
    assert ("x", "") == tuple(
        built_image(line.split(), "/repo", "/repo") for line in ("docker build -t x .", "docker ps")
    )
