# Everything that people and CI run. `just` lists it; each line works without just, too.

python := ".venv/bin/python"

default:
    @just --list

# the default suite: no node, no network, about two minutes on two processors
test *args:
    ./install.sh test {{ args }}

# codex-auto on a pty, with a fake Codex behind it
terminal *args:
    {{ python }} -m pytest -m terminal {{ args }}

# the real clients against model stubs, in a network namespace with loopback only
e2e *args:
    {{ python }} -m pytest tests/e2e -m e2e {{ args }}

# try every promise as often as docs/promises.md says, and write down what was seen (an hour)
promises *args:
    PYTHONPATH=tests {{ python }} -m reliability {{ args }}

# linters and types
lint:
    .ci/lint

# write every generated file anew
generate:
    {{ python }} tests/golden.py

# known vulnerabilities in what a user installs; says so where advisories cannot be reached
audit *args:
    {{ python }} -m pip install --quiet --editable '.[release]'
    {{ python }} .ci/audit.py {{ args }}

# wheel, sdist, SBOM and checksums of the last commit, built several times and compared
release out="dist":
    {{ python }} -m pip install --quiet --editable '.[release]'
    {{ python }} .ci/audit.py
    {{ python }} .ci/release.py {{ out }}

# what a turn costs, beside other programs
bench:
    {{ python }} benchmarks/turn.py

# mutation score of core/turn
mutate:
    benchmarks/mutation.sh

check: lint test
