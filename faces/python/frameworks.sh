#!/usr/bin/env bash
# What each framework's own way against a full window costs beside Louver's: the table of docs/frameworks.md.
# Runs in the environments that test.sh has made.
#   faces/python/frameworks.sh [FRAMEWORK...]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=${LOUVER_PYTHON_DIR:-$here/target/test}
[ -x "$work/agents/bin/python" ] || { echo "faces/python/test.sh comes first" >&2; exit 1; }
export LOUVER_BIN=${LOUVER_BIN:-$work/venv/bin/louver}

echo '| | requests answered | refused | input tokens | from the cache | dollars |'
echo '|---|--:|--:|--:|--:|--:|'
for environment in venv litellm agents; do
    "$work/$environment/bin/python" "$here/frameworks.py" "$@"
done
