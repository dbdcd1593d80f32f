#!/usr/bin/env python3
"""Writes docs/corpus.md: where the conversations that README's figures are measured on come from.

Reads the folder that LOUVER_CORPUS names: one JSON file per conversation with `format`, `source` (repository:path),
`commit`, `blob` and `license`, and `licenses/OWNER+NAME.txt`.
"""

import collections
import json
import os
import pathlib

HEAD = """# The conversations

The figures in README and `docs/` are measured on {count} recorded conversations from {repositories} public repositories. They are
not part of this project; this page lists where each comes from, so that others can have the same: repository, commit, path in
it, and the blob's id, with which `git cat-file blob ID` gives the file itself. What stands behind `#` is the entry of a file
that holds several. Written by `docs/make-corpus.py`.

How a file becomes a conversation:

| source | what is taken |
|---|---|
| Claude Code | user and assistant lines of the branch that went on, blocks of one answer put together, results before other text; sub-agents and errors left out. `-full` has the whole history without summaries, `-segN` a stretch between two compactions |
| Codex | every `response_item`, in order; the instructions of `session_meta` as system prompt |
| Gemini CLI | what was said, calls and responses as contents; notes and thoughts left out |
| pi | messages by the rules of its own Anthropic client |
| mini-swe-agent, SWE-agent | the messages of a trajectory, without what only the harness reads |
| tau-bench, tau2-bench | the agent's side of a trajectory, with its tools |
| pydantic-ai | the longest request body of a recorded test |
| MT-Bench | questions and reference answers in turn |

Names, addresses, hosts and keys were replaced. `louver replay` reads the session files of Claude Code, Codex and Gemini CLI as they
are, so most of this work is needed for the exact same figures only.

The figures are of {long} of them with 100 and more requests where that is said, and else of all.
"""


def main():
    root = pathlib.Path(os.environ["LOUVER_CORPUS"])
    owners = {path.stem.split("+")[1].lower(): path.stem.replace("+", "/") for path in (root / "licenses").glob("*+*.txt")}
    groups = collections.defaultdict(list)
    for path in sorted(root.glob("*/*.json")):
        record = json.loads(path.read_text())
        repository, _, place = record["source"].partition(":")
        # Owners that are people were replaced in the files, not in the licences.
        repository = owners.get(repository.split("/")[1].lower(), repository)
        key = (repository, record["commit"], record["license"])
        groups[key].append((str(path.relative_to(root)), record["format"], place, record["blob"][:12]))
    count = sum(map(len, groups.values()))
    repositories = len({repository for repository, *_ in groups})
    lines = [HEAD.format(count=count, repositories=repositories, long=30)]
    for (repository, commit, licence), rows in sorted(groups.items()):
        lines += [f"## {repository}", "", f"Commit `{commit}`, {licence}, {len(rows)} conversations.", ""]
        lines += ["| file | format | path in the repository | blob |", "|---|---|---|---|"]
        lines += [f"| `{file}` | {format} | `{place}` | `{blob}` |" for file, format, place, blob in rows]
        lines.append("")
    pathlib.Path(__file__).with_name("corpus.md").write_text("\n".join(lines))
    print(f"docs/corpus.md: {count} conversations")


main()
