"""Recomputing activations instead of keeping them."""

from __future__ import annotations

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from case import case, once
from workload import DEVICE, GPT_TRAINING, LLAMA_SETUP, Block, adamw, gpt, llama, plain_step, tokens


def blocks_run_by(run, dropout=0.0):
    model = gpt(dropout, run)
    return plain_step(model, adamw(model), *tokens())


@case("checkpoint-use-reentrant", what="training step, `use_reentrant` unset → `False`", setup=GPT_TRAINING)
def explicit_variant(after):
    if after:
        return blocks_run_by(lambda block, x: checkpoint(block, x, use_reentrant=False))
    return blocks_run_by(lambda block, x: checkpoint(block, x))


@case("checkpoint-preserve-rng", what="training step with dropout, `preserve_rng_state=False` → the default",
      setup=f"{GPT_TRAINING}, dropout 0.1, checkpointed blocks")
def random_state_kept(after):
    if after:
        step = blocks_run_by(lambda block, x: checkpoint(block, x, use_reentrant=False), dropout=0.1)
    else:
        step = blocks_run_by(
            lambda block, x: checkpoint(block, x, use_reentrant=False, preserve_rng_state=False), dropout=0.1
        )
    return lambda: step() and None


@case("checkpoint-preserve-rng", what="training step without dropout, the default → `preserve_rng_state=False`",
      setup=f"{GPT_TRAINING}, checkpointed blocks")
def random_state_dropped(after):
    if after:
        return blocks_run_by(lambda block, x: checkpoint(block, x, use_reentrant=False, preserve_rng_state=False))
    return blocks_run_by(lambda block, x: checkpoint(block, x, use_reentrant=False))


@once("checkpoint-preserve-rng", what="relative error of the gradients with dropout, `preserve_rng_state=False` → "
      "the default", setup="two linear layers × 768 with dropout 0.5 between them, fp32")
def gradient_error(after):
    block = nn.Sequential(nn.Linear(768, 768), nn.Dropout(0.5), nn.Linear(768, 768)).to(DEVICE)
    x = torch.randn(64, 768, device=DEVICE)

    def gradient(run):
        torch.manual_seed(7)
        block.zero_grad()
        run().square().sum().backward()
        return block[2].weight.grad.clone()

    def look():
        exact = gradient(lambda: block(x))
        found = gradient(lambda: checkpoint(block, x, use_reentrant=False, preserve_rng_state=after))
        return f"{float((found - exact).norm() / exact.norm()):.2g}"

    return look


@case("enable-gradient-checkpointing", "yaml-memory-config",
      what="training step, `gradient_checkpointing_enable(…)` added", setup=f"{LLAMA_SETUP}, fp32, AdamW")
def enabled(after):
    model, (x, _) = llama(), tokens()
    if after:
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    return hugging_face_step(model, x)


@case("enable-gradient-checkpointing", what="training step, `torch.utils.checkpoint` around each block",
      setup=GPT_TRAINING)
def checkpointed_blocks(after):
    if after:
        return blocks_run_by(lambda block, x: checkpoint(block, x, use_reentrant=False))
    return blocks_run_by(None)


def hugging_face_step(model, x, **options):
    optimizer = adamw(model)

    def step():
        outputs = model(input_ids=x, labels=x, **options)
        outputs.loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return outputs.loss.detach()

    return step


@case("checkpointing-enable-kwargs", what="training step, `gradient_checkpointing_enable()` without → with its kwargs",
      setup=f"{LLAMA_SETUP}, fp32, AdamW")
def enabled_with_kwargs(after):
    model, (x, _) = llama(), tokens()
    if after:
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    else:
        model.gradient_checkpointing_enable()
    return hugging_face_step(model, x)


@case("training-use-cache", what="training step, `use_cache=False` in the forward pass",
      setup=f"{LLAMA_SETUP}, fp32, AdamW")
def without_key_value_cache(after):
    model, (x, _) = llama(), tokens()
    return hugging_face_step(model, x, **({"use_cache": False} if after else {}))


def gradient_behind_frozen_input(**how):
    block, x = Block().to(DEVICE), torch.randn(1, 8, Block().qkv.in_features, device=DEVICE)

    def look():
        out = checkpoint(block, x, **how)
        if out.requires_grad:
            out.sum().backward()
        return "none" if block.qkv.weight.grad is None else "present"

    return look


WITHOUT_GRADIENT = {
    "what": "gradient of a checkpointed block whose input requires none, re-entrant → not",
    "setup": "one block × 768",
}


@once("checkpoint-use-reentrant", "checkpointing-enable-kwargs", **WITHOUT_GRADIENT)
def gradient_of_block(after):
    return gradient_behind_frozen_input(use_reentrant=not after)
