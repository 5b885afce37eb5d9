#!/bin/sh
# Starts upbeat for the plugin in this checkout or package. Called as `/bin/sh bin/upbeat ...`, so that a lost
# executable bit does not matter; the interpreter is never looked up in the working directory.
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
for python in "$here"/../../../../.venv/bin/python "$here"/../../../../../../../../bin/python; do
  [ -x "$python" ] || continue
  case ${1-} in
  hook) shift && exec "$python" -I -S "$here/../../../shim.py" "$@" ;;
  *) exec "$python" -I -m upbeat "$@" ;;
  esac
done
echo "upbeat: no Python environment of upbeat found from $here; run ./install.sh there" >&2
exit 1
