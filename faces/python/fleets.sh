#!/usr/bin/env bash
# Rows per second of the Spark job beside the command line's, on one core and on two: faces/python/fleets.sh [FOLDER]
# Runs in the environment that test.sh has made. LOUVER_BIN names a command that is built for release.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=${LOUVER_PYTHON_DIR:-$here/target/test}
[ -x "$work/fleets/bin/python" ] || { echo "faces/python/test.sh comes first" >&2; exit 1; }
export LOUVER_BIN=${LOUVER_BIN:-$work/venv/bin/louver}
for cores in 0 0,1; do
    taskset -c "$cores" "$work/fleets/bin/python" "$here/fleets.py" "${1:-$LOUVER_CORPUS}"
done
