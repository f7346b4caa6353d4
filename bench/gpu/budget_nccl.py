"""What one process of DDP over NCCL holds: `python budget_nccl.py OUT.jsonl [--held-out] [--only N,N] [--tries N]`.

After its first step DDP makes its buckets anew, and NCCL's process group lets go of the old ones late: its watchdog looks every
100 ms for collectives that are done, and the next collective after that frees their tensors. So the peak depends on how
long the first steps take, and on chance. `ddp` is taken several times in one process; `--tries N` takes only `ddp-view`, until
the second step has held the old buckets, and N times at most. `paused` waits 0.3 s before each step, so that they go with the
first collective. With one process NCCL keeps no buffers for other GPUs; `outside` is what the card has given out beyond
torch's allocator. `--merge` puts the rows of several calls together: one for each way, with all its peaks.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import json
import multiprocessing
import os
import random
import time
import traceback

import torch
import torch.distributed as dist
import transformers

import budget_runs
import budget_step
from budget_sharded import COMMON, GPT2, LLAMA, RUNS, wrapped

WAYS = (
    ("plain", False), ("ddp", False), ("ddp", False), ("ddp", False), ("ddp", True), ("ddp-view", False),
    ("ddp-unused", False), ("fsdp", False),
)
QUERY_VALUE = budget_runs.QUERY_VALUE


def run(config: dict, dtype: str, optimizer: str, batch: int, sequence: int, **more) -> dict:
    return {
        "config": config, "dtype": dtype, "optimizer": optimizer, "batch": batch, "sequence": sequence,
        "checkpointing": False, **more,
    }


FOUND_WITH = [
    *RUNS,
    run(LLAMA, "bf16", "sgd", 1, 256),
    run(LLAMA, "bf16", "adamw", 1, 256),
    run(budget_runs.TINY_LLAMA, "bf16", "adamw", 2, 2048, checkpointing=True),
    run(budget_runs.LLAMA_7B | {"num_hidden_layers": 16}, "bf16", "adamw", 4, 2048, checkpointing=True),
    run(budget_runs.LLAMA_7B | {"num_hidden_layers": 16}, "bf16", "sgd", 2, 1024, checkpointing=True),
    run(budget_runs.BERT_LARGE, "fp32", "adamw", 16, 384),
    run(budget_runs.VIT_LARGE, "autocast", "adamw-fused", 64, 224),
    run({"model_type": "torchvision", "name": "resnet50", "num_labels": 1000}, "autocast", "sgd-momentum", 64, 224),
    run(budget_runs.QWEN2, "autocast", "adamw-fused", 4, 1024),
    run(budget_runs.TINY_LLAMA, "bf16", "adamw", 4, 1024, lora={"rank": 16, "targets": QUERY_VALUE}),
    run(budget_runs.GPT2_LARGE, "fp32", "adamw", 2, 1024, accumulated=4),
    run(GPT2, "autocast", "sgd", 2, 512),
]


def drawn(seed: int) -> dict:
    budget_runs.drawn(random.Random(seed))
    made = budget_runs.RUNS.pop()
    return {key: value for key, value in made.items() if key != "id"} | {"seed": seed}


def is_trained_whole(made: dict) -> bool:
    return made["task"] == "train" and not made["quantized"] and made["optimizer"] != "adamw-8bit" and not made["lora"]


HELD_OUT = [made for made in map(drawn, range(20270100, 20270140)) if is_trained_whole(made)][:16]


class Steps(budget_step.Meter):
    """A meter that also keeps each step's own peaks, and when it was."""

    def __init__(self, device: str):
        self.steps: list = []
        super().__init__(device)

    def end(self, phase: str) -> None:
        torch.cuda.synchronize()
        self.steps.append([phase, torch.cuda.max_memory_allocated(), torch.cuda.memory_allocated(), round(time.monotonic() - BEGAN, 4)])
        super().end(phase)

    def found(self) -> dict:
        return super().found() | {"steps": self.steps}


BEGAN = time.monotonic()


