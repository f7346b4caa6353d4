"""Steps, batches and the products that they are made of."""

from __future__ import annotations

import torch
from torch import nn

from case import case, short
from workload import (
    BATCH,
    DEVICE,
    GPT_TRAINING,
    LENGTH,
    adamw,
    gpt,
    language_loss,
    llama,
    plain_step,
    sized,
    tokens,
)


@case("fused-optimizer", what="training step of a small batch, where the optimizer makes the peak",
      setup="GPT 12 layers × 768, 32 000 words, batch 1 × 128, fp32, AdamW", rounds=5)
def fused_small(after):
    model = gpt()
    return plain_step(model, adamw(model, fused=True) if after else adamw(model), *tokens(1, sized(128, 8)))


@case("fused-optimizer", what="training step of a large batch, where the activations make it", setup=GPT_TRAINING)
def fused_large(after):
    model = gpt()
    return plain_step(model, adamw(model, fused=True) if after else adamw(model), *tokens())


@case("zero-grad-none", what="training step, `zero_grad()` first", setup=GPT_TRAINING)
def dropped_gradients(after):
    model, (x, y) = gpt(), tokens()
    optimizer = adamw(model)

    def step():
        if after:
            optimizer.zero_grad()
        else:
            optimizer.zero_grad(set_to_none=False)
        loss = language_loss(model(x), y)
        loss.backward()
        optimizer.step()
        return loss.detach()

    return step


def accumulated(model, optimizer, batches):
    """One optimizer step over the batches."""
    optimizer.zero_grad()
    total = 0.0
    for x, y in batches:
        loss = language_loss(model(x), y)
        (loss / len(batches)).backward()
        total += loss.item()
    optimizer.step()
    return total / len(batches)


@case("gradient-accumulation-loop", what="4 batches, a step after each → after all of them",
      setup=GPT_TRAINING, warmup=1, steps=5)
def accumulation_alone(after):
    model, batches = gpt(), [tokens() for _ in range(4)]
    optimizer = adamw(model)

    def stepped():
        for x, y in batches:
            optimizer.zero_grad()
            loss = language_loss(model(x), y)
            loss.backward()
            optimizer.step()

    def loop():
        if after:
            accumulated(model, optimizer, batches)
        else:
            stepped()

    return loop


@case("gradient-accumulation-loop", what="a step after all of 4 batches, each smaller by that factor: 1 × 8 → 4 × 2",
      setup="GPT 12 layers × 768, 32 000 words, 1024 tokens, fp32, AdamW", warmup=2, steps=5)
def accumulation_of_smaller_batches(after):
    model, (x, y) = gpt(), tokens()
    optimizer = adamw(model)
    batches = list(zip(x.split(2), y.split(2))) if after else [(x, y)]
    return lambda: accumulated(model, optimizer, batches)


@case("rebalance-batch", what="one optimizer step, batch 8 × 2 → 1 × 16",
      setup="GPT 12 layers × 768, 32 000 words, 1024 tokens, fp32, AdamW", warmup=1, steps=5)
def rebalanced(after):
    model, (x, y) = gpt(), tokens(16)
    optimizer, size = adamw(model), 1 if after else 8
    batches = list(zip(x.split(size), y.split(size)))
    return lambda: accumulated(model, optimizer, batches)


@case("max-sequence-length", what="training step, 1024 → 768 tokens",
      setup="GPT 12 layers × 768, 32 000 words, batch 8, fp32, AdamW")
def shorter_sequences(after):
    model = gpt()
    return plain_step(model, adamw(model), *tokens(BATCH, LENGTH * 3 // 4 if after else LENGTH))


def low_rank(width):
    x = torch.randn(BATCH * LENGTH, width, device=DEVICE)
    return x, nn.Parameter(torch.randn(width, 16, device=DEVICE)), nn.Parameter(torch.randn(16, width, device=DEVICE))


@short("matmul-association", what="forward and backward of `x @ (A @ B)` → `(x @ A) @ B`",
      setup="8192 rows × 4096, rank 16, fp32")
def associated(after):
    x, lora_a, lora_b = low_rank(sized(4096, 32))

    def step():
        update = (x @ lora_a) @ lora_b if after else x @ (lora_a @ lora_b)
        update.sum().backward()
        lora_a.grad = lora_b.grad = None
        return update[0, 0].detach()

    return step


@short("split-lora-matmul", what="forward and backward of `(x @ A @ B) * scaling`, whole → in statements",
      setup="8192 rows × 4096, rank 16, fp32")
def split(after):
    x, lora_a, lora_b = low_rank(sized(4096, 32))

    def forward():
        if after:
            output = torch.matmul(x, lora_a)
            output = torch.matmul(output, lora_b)
            output = output * 2.0
            return output
        return (x @ lora_a @ lora_b) * 2.0

    def step():
        update = forward()
        update.sum().backward()
        lora_a.grad = lora_b.grad = None
        return update[0, 0].detach()

    return step


class LowRank(nn.Module):
    """An adapter as peft writes it, around a frozen linear layer."""

    def __init__(self, base, rank):
        super().__init__()
        self.base = base
        like = {"device": base.weight.device, "dtype": base.weight.dtype}
        self.down = nn.Linear(base.in_features, rank, bias=False, **like)
        self.up = nn.Linear(rank, base.out_features, bias=False, **like)

    def forward(self, x):
        return self.base(x) + self.up(self.down(x)) * 2.0


@case("lora-rank", what="training step of LoRA on all linear layers, rank 128 → 64",
      setup="Llama 12 layers × 1024 in bf16, 32 000 words, batch 8 × 1024, AdamW; adapters written out, peft is not there")
def lower_rank(after):
    model, (x, _) = llama(torch.bfloat16), tokens()
    model.requires_grad_(False)
    for layer in model.model.layers:
        for block in (layer.self_attn, layer.mlp):
            for name, part in list(block.named_children()):
                if isinstance(part, nn.Linear):
                    setattr(block, name, LowRank(part, 64 if after else 128))
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-4)

    def step():
        loss = model(input_ids=x, labels=x).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()

    return step
