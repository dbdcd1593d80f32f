#!/bin/sh
# Runs the real Claude Code, Codex and Gemini CLI, and the official SDKs, through `louver proxy` to `louver sandbox`:
# e2e/clients.sh [TURNS], 20 if nothing is said. Needs python3, node, npm and their registries; everything is installed
# under target/e2e.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}
work=${LOUVER_E2E_DIR:-$target/e2e}
mkdir -p "$work/clients" "$work/node"

if ! cmp -s "$root/e2e/clients.json" "$work/clients/package.json"; then
    cp "$root/e2e/clients.json" "$work/clients/package.json"
    npm --prefix "$work/clients" install --silent --no-audit --no-fund --no-package-lock || {
        rm -f "$work/clients/package.json"
        exit 1
    }
fi
if ! cmp -s "$root/e2e/requirements.txt" "$work/requirements.txt"; then
    python3 -m venv "$work/venv"
    "$work/venv/bin/pip" install --quiet --disable-pip-version-check -r "$root/e2e/requirements.txt"
    cp "$root/e2e/requirements.txt" "$work/requirements.txt"
fi
if ! cmp -s "$root/e2e/package.json" "$work/node/package.json"; then
    cp "$root/e2e/package.json" "$work/node/package.json"
    npm --prefix "$work/node" install --silent --no-audit --no-fund --no-package-lock || {
        rm -f "$work/node/package.json"
        exit 1
    }
fi
cp "$root/e2e/sdk.mjs" "$work/node/sdk.mjs"

cargo build --quiet --locked --manifest-path "$root/Cargo.toml" -p louver-cli
exec python3 "$root/e2e/clients.py" --louver "$target/debug/louver" --work "$work" --turns "${1:-20}"