def once(made: dict, mode: str, paused: bool) -> dict:
    build, train = budget_step.built, budget_step.training

    def waiting(*given):
        step = train(*given)

        def later(meter):
            if paused:
                time.sleep(0.3)
            step(meter)

        return later

    budget_step.built = lambda each, device: wrapped(mode, build(each, device))
    budget_step.training, budget_step.Meter = waiting, Steps
    try:
        found = budget_step.measure(made)
        free, total = torch.cuda.mem_get_info()
        found["outside"] = total - free - torch.cuda.memory_reserved()
    except Exception:
        found = {"failed": traceback.format_exc().strip().splitlines()[-1][:300]}
    budget_step.built, budget_step.training = build, train
    return {**made, "mode": mode, "world": 1, "paused": paused, **found}


def emptied() -> None:
    """Lets go of everything, also of what NCCL's process group still holds."""
    gc.collect()
    torch.cuda.synchronize()
    time.sleep(0.25)
    dist.barrier()
    gc.collect()
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()


def has_held(found: dict) -> bool:
    """Whether the peak of the second step is above that of the third, by half of the gradients."""
    length = len(found["steps"]) // budget_step.STEPS
    second, third = (max(peak for _, peak, _, _ in found["steps"][at * length : (at + 1) * length]) for at in (1, 2))
    size = 2 if found["dtype"] == "bf16" and not found["lora"] else 4
    return second - third > found["trainable"] * size / 2


def every_way(made: dict, port: int, path: str, tries: int) -> None:
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), RANK="0", WORLD_SIZE="1")
    torch.cuda.set_device(0)
    dist.init_process_group("nccl", rank=0, world_size=1)
    about = {"device": torch.cuda.get_device_name(0), "torch": torch.__version__}
    ways = [("ddp-view", False)] * tries or (WAYS[:2] + WAYS[3:6] if "seed" in made else WAYS)
    for mode, paused in ways:
        found = once(made, mode, paused)
        with open(path, "a") as file:
            file.write(json.dumps(found | about) + "\n")
        print(made["config"]["model_type"], mode, paused, found.get("failed") or f"{found['peak'] / 1e9:.2f} GB", flush=True)
        if tries > 0 and "failed" not in found and has_held(found):
            break
        emptied()
    os._exit(0)


def merge(out: str, paths: list[str]) -> None:
    kept: dict[str, dict] = {}
    for path in paths:
        with open(path) as file:
            rows = [json.loads(line) for line in file]
        for row in rows:
            if "failed" in row:
                continue
            key = json.dumps([row["config"], row.get("seed"), *(row[name] for name in NAMES)])
            before = kept.get(key, {"peaks": [], "peak": 0})
            larger = row if row["peak"] > before["peak"] else before
            kept[key] = {name: value for name, value in larger.items() if name != "steps"} | {"peaks": [*before["peaks"], row["peak"]]}
    with open(out, "w") as file:
        file.writelines(json.dumps(row) + "\n" for row in kept.values())


NAMES = ("dtype", "optimizer", "batch", "sequence", "checkpointing", "accumulated", "lora", "mode", "paused")


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("out")
    words.add_argument("--held-out", action="store_true")
    words.add_argument("--only", type=lambda text: [int(word) for word in text.split(",")])
    words.add_argument("--tries", type=int, default=0)
    words.add_argument("--seconds", type=float, default=500)
    words.add_argument("--merge", nargs="+")
    given = words.parse_args()
    if given.merge:
        return merge(given.out, given.merge)
    transformers.utils.logging.set_verbosity_error()
    runs = [{**COMMON, **made} for made in (HELD_OUT if given.held_out else FOUND_WITH)]
    for kind in {made["config"]["model_type"] for made in runs} - {"torchvision"}:
        importlib.import_module(f"transformers.models.{kind}.modeling_{kind}")
    context = multiprocessing.get_context("fork")
    for number, made in enumerate(runs):
        if given.only is not None and number not in given.only:
            continue
        left = given.seconds - (time.monotonic() - BEGAN)
        if left < 15:
            print(f"{len(runs) - number} runs left", flush=True)
            break
        process = context.Process(target=every_way, args=(made, 29600 + number, given.out, given.tries))
        process.start()
        process.join(min(75, left))
        if process.is_alive():
            process.kill()
            print("took too long", flush=True)


if __name__ == "__main__":
    main()
