#!/usr/bin/env bash
# Packs what build.sh has built for this machine, with the command beside the engine, as npm takes them.
#   faces/node/pack.sh FOLDER
# LOUVER_BIN names a command that is built already; otherwise it is built for release.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mkdir -p "$1" && cd "$1" && pwd)
root=$(cd "$here/../.." && pwd)
cd "$here"

if [ -z "${LOUVER_BIN:-}" ]; then
    cargo build --quiet --locked --release --manifest-path "$root/Cargo.toml" -p louver-cli
    LOUVER_BIN=${CARGO_TARGET_DIR:-$root/target}/release/louver
fi
platform=$(basename npm/*/*.node .node)
install -m 755 -s "$LOUVER_BIN" "npm/${platform#louver.}/"
npm pack --silent --pack-destination "$folder" . "./npm/${platform#louver.}" >/dev/null
