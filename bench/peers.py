"""Trims generated conversations with LangChain, LiteLLM and Louver, and compares times and results.

Run by peers.sh, which installs what is needed. A peer is measured inside its own process (the call alone, on messages
that are Python objects already) and as a whole process. Louver's time inside the process goes from text to text.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time

# How much may stay. The first share is timed, at all of them the result is judged.
SHARES = [1 / 3, 1 / 2, 2 / 3, 1 / 5, 3 / 4]
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
    times = []
    started = time.monotonic()
    while len(times) < 5 and (not times or time.monotonic() - started < 10):
        times.append(trim_once(name, path, budgets[0], f"{output}.0"))
    done = 1
    while done < len(budgets) and time.monotonic() - started < PATIENCE_SECONDS:
        trim_once(name, path, budgets[done], f"{output}.{done}")
        done += 1
    print(json.dumps({"ns": statistics.median(times), "done": done}))


def trim_once(name, path, max_tokens, output):
    with open(path, encoding="utf-8") as file:
        messages = json.load(file)
    elapsed, trimmed = PEERS[name](messages, max_tokens)
    with open(output, "w", encoding="utf-8") as file:
        json.dump(trimmed, file, ensure_ascii=False)
    return elapsed


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
        ours = trim_ours(args, source, budgets, counter, output)
        verdict = verdict_on(args, output, budgets, counter)
        show(turns, before, f"louver ({counter})", 1.0, *ours, verdict)
        theirs, process_ns = timed(
            [sys.executable, __file__, "--peer", name, "--input", source, "--output", output]
            + ["--budgets", ",".join(map(str, budgets))]
        )
        verdict = verdict_on(args, output, budgets[: theirs["done"]], counter)
        show(turns, before, name, theirs["ns"] / ours[0], theirs["ns"], process_ns, verdict)


def judge(args, path):
    return timed([f"{args.bin}/trim_file", path, "--check"])[0]


def trim_ours(args, source, budgets, counter, output):
    """Nanoseconds inside the process and of a whole process that trims once."""
    command = [f"{args.bin}/trim_file", source, "--counter", counter, "--max-tokens"]
    inside, _ = timed(command + [str(budgets[0]), "--runs", "21"])
    _, process_ns = timed(command + [str(budgets[0])])
    for number, budget in enumerate(budgets):
        timed(command + [str(budget), "--output", f"{output}.{number}"])
    return inside["ns"], process_ns


def verdict_on(args, output, budgets, counter):
    judged = [judge(args, f"{output}.{number}") for number in range(len(budgets))]
    illegal = [result for result in judged if result["violations"]]
    over = sum(result[counter] > budget for result, budget in zip(judged, budgets))
    rules = sorted({rule for result in illegal for rule in result["rules"]})
    parts = [f"refused {len(illegal)} of {len(judged)} ({', '.join(rules)})" if illegal else f"legal {len(judged)} of {len(judged)}"]
    if over:
        parts.append(f"over budget {over} of {len(judged)}")
    return f"keeps {judged[0]['messages']:>4} messages; " + ", ".join(parts)


def show(turns, before, name, ratio, ns, process_ns, verdict):
    print(
        f"{turns:>5} {before['messages']:>5}  {name:<26} {ratio:>9.1f} {ns / 1e6:>11.3f} ms {process_ns / 1e6:>9.0f} ms"
        f"  {verdict}",
        flush=True,
    )


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
    print("times: how many times louver's time with the same counter, in this run; inside: a third of the tokens may stay;")
    print("whole: the whole process (a peer's also trims to the other budgets); results at five budgets")
    print("turns  msgs  who                            times        inside        whole  result")
    for turns in args.turns:
        compare(args, turns)


if __name__ == "__main__":
    main()
