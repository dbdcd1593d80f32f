#!/bin/sh
# Talks to the sandbox with the official Python and Node SDKs of Anthropic, OpenAI and Google.
set -eu
. "$(dirname "$0")/install.sh"
install_sdks

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
