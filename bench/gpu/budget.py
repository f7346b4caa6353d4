"""Measures the runs of `budget_runs.py` and writes one row each: `python bench/gpu/budget.py --out bench/gpu/budget.jsonl`.

Random weights from configurations, so nothing is downloaded. Every run has a process of its own, forked from one that has
imported torch and transformers but not touched the GPU; several share the card, since what is counted is what one process
allocates. `--blocks` also writes what lives at the peak of the runs
that are `--listed`."""

from __future__ import annotations

import argparse
import importlib
import json
import multiprocessing
import pathlib
import platform
import subprocess
import sys
import time
import warnings

import torch
import transformers

from budget_runs import RUNS
from budget_step import measure

PACKAGES = ("torch", "transformers", "torchvision", "peft", "bitsandbytes")
TINY = {
    "n_layer": 2, "n_embd": 32, "n_head": 2, "num_hidden_layers": 2, "hidden_size": 32, "num_attention_heads": 4,
    "num_key_value_heads": 2, "head_dim": 8, "intermediate_size": 64, "vocab_size": 128, "num_layers": 2, "d_model": 32,
    "d_kv": 8, "d_ff": 64, "num_heads": 4, "num_decoder_layers": 2, "ffn_dim": 64, "word_embed_proj_dim": 32,
    "num_labels": 10, "image_size": 32,
}


def tiny(run: dict) -> dict:
    config = {key: TINY.get(key, value) for key, value in run["config"].items()}
    return run | {"config": config, "batch": 2, "sequence": 32, "target": run["target"] and 8}


def numbers(text: str) -> list[int]:
    """`1,5-7`"""
    ends = [[int(end) for end in word.split("-")] for word in text.split(",")]
    return [number for first, *last in ends for number in range(first, (last or [first])[0] + 1)]


def attempt(run: dict, device: str, with_blocks: bool, answers) -> None:
    began = time.time()
    try:
        warnings.simplefilter("ignore")
        transformers.utils.logging.set_verbosity_error()
        found = measure(run, device, with_blocks)
    except Exception as error:  # noqa: BLE001 a run that cannot be taken is a row too
        found = {"error": f"{type(error).__name__}: {str(error).splitlines()[0][:200]}"}
    versions = {name: sys.modules[name].__version__ for name in PACKAGES if name in sys.modules}
    answers.put((run | found, versions, time.time() - began))


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--out", type=pathlib.Path, required=True)
    words.add_argument("--blocks", type=pathlib.Path)
    words.add_argument("--listed", type=numbers, default=range(1, 79, 2))
    words.add_argument("--only", type=numbers)
    words.add_argument("--device", default="cuda")
    words.add_argument("--smoke", action="store_true")
    words.add_argument("--at-once", type=int, default=3)
    given = words.parse_args()
    # Imported before the processes part, so that each of them does not do it again.
    for kind in {run["config"]["model_type"] for run in RUNS} - {"torchvision"}:
        importlib.import_module(f"transformers.models.{kind.removesuffix('_text')}.modeling_{kind.removesuffix('_text')}")
    runs = [run for run in RUNS if given.only is None or run["id"] in given.only]
    waiting = [tiny(run) if given.smoke else run for run in runs]
    context = multiprocessing.get_context("fork")
    answers, working, rows, versions = context.Queue(), {}, [], {"python": platform.python_version()}
    while waiting or working:
        while waiting and len(working) < given.at_once:
            run = waiting.pop(0)
            with_blocks = given.blocks is not None and run["id"] in given.listed
            process = context.Process(target=attempt, args=(run, given.device, with_blocks, answers))
            process.start()
            working[run["id"]] = process
        try:
            row, seen, seconds = answers.get(timeout=5)
        except Exception:  # noqa: BLE001 nothing yet: see who has died
            for number, process in list(working.items()):
                if not process.is_alive() and answers.empty():
                    working.pop(number)
                    print(number, "died with", process.exitcode, flush=True)
            continue
        working.pop(row["id"]).join()
        rows.append(row)
        versions |= seen
        print(row["id"], f"{seconds:.1f} s", row.get("error") or f"{row['peak'] / 1e9:.2f} GB {row['phases']}", flush=True)
        write(given, rows, versions)


def device_of(device: str) -> str:
    if device == "cpu":
        return "cpu"
    asked = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()


def write(given: argparse.Namespace, rows: list[dict], versions: dict) -> None:
    rows = sorted(rows, key=lambda row: row["id"])
    blocks = {row["id"]: row["blocks"] for row in rows if "blocks" in row}
    if given.blocks is not None:
        given.blocks.write_text(json.dumps(blocks))
    plain = [{key: value for key, value in row.items() if key != "blocks"} for row in rows]
    about = {"device": device_of(given.device), "versions": versions}
    given.out.write_text("".join(json.dumps(row | about) + "\n" for row in plain))


if __name__ == "__main__":
    main()
