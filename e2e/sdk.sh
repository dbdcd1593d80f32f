#!/bin/sh
# Talks to the sandbox with the official Python and Node SDKs of Anthropic and OpenAI. Needs python3, node, npm and
# their registries; everything is installed under target/e2e.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}
work=${LOUVER_E2E_DIR:-$target/e2e}
mkdir -p "$work/node"

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

rm -f "$work/address"
cargo build --quiet --manifest-path "$root/Cargo.toml" -p louver-sandbox --example serve
"$target/debug/examples/serve" "$root/e2e/scenario.json" 20000 >"$work/address" &
server=$!
trap 'kill $server 2>/dev/null || true' EXIT INT TERM
tries=0
until [ -s "$work/address" ]; do
    tries=$((tries + 1))
    [ $tries -lt 100 ] || { echo "the sandbox does not start" >&2; exit 1; }
    sleep 0.1
done
LOUVER_SANDBOX="http://$(head -n 1 "$work/address")"
export LOUVER_SANDBOX

"$work/venv/bin/python" "$root/e2e/sdk.py"
node "$work/node/sdk.mjs"
