#!/bin/sh
# Sets upbeat up inside this checkout, and nowhere else.
#
#   ./install.sh try "where is the retry limit enforced?"   prepare a turn for this very repository
#   ./install.sh test                                       set up and pass the tests
#   ./install.sh                                            set up only
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
venv=$root/.venv

say() { printf '%s\n' "install.sh: $*" >&2; }
err() {
  say "$*"
  exit 1
}

python_for_venv() {
  for name in python3.11 python3.12 python3.13 python3.14 python3; do
    if command -v "$name" >/dev/null 2>&1 &&
      "$name" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      command -v "$name"
      return
    fi
  done
  err "no Python 3.11 or newer with venv found; on Debian: apt-get install python3 python3-venv"
}

# The environment is remade only when what it is made from has changed.
set_up() {
  extras=$1
  stamp=$venv/.upbeat-$(printf '%s' "$extras" | tr -c '[:lower:]' '-')
  if [ ! -f "$stamp" ] || [ "$root/pyproject.toml" -nt "$stamp" ]; then
    if [ ! -x "$venv/bin/python" ]; then
      python=$(python_for_venv)
      say "making $venv with $python"
      "$python" -m venv "$venv"
    fi
    say "installing upbeat$extras and what it needs into $venv"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --editable "$root$extras"
    # without byte code a start takes twice as long, and pip may have been told to leave it out
    "$venv/bin/python" -I -c 'from upbeat.adapters.local.byte_code import compile_missing as go; print(go().text)' >&2 ||
      say "the byte code could not be written; each start will take longer"
    : >"$stamp"
  fi
}

next_steps() {
  say "that is what a model would get before it answers. To go on:"
  if command -v claude >/dev/null 2>&1; then
    say "  Claude Code: claude --plugin-dir '$root/adapters/claude/plugin'"
  fi
  if command -v codex >/dev/null 2>&1; then
    say "  Codex: $venv/bin/codex-auto"
  fi
  if ! command -v claude >/dev/null 2>&1 && ! command -v codex >/dev/null 2>&1; then
    say "  neither claude nor codex is on PATH; in any repository: $venv/bin/upbeat prepare --prompt '...'"
  fi
}

case ${1-} in
try)
  [ $# -ge 2 ] || err "try takes a question: ./install.sh try \"where is the retry limit enforced?\""
  set_up ""
  cd "$root"
  "$venv/bin/python" -I -m upbeat prepare --prompt "$2" --text
  next_steps
  ;;
test)
  shift
  set_up "[test]"
  cd "$root"
  say "running the tests"
  exec "$venv/bin/python" -m pytest "$@"
  ;;
'')
  set_up ""
  say "set up; $venv/bin/upbeat and $venv/bin/codex-auto are ready"
  ;;
*)
  err "no command '$1'; there are: try QUESTION, test, or none"
  ;;
esac
