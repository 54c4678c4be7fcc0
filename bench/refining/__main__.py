"""The command: `python -m bench.refining --mode rules|local|scripted`."""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from bench.refining.playing import Made, play
from bench.refining.script import Script
from bench.refining.showing import sampled, tables
from mnemic.testing.model_server import ModelServer

QUIET: Final[dict[str, Any]] = {"llm": "none"}


def main(arguments: Sequence[str] | None = None) -> int:
    """Play, print, and write what was asked for; return the exit status."""
    options = _parser().parse_args(arguments)
    made, made_up = _made(options)
    print("\n".join(table.markdown() for table in tables(options.mode, made)), flush=True)
    document = {"mode": options.mode, **made.as_json()}
    if options.mode == "scripted":
        document |= _lured(made, made_up)
    if options.sample:
        drawn = [memory for memory in made.memories if options.mode == "rules" or memory.current.drawn_by]
        chosen = random.Random(options.seed).sample(drawn, min(options.sample, len(drawn)))
        document["sample"] = [memory.id for memory in chosen]
        print("\n".join(sampled(chosen, made)))
    if options.out:
        options.out.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", "utf-8")
    return 0


def _made(options: argparse.Namespace) -> tuple[Made, dict[str, str]]:
    if options.mode == "rules":
        return play(QUIET, whole=options.whole, sessions=options.sessions), {}
    if options.mode == "local":
        if options.model is None:
            raise SystemExit("--mode local needs --model FILE.gguf; `./dev model` prints one")
        return play(_local(options), whole=options.whole, sessions=options.sessions), {}
    script = Script(lures=not options.honest, spoiled=0.0 if options.honest else 0.1, seed=options.seed)
    with ModelServer(lambda asked: script.answer(asked.turns[-1][1]), models=["scripted"]) as server:
        settings = {"llm": "openai", "llm_base_url": server.url, "llm_api_key": "none", "llm_model": "scripted"}
        made = play(settings, whole=options.whole, sessions=options.sessions)
    print(f"{len(set(script.told))} good statements told, {len(script.made_up)} made up\n")
    return made, script.made_up


def _local(options: argparse.Namespace) -> dict[str, Any]:
    return {
        "llm": "local",
        "llm_model": str(options.model),
        "llm_context": options.context,
        "llm_timeout": 1_200.0,
        "llm_tries": 1,
        "refine_messages": options.messages,
    }


def _lured(made: Made, made_up: dict[str, str]) -> dict[str, Any]:
    """Tell which of the made-up statements stand in memory."""
    texts = {version.text for memory in made.memories for version in memory.versions if version.drawn_by}
    through = {said: how for said, how in made_up.items() if said in texts}
    print(f"{len(through)} of {len(made_up)} made-up statements were believed")
    print("".join(f"- {how}: {said}\n" for said, how in through.items()))
    return {"made_up": len(made_up), "believed": through}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="bench.refining", description="What is made of the demo conversation.")
    parser.add_argument("--mode", choices=("rules", "local", "scripted"), required=True)
    parser.add_argument("--model", type=Path, metavar="FILE.gguf", help="the local model")
    parser.add_argument("--context", type=int, default=8_192, help="tokens that the local model may take in")
    parser.add_argument("--messages", type=int, default=24, help="messages that the local model reads at once")
    parser.add_argument("--sessions", type=int, metavar="N", help="only the first N sessions of the 18")
    parser.add_argument("--whole", action="store_true", help="add all sessions before anything is read")
    parser.add_argument("--honest", action="store_true", help="the scripted model makes nothing up")
    parser.add_argument("--sample", type=int, default=0, metavar="N", help="print so many memories drawn at random")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--out", type=Path, metavar="FILE", help="write all memories as JSON")
    return parser


if __name__ == "__main__":
    sys.exit(main())
