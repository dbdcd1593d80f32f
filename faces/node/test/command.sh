#!/usr/bin/env bash
# The command `louver` of the package as it is installed: faces/node/test/command.sh FOLDER
set -euo pipefail
cd "$1"

fail() { echo "$1" >&2; exit 1; }
louver() { npm exec --offline --no -- louver "$@"; }

[ "$(louver --version)" = "$("$LOUVER_BIN" --version)" ] || fail "npx louver is not the command line"
said='[{"role":"user","content":"Hi"}]'
[ "$(louver trim --format openai-chat <<<"$said" 2>/dev/null)" = "$said" ] ||
    fail "npx louver does not read what it is given"
louver check --format openai-chat <<<'[{"role":"tool","tool_call_id":"x","content":"?"}]' >/dev/null 2>&1 && status=0 || status=$?
[ "$status" = 1 ] || fail "npx louver ends with $status and not as the program does"

# Who ends the command ends the program.
node_modules/.bin/louver sandbox >address 2>/dev/null &
command=$!
until [ -s address ]; do kill -0 "$command" || fail "the sandbox does not start"; sleep 0.1; done
kill "$command"
wait "$command" && status=0 || status=$?
curl --silent --max-time 5 "$(cat address)/_sandbox/journal" >/dev/null && fail "the program goes on"
echo "ended by a signal: $status"

# Without the program it is said how to get it.
mv node_modules/louver-*/louver .
louver --version 2>said && fail "there is no program, and nothing is said"
grep -q 'cargo install louver-cli' said || fail "how to get the program is not said: $(cat said)"
mv louver node_modules/louver-*/
