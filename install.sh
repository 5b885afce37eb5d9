#!/bin/sh
# Sets upbeat up inside this checkout, and nowhere else.
#
#   ./install.sh try "where is the retry limit enforced?"   show the context for a prompt about this repository
#   ./install.sh test                                       set up and run the tests
#   ./install.sh                                            set up only
set -eu

# Programs only by whole names of folders, and no module of the working directory, also in what pip starts.
set -f
IFS=:
path=
for folder in $PATH; do
  case $folder in /*) path=${path:+$path:}$folder ;; esac
done
set +f
unset IFS PYTHONPATH PYTHONHOME PYTHONSTARTUP PYTHONUSERBASE
PATH=$path

case $0 in */*) here=${0%/*}/ ;; *) here=. ;; esac
root=$(CDPATH='' cd -- "$here" && pwd -P)
venv=$root/.venv

say() { printf '%s\n' "install.sh: $*" >&2; }
err() {
  say "$*"
  exit 1
}

python_for_venv() {
  for name in python3.11 python3.12 python3.13 python3.14 python3; do
    if command -v "$name" >/dev/null 2>&1 &&
      "$name" -I -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      command -v "$name"
      return
    fi
  done
  err "no Python 3.11 or newer with venv found; on Debian: apt-get install python3 python3-venv"
}

# An editable install imports through these links; git writes them as text files where core.symlinks is false.
check_links() {
  for name in core adapters config; do
    if [ ! -d "$root/src/upbeat/$name" ]; then
      say "src/upbeat/$name is not a symbolic link, so this checkout cannot be installed in place. Restore the links:"
      say "  git config core.symlinks true && git checkout -- src adapters"
      err "or install a copy: python3 -m venv .venv && .venv/bin/pip install ."
    fi
  done
}

# The environment is rebuilt only when its inputs have changed.
set_up() {
  check_links
  extras=$1
  stamp=$venv/.upbeat-$(printf '%s' "$extras" | tr -c '[:lower:]' '-')
  if [ ! -f "$stamp" ] || [ "$root/pyproject.toml" -nt "$stamp" ]; then
    if [ ! -x "$venv/bin/python" ]; then
      python=$(python_for_venv)
      say "creating $venv with $python"
      "$python" -I -m venv "$venv"
    fi
    say "installing upbeat$extras and its dependencies into $venv"
    "$venv/bin/python" -I -m pip install --quiet --disable-pip-version-check --editable "$root$extras"
    # without byte code a start takes twice as long, and pip may be configured not to write it
    "$venv/bin/python" -I -c 'from upbeat.adapters.install.byte_code import compile_missing as go; print(go().text)' >&2 ||
      say "could not write byte code; each start takes longer"
    : >"$stamp"
  fi
}

next_steps() {
  say "that is the context that a model would receive with this prompt. Next:"
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
  [ $# -ge 2 ] || err "try needs a question: ./install.sh try \"where is the retry limit enforced?\""
  set_up ""
  cd "$root"
  report=$("$venv/bin/python" -I -m upbeat prepare --prompt "$2" --text)
  printf '%s\n' "$report" | sed 10q
  count=$(printf '%s\n' "$report" | wc -l)
  if [ "$count" -gt 10 ]; then
    say "these are the first 10 of $((count)) lines; to see the rest: $venv/bin/upbeat prepare --text --prompt '...'"
  fi
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
  err "no command '$1'; use: try QUESTION, test, or no argument"
  ;;
esac
