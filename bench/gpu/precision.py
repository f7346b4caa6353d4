"""Half precision."""

from __future__ import annotations

import warnings

import torch
from torch.nn import functional as F

from case import case, once
from workload import (
    DEVICE,
    LLAMA_SETUP,
    WIDTH,
    WORDS,
    adamw,
    gpt,
    language_loss,
    llama,
    tokens,
)


@case("amp-api", what="training step in mixed precision, `torch.cuda.amp` → `torch.amp`",
      setup="GPT 12 layers × 768, 32 000 words, batch 8 × 1024, float16 autocast, AdamW", rounds=3)
def renamed_autocast(after):
    model, (x, y) = gpt(), tokens()
    optimizer = adamw(model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scaler = torch.amp.GradScaler("cuda") if after else torch.cuda.amp.GradScaler()

    def step():
        optimizer.zero_grad()
        with torch.amp.autocast("cuda") if after else torch.cuda.amp.autocast():
            loss = language_loss(model(x), y)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        return loss.detach()

    return step


@once("amp-api", what="dtype of a matrix product in `autocast()` inside a bfloat16 region, old name → new name without "
      "a dtype (which is why this fix writes one there)", setup="one product of 8 × 8")
def inherited_dtype(after):
    x = torch.randn(8, 8, device=DEVICE)

    def look():
        with torch.autocast(DEVICE, dtype=torch.bfloat16):
            with torch.amp.autocast("cuda") if after else torch.cuda.amp.autocast():
                return str((x @ x).dtype).removeprefix("torch.")

    return look


@case("amp-flag-type", what="training step in fp32, which such a flag leaves → in bf16 autocast, which was meant",
      setup="GPT 12 layers × 768, 32 000 words, batch 8 × 1024, AdamW")
def mixed_precision_off(after):
    model, (x, y) = gpt(), tokens()
    optimizer = adamw(model)

    def step():
        with torch.autocast(DEVICE, dtype=torch.bfloat16, enabled=after):
            loss = language_loss(model(x), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return loss.detach()

    return step


def passes(model, x):
    def step():
        loss = model(input_ids=x, labels=x).loss
        loss.backward()
        model.zero_grad()
        return loss.detach()

    return step


@case("bf16-dtype", what="forward and backward pass, float16 weights → bfloat16 weights", setup=LLAMA_SETUP, rounds=3)
def half_to_brain(after):
    return passes(llama(torch.bfloat16 if after else torch.float16), tokens()[0])


@case("bf16-dtype", what="forward and backward pass, float32 weights → bfloat16 weights", setup=LLAMA_SETUP, rounds=3)
def full_to_brain(after):
    return passes(llama(torch.bfloat16 if after else torch.float32), tokens()[0])


@case("logits-upcast", what="loss of bf16 logits, cast to fp32 as a whole → in 8 chunks, each recomputed",
      setup="8192 tokens × 32 000 words, 768 features", rounds=3)
def chunked_loss(after):
    hidden = torch.randn(8192 if WORDS > 1000 else 64, WIDTH, device=DEVICE, dtype=torch.bfloat16, requires_grad=True)
    head = torch.randn(WORDS, WIDTH, device=DEVICE, dtype=torch.bfloat16).mul_(0.02).requires_grad_()
    labels = torch.randint(WORDS, (len(hidden),), device=DEVICE)

    def chunk(part, wanted):
        return F.cross_entropy((part @ head.T).float(), wanted, reduction="sum")

    def step():
        if after:
            loss = sum(
                torch.utils.checkpoint.checkpoint(chunk, part, wanted, use_reentrant=False)
                for part, wanted in zip(hidden.chunk(8), labels.chunk(8))
            ) / len(hidden)
        else:
            logits = (hidden @ head.T).float()
            loss = F.cross_entropy(logits, labels)
        loss.backward()
        hidden.grad = head.grad = None
        return loss.detach()

    return step
