#!/bin/sh
# Sourced by clients.sh and sdk.sh: sets root, target and work, and installs what they need under target/e2e. Needs python3,
# node, npm and their registries.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}
work=${LOUVER_E2E_DIR:-$target/e2e}

# What a package.json names, in a folder of its own.
install_node() {
    mkdir -p "$work/$2"
    if ! cmp -s "$root/e2e/$1" "$work/$2/package.json"; then
        cp "$root/e2e/$1" "$work/$2/package.json"
        npm --prefix "$work/$2" install --silent --no-audit --no-fund --no-package-lock || {
            rm -f "$work/$2/package.json"
            exit 1
        }
    fi
}

install_sdks() {
    mkdir -p "$work"
    if ! cmp -s "$root/e2e/requirements.txt" "$work/requirements.txt"; then
        python3 -m venv "$work/venv"
        "$work/venv/bin/pip" install --quiet --disable-pip-version-check -r "$root/e2e/requirements.txt"
        cp "$root/e2e/requirements.txt" "$work/requirements.txt"
    fi
    install_node package.json node
    cp "$root/e2e/sdk.mjs" "$work/node/sdk.mjs"
}
