#!/usr/bin/env bash
# Builds the package, installs what is packed into an empty folder, and runs every test of the face.
# Needs Node 20 or later, npm's registry and the Rust toolchain; whoever installs the package needs no compiler.
#   faces/node/test.sh [TEST...]      (such as sdk or laws; default: all)
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
app=$here/target/app
cd "$here"

step() { printf -- '-- %s (%ss)\n' "$1" "$SECONDS"; }

step "the addon and the package around it"
./build.sh "${LOUVER_NODE_PROFILE:-release}"

if [ -z "${LOUVER_BIN:-}" ]; then
    step "the command line and its sandbox"
    cargo build --quiet --locked --manifest-path "$root/Cargo.toml" -p louver-cli
    LOUVER_BIN=${CARGO_TARGET_DIR:-$root/target}/debug/louver
fi
export LOUVER_BIN LOUVER_ROOT=$root

step "what is packed, in an empty folder"
rm -rf target/packed "$app"
mkdir -p "$app"
./pack.sh target/packed
empty=$(mktemp -d)
trap 'rm -rf "$empty"' EXIT
echo '{ "private": true }' >"$empty/package.json"
npm --prefix "$empty" install --silent --offline --ignore-scripts --no-audit --no-fund "$here"/target/packed/*.tgz
cat >"$empty/both.mjs" <<'JS'
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import * as imported from "louver";
const required = createRequire(import.meta.url)("louver");
assert.deepEqual(imported.check([{ role: "user", content: "Hi" }]), []);
assert.deepEqual(required.check([{ role: "user", content: "Hi" }]), []);
assert.equal(imported.Window, required.Window, "one copy of each class, whichever way it is loaded");
assert.throws(() => required.trim("["), imported.InputError);
JS
node "$empty/both.mjs"
ls "$empty/node_modules"
test/command.sh "$empty"

step "types, strictly, of the package as it is installed"
cp -r "$empty/node_modules" "$app/"
cp test/*.ts test/tsconfig.json README.md "$app/"
echo '{ "private": true, "type": "module" }' >"$app/package.json"
npx tsc -p "$app"

step "tests"
cd "$app"
tests=()
for name in "$@"; do tests+=("out/$name.test.js"); done
[ "${#tests[@]}" -gt 0 ] || tests=(out/*.test.js)
node --expose-gc --test --test-reporter=spec "${tests[@]}"
step "done"
