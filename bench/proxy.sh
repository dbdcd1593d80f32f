#!/bin/sh
# What a request costs the proxy's process, beside nginx and a bare hyper proxy, in one run. Installs nginx where apt-get can.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
command -v nginx >/dev/null || apt-get install -y -qq nginx-light >/dev/null 2>&1 || echo "no nginx here" >&2
cargo build --quiet --release --locked --manifest-path "$root/Cargo.toml" -p louver-cli
cargo build --quiet --release --locked --manifest-path "$root/bench/Cargo.toml" --features proxy --bin bare_proxy
exec python3 "$root/bench/proxy.py" --louver "$root/target/release/louver" --bare "$root/bench/target/release/bare_proxy" "$@"
