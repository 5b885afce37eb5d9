# The commands that contributors and CI run. `just` lists them; each also works without just.

python := ".venv/bin/python"

default:
    @just --list

# the default suite: no Node.js, no network, about 90 seconds on two cores
test *args:
    ./install.sh test {{ args }}

# codex-auto on a pty, with a fake Codex behind it
terminal *args:
    {{ python }} -m pytest -m terminal {{ args }}

# the real clients against model stubs, in a network namespace with loopback only
e2e *args:
    {{ python }} -m pytest tests/e2e -m e2e {{ args }}

# test every promise of docs/promises.md in full and record the results (an hour)
promises *args:
    PYTHONPATH=tests {{ python }} -m reliability {{ args }}

# linters and types
lint:
    .ci/lint

# regenerate every generated file
generate:
    {{ python }} tests/golden.py

# known vulnerabilities in what a user installs, where advisories can be queried
audit *args:
    {{ python }} -m pip install --quiet --editable '.[release]'
    {{ python }} .ci/audit.py {{ args }}

# wheel, sdist, SBOM and checksums of the last commit, built several times and compared
release out="dist":
    {{ python }} -m pip install --quiet --editable '.[release]'
    {{ python }} .ci/audit.py
    {{ python }} .ci/release.py {{ out }}

# run one benchmark (benchmarks/README.md lists them); `just bench hops --list deny`
bench name="turn" *args:
    {{ python }} -m benchmarks.{{ name }} {{ args }}

# the quick mode of every benchmark, and the tests of time and of large inputs
bench-smoke *args:
    {{ python }} -m pytest -m bench {{ args }}

# mutation score of core/turn
mutate:
    benchmarks/mutation.sh

check: lint test
