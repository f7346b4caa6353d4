"""What one process of DDP over NCCL holds: `python budget_nccl.py OUT.jsonl [--held-out] [--seconds N]`.

After its first step DDP makes its buckets anew, and NCCL's process group lets go of the old ones late: its watchdog looks every
100 ms for collectives that are done, and the next collective after that frees their tensors. So the peak depends on how
long the first steps take. Every way is taken several times in one process: the first is cold, in the others all kernels are
loaded already; `paused` waits 0.3 s before each step, so that the old buckets go with the first collective. With one process NCCL
keeps no buffers for other GPUs; `outside` is what the card has given out beyond torch's allocator.
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


def every_way(made: dict, port: int, path: str) -> None:
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), RANK="0", WORLD_SIZE="1")
    torch.cuda.set_device(0)
    dist.init_process_group("nccl", rank=0, world_size=1)
    about = {"device": torch.cuda.get_device_name(0), "torch": torch.__version__}
    ways = WAYS[:2] + WAYS[3:6] if "seed" in made else WAYS
    for mode, paused in ways:
        found = once(made, mode, paused)
        with open(path, "a") as file:
            file.write(json.dumps(found | about) + "\n")
        print(made["config"]["model_type"], mode, paused, found.get("failed") or f"{found['peak'] / 1e9:.2f} GB", flush=True)
        emptied()
    os._exit(0)


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("out")
    words.add_argument("--held-out", action="store_true")
    words.add_argument("--seconds", type=float, default=500)
    given = words.parse_args()
    transformers.utils.logging.set_verbosity_error()
    runs = [{**COMMON, **made} for made in (HELD_OUT if given.held_out else FOUND_WITH)]
    for kind in {made["config"]["model_type"] for made in runs} - {"torchvision"}:
        importlib.import_module(f"transformers.models.{kind}.modeling_{kind}")
    context = multiprocessing.get_context("fork")
    for number, made in enumerate(runs):
        left = given.seconds - (time.monotonic() - BEGAN)
        if left < 15:
            print(f"{len(runs) - number} runs left", flush=True)
            break
        process = context.Process(target=every_way, args=(made, 29600 + number, given.out))
        process.start()
        process.join(min(75, left))
        if process.is_alive():
            process.kill()
            print("took too long", flush=True)


if __name__ == "__main__":
    main()
