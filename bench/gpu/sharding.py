"""Fully sharded data parallel, in one process."""

from __future__ import annotations

import tempfile
from pathlib import Path

import torch
from torch import nn

from case import case, once
from workload import DEVICE, sized

ENCODER = "one process, transformer encoder 24 layers × 1024, batch 4 × 512, fp32, AdamW"


def join_group() -> None:
    store = Path(tempfile.mkdtemp(prefix="memfix-")) / "store"
    torch.distributed.init_process_group(
        "nccl" if DEVICE == "cuda" else "gloo", init_method=f"file://{store}", rank=0, world_size=1
    )


def offloaded(model):
    from torch.distributed.fsdp import CPUOffload, FullyShardedDataParallel

    return FullyShardedDataParallel(
        model,
        cpu_offload=CPUOffload(offload_params=True),
        use_orig_params=True,
        device_id=torch.cuda.current_device() if DEVICE == "cuda" else None,
    )


@case("fsdp-cpu-offload", what="training step, plain → wrapped in FSDP with offload", setup=ENCODER, warmup=2, steps=5)
def wrapped(after):
    join_group()
    width = sized(1024, 32)
    layer = nn.TransformerEncoderLayer(width, 4, 4 * width, dropout=0.0, batch_first=True)
    model = nn.TransformerEncoder(layer, sized(24, 2), enable_nested_tensor=False)
    model = offloaded(model) if after else model.to(DEVICE)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    x = torch.randn(4, sized(512, 8), width, device=DEVICE)

    def step():
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return loss.detach()

    return step


def gradients(model, parameter):
    """After 1, 2 and 3 backward passes without a step."""

    def look():
        seen = []
        for _ in range(3):
            model(torch.ones(4, 4, device=DEVICE)).sum().backward()
            found = parameter()
            seen.append("none" if found is None else f"{float(found.flatten()[0]):g}")
        return ", ".join(seen)

    return look


@once("fsdp-cpu-offload", "fsdp-offload-accumulation",
      what="gradient after 1, 2 and 3 backward passes without a step, plain → FSDP with offload",
      setup="one process, a linear layer")
def lost_gradients(after):
    join_group()
    model = nn.Linear(4, 4, bias=False)
    model = offloaded(model) if after else model.to(DEVICE)
    return gradients(model, lambda: next(model.parameters()).grad)


@once("fsdp-offload-accumulation", what="gradient after 1, 2 and 3 backward passes without a step, plain → FSDP2 with `CPUOffloadPolicy`",
      setup="one process, a linear layer")
def kept_gradients(after):
    join_group()
    model = nn.Linear(4, 4, bias=False).to(DEVICE)
    if after:
        from torch.distributed.device_mesh import init_device_mesh
        from torch.distributed.fsdp import CPUOffloadPolicy, fully_shard

        model = nn.Linear(4, 4, bias=False)
        fully_shard(model, mesh=init_device_mesh(DEVICE, (1,)), offload_policy=CPUOffloadPolicy())

    def found():
        gradient = model.weight.grad
        return gradient.to_local() if hasattr(gradient, "to_local") else gradient

    return gradients(model, found)
