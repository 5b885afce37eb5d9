# Everything that people and CI run. `just` lists it; each line works without just, too.

python := ".venv/bin/python"

default:
    @just --list

# the default suite: no node, no network, under two minutes
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

# what a turn costs, beside other programs
bench:
    {{ python }} benchmarks/turn.py

# mutation score of core/turn
mutate:
    benchmarks/mutation.sh

check: lint test
