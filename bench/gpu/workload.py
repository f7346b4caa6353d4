"""The models, batches and sizes that the cases share."""

from __future__ import annotations

import os

import torch
from torch import nn
from torch.nn import functional as F

SEED = 1234
# Set by measure.py before the cases are imported.
DEVICE = os.environ.get("MEMFIX_GPU_DEVICE", "cuda")
IS_SMOKE = os.environ.get("MEMFIX_GPU_SMOKE") == "1"

LAYERS, WIDTH, HEADS, WORDS = (2, 32, 4, 64) if IS_SMOKE else (12, 768, 12, 32_000)
BATCH, LENGTH = (8, 16) if IS_SMOKE else (8, 1024)
LLAMA_WIDTH = 32 if IS_SMOKE else 1024

GPT_SETUP = "GPT 12 layers × 768, 32 000 words, batch 8 × 1024, fp32"
GPT_TRAINING = f"{GPT_SETUP}, AdamW"
LLAMA_SETUP = "Llama 12 layers × 1024, 32 000 words, batch 8 × 1024"


def sized(real: int, smoke: int) -> int:
    return smoke if IS_SMOKE else real


class Block(nn.Module):
    def __init__(self, width: int = WIDTH, dropout: float = 0.0):
        super().__init__()
        self.before_attention, self.before_mlp = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.project = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
        self.drop = nn.Dropout(dropout)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(self.before_attention(x)).view(batch, length, 3, HEADS, width // HEADS).unbind(2)
        attended = F.scaled_dot_product_attention(
            q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), is_causal=True
        )
        x = x + self.drop(self.project(attended.transpose(1, 2).reshape(batch, length, width)))
        return x + self.drop(self.mlp(self.before_mlp(x)))


class GPT(nn.Module):
    """A plain GPT; `run` is how a block is called, so that a case can checkpoint it."""

    def __init__(self, dropout: float = 0.0, run=None):
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS, WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.blocks = nn.ModuleList(Block(dropout=dropout) for _ in range(LAYERS))
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, WORDS, bias=False)
        self.run = run or (lambda block, x: block(x))

    def forward(self, ids):
        x = self.words(ids) + self.places(torch.arange(ids.size(1), device=ids.device))
        for block in self.blocks:
            x = self.run(block, x)
        return self.head(self.norm(x))


def gpt(dropout: float = 0.0, run=None) -> GPT:
    with torch.device(DEVICE):
        return GPT(dropout, run)


def tokens(batch: int = BATCH, length: int = LENGTH) -> tuple[torch.Tensor, torch.Tensor]:
    ids = torch.randint(WORDS, (batch, length + 1), device=DEVICE)
    return ids[:, :-1].contiguous(), ids[:, 1:].contiguous()


def language_loss(logits: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return F.cross_entropy(logits.flatten(0, 1), y.flatten())


def adamw(model: nn.Module, **options) -> torch.optim.Optimizer:
    return torch.optim.AdamW(model.parameters(), lr=1e-4, **options)


def plain_step(model, optimizer, x, y):
    """One training step, the model to be trained given; what it computed is gone when it returns."""

    def step():
        loss = language_loss(model(x), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return loss.detach()

    return step


def llama_config(**options):
    from transformers import LlamaConfig

    return LlamaConfig(**{
        "hidden_size": LLAMA_WIDTH,
        "intermediate_size": LLAMA_WIDTH * 11 // 4,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": 4 if IS_SMOKE else 16,
        "num_key_value_heads": 4 if IS_SMOKE else 16,
        "vocab_size": WORDS,
        "max_position_embeddings": 2048,
        **options,
    })


def llama(dtype: torch.dtype = torch.float32, **options):
    from transformers import LlamaForCausalLM

    with torch.device(DEVICE):
        return LlamaForCausalLM(llama_config(**options)).to(dtype).train()
