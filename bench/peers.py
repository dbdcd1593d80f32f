"""Trims generated conversations with LangChain, LiteLLM and Louver, and compares times and results.

Run by peers.sh, which installs what is needed. A peer is measured inside its own process: the call alone, on messages
that are Python objects already, and from text to text. Louver's time goes from text to text, counting and all, under its
default policy and under the simplest that keeps a token limit.
"""

import argparse
import json
import os
import subprocess
import sys
import time

# How much may stay. The first share is timed, at all of them the result is judged.
SHARES = [1 / 3, 1 / 2, 2 / 3, 1 / 5, 3 / 4]
# The simplest policy that keeps a token limit, and the default one, with its default settings.
POLICIES = ["tokens", "ladder"]
# The quickest of so many runs is what is compared: other work on the machine disturbs it the least.
RUNS = 21
# A peer that is slower than this is not asked for the other shares.
PATIENCE_SECONDS = 60


def trim_with_langchain(messages, max_tokens, recommended):
    from langchain_core.messages import convert_to_messages, convert_to_openai_messages, trim_messages
    from langchain_core.messages.utils import count_tokens_approximately

    options = {"start_on": "human", "end_on": ("human", "tool")} if recommended else {}
    converted = convert_to_messages(messages)
    start = time.perf_counter_ns()
    trimmed = trim_messages(
        converted,
        max_tokens=max_tokens,
        token_counter=count_tokens_approximately,
        strategy="last",
        include_system=True,
        **options,
    )
    elapsed = time.perf_counter_ns() - start
    return elapsed, convert_to_openai_messages(trimmed)


def trim_with_litellm(messages, max_tokens):
    from litellm.utils import trim_messages

    start = time.perf_counter_ns()
    trimmed = trim_messages(messages, model="gpt-4o", max_tokens=max_tokens)
    return time.perf_counter_ns() - start, trimmed


PEERS = {
    "langchain": lambda messages, tokens: trim_with_langchain(messages, tokens, False),
    "langchain, start_on human": lambda messages, tokens: trim_with_langchain(messages, tokens, True),
    "litellm": trim_with_litellm,
}
# What the peer counts with, so that ours counts alike: LangChain four characters a token, LiteLLM a tokenizer.
COUNTERS = {"langchain": "chars4", "langchain, start_on human": "chars4", "litellm": "o200k"}


def run_peer(name, path, budgets, output):
    """One peer in this process: the first budget as often as fits a few seconds, then the others."""
    with open(path, encoding="utf-8") as file:
        PEERS[name](json.load(file)[:3], budgets[0])  # what is imported or loaded on first use is not the peer's work
    calls, wholes = [], []
    started = time.monotonic()
    while len(calls) < RUNS and (not calls or time.monotonic() - started < 10):
        call_ns, whole_ns = trim_once(name, path, budgets[0], f"{output}.0")
        calls.append(call_ns)
        wholes.append(whole_ns)
    done = 1
    while done < len(budgets) and time.monotonic() - started < PATIENCE_SECONDS:
        trim_once(name, path, budgets[done], f"{output}.{done}")
        done += 1
    print(json.dumps({"ns": min(calls), "whole_ns": min(wholes), "done": done}))


def trim_once(name, path, max_tokens, output):
    """Nanoseconds of the call alone, and from text to text."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    start = time.perf_counter_ns()
    elapsed, trimmed = PEERS[name](json.loads(text), max_tokens)
    text = json.dumps(trimmed, ensure_ascii=False)
    whole = time.perf_counter_ns() - start
    with open(output, "w", encoding="utf-8") as file:
        file.write(text)
    return elapsed, whole


def timed(command):
    environment = {**os.environ, "LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_LOG": "ERROR"}
    start = time.perf_counter_ns()
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    elapsed = time.perf_counter_ns() - start
    if done.returncode != 0:
        sys.exit(f"{command} failed:\n{done.stdout}\n{done.stderr}")
    return json.loads(done.stdout.strip().splitlines()[-1]), elapsed


def compare(args, turns):
    source = os.path.join(args.work, f"{turns}.json")
    output = os.path.join(args.work, "trimmed.json")
    with open(source, "w", encoding="utf-8") as file:
        subprocess.run([f"{args.bin}/generate", "openai-chat", str(turns)], stdout=file, check=True)
    before = judge(args, source)
    for name, counter in COUNTERS.items():
        budgets = [int(before[counter] * share) for share in SHARES]
        ours = [trim_ours(args, source, budgets, counter, policy, output, before, turns) for policy in POLICIES]
        theirs, _ = timed(
            [sys.executable, __file__, "--peer", name, "--input", source, "--output", output]
            + ["--budgets", ",".join(map(str, budgets))]
        )
        verdict = verdict_on(args, output, budgets[: theirs["done"]], counter)
        ratios = [theirs["ns"] / ns for ns in ours] + [theirs["whole_ns"] / ns for ns in ours]
        show(turns, before, name, ratios, theirs["ns"], theirs["whole_ns"], verdict)


def judge(args, path):
    return timed([f"{args.bin}/trim_file", path, "--check"])[0]


def trim_ours(args, source, budgets, counter, policy, output, before, turns):
    """Trims to every budget, shows the result, and returns nanoseconds from text to text."""
    command = [f"{args.bin}/trim_file", source, "--counter", counter, "--policy", policy, "--max-tokens"]
    ours, _ = timed(command + [str(budgets[0]), "--runs", str(RUNS)])
    for number, budget in enumerate(budgets):
        timed(command + [str(budget), "--output", f"{output}.{number}"])
    verdict = verdict_on(args, output, budgets, counter)
    show(turns, before, f"louver {policy} ({counter})", [], None, ours["ns"], verdict)
    return ours["ns"]


def verdict_on(args, output, budgets, counter):
    judged = [judge(args, f"{output}.{number}") for number in range(len(budgets))]
    illegal = [result for result in judged if result["violations"]]
    over = sum(result[counter] > budget for result, budget in zip(judged, budgets))
    rules = sorted({rule for result in illegal for rule in result["rules"]})
    parts = [f"refused {len(illegal)} of {len(judged)} ({', '.join(rules)})" if illegal else f"legal {len(judged)} of {len(judged)}"]
    if over:
        parts.append(f"over budget {over} of {len(judged)}")
    return f"keeps {judged[0]['messages']:>4} messages; " + ", ".join(parts)


def show(turns, before, name, ratios, call_ns, whole_ns, verdict):
    times = " ".join(f"{ratio:>8.1f}" for ratio in ratios)
    call = f"{call_ns / 1e6:.3f} ms" if call_ns is not None else ""
    print(f"{turns:>5} {before['messages']:>5}  {name:<26} {times:<35} {call:>13} {whole_ns / 1e6:>10.3f} ms  {verdict}", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("turns", nargs="*", type=int, default=[25, 100, 400])
    for name in ("--bin", "--work", "--peer", "--input", "--output"):
        parser.add_argument(name)
    parser.add_argument("--budgets")
    args = parser.parse_args()
    if args.peer:
        run_peer(args.peer, args.input, [int(budget) for budget in args.budgets.split(",")], args.output)
        return
    print("a third of the tokens may stay. call: the peer's call alone; text: from text to text, counting included.")
    print(f"times louver's text under {' and '.join(POLICIES)}, same counter, same run: call, call, text, text. Results at five budgets.")
    print(f"turns  msgs  {'who':<26} {'times louver':<35} {'call':>13} {'text':>13}  result")
    for turns in args.turns:
        compare(args, turns)


if __name__ == "__main__":
    main()
