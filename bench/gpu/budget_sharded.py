"""What several processes add to a training run, as far as one GPU can show it: `python budget_sharded.py OUT.jsonl`.

DDP and FSDP with two processes that share the GPU, with Gloo, since NCCL wants a GPU for each; `budget_nccl.py` measures
one process with NCCL. The peak is that of one process. Not measurable so: NCCL's own buffers between GPUs, which its
allocator takes outside of torch's, and what overlaps only when a real network is slower than the computation.
"""

from __future__ import annotations

import json
import os
import sys
import traceback

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

import budget_step

LLAMA = {
    "model_type": "llama", "num_hidden_layers": 12, "hidden_size": 2048, "intermediate_size": 5632,
    "num_attention_heads": 32, "num_key_value_heads": 32, "vocab_size": 32000, "tie_word_embeddings": False,
}
GPT2 = {"model_type": "gpt2", "n_layer": 24, "n_embd": 1024, "n_head": 16, "vocab_size": 50257}
COMMON = {
    "task": "train", "target": None, "attention": "sdpa", "lora": None, "quantized": None, "padded": False,
    "keeps": False, "accumulated": 1, "clipped": False,
}
RUNS = [
    {"config": LLAMA, "dtype": "bf16", "optimizer": "adamw", "batch": 4, "sequence": 512, "checkpointing": False},
    {"config": LLAMA, "dtype": "bf16", "optimizer": "adamw-fused", "batch": 16, "sequence": 1024, "checkpointing": True},
    {"config": GPT2, "dtype": "fp32", "optimizer": "adamw", "batch": 4, "sequence": 512, "checkpointing": False},
    {"config": GPT2, "dtype": "fp32", "optimizer": "sgd", "batch": 16, "sequence": 512, "checkpointing": True},
]
MODES = [("ddp", 2), ("ddp-view", 2), ("fsdp", 2)]


def blocks_of(model: torch.nn.Module) -> list[torch.nn.Module]:
    lists = [each for each in model.modules() if isinstance(each, torch.nn.ModuleList)]
    return list(max(lists, key=len))


def wrapped(mode: str, model: torch.nn.Module) -> torch.nn.Module:
    if mode.startswith("ddp"):
        from torch.nn.parallel import DistributedDataParallel

        return DistributedDataParallel(
            model, device_ids=[0], gradient_as_bucket_view=mode == "ddp-view", find_unused_parameters=mode == "ddp-unused"
        )
    if mode == "fsdp":
        from torch.distributed.fsdp import fully_shard

        for block in blocks_of(model):
            fully_shard(block)
        fully_shard(model)
    return model


def one(rank: int, mode: str, world: int, run: dict, port: int, path: str) -> None:
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), RANK=str(rank), WORLD_SIZE=str(world))
    torch.cuda.set_device(0)
    found = {**run, "mode": mode, "world": world, "rank": rank}
    try:
        dist.init_process_group("gloo", rank=rank, world_size=world)
        build = budget_step.built
        budget_step.built = lambda each, device: wrapped(mode, build(each, device))
        found.update(budget_step.measure(run))
    except Exception:
        found["failed"] = traceback.format_exc().strip().splitlines()[-1][:300]
    if rank == 0:
        found["device"] = torch.cuda.get_device_name(0)
        found["torch"] = torch.__version__
        with open(path, "a") as file:
            file.write(json.dumps(found) + "\n")
    os._exit(0)


def main(path: str) -> None:
    port = 29500
    for run in RUNS:
        for mode, world in MODES:
            port += 1
            context = mp.get_context("spawn")
            each = {**COMMON, **run}
            processes = [context.Process(target=one, args=(rank, mode, world, each, port, path)) for rank in range(world)]
            for process in processes:
                process.start()
            for process in processes:
                process.join(90)
                if process.is_alive():
                    process.kill()
            print(mode, world, run["config"]["model_type"], flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
