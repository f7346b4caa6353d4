"""What a preference loop (DPO by hand) holds at its peak: two passes, a reference model, log-probabilities.

python3 bench/gpu/preference.py > $OUT/preference.jsonl
"""

import copy
import gc
import json

import torch
import torch.nn.functional as F
import transformers

DEVICE = "cuda"
CONFIGS = {
    "gpt2": lambda: transformers.GPT2Config(),
    "gpt2-medium": lambda: transformers.GPT2Config(n_layer=24, n_embd=1024, n_head=16),
    "smollm2-135m": lambda: transformers.LlamaConfig(
        num_hidden_layers=30, hidden_size=576, num_attention_heads=9, num_key_value_heads=3,
        intermediate_size=1536, vocab_size=49152, tie_word_embeddings=True, max_position_embeddings=8192,
    ),
    "smollm2-360m": lambda: transformers.LlamaConfig(
        num_hidden_layers=32, hidden_size=960, num_attention_heads=15, num_key_value_heads=5,
        intermediate_size=2560, vocab_size=49152, tie_word_embeddings=True, max_position_embeddings=8192,
    ),
}


def logps(logits, ids):
    return F.log_softmax(logits, dim=-1)[:, :-1].gather(2, ids[:, 1:].unsqueeze(-1)).squeeze(-1).sum(1)


def in_one_function(model, reference, chosen, rejected):
    """Every output has a name until the loss is there."""
    a, b = model(chosen), model(rejected)
    with torch.no_grad():
        c, d = reference(chosen), reference(rejected)
    pa, pb = F.log_softmax(a.logits, dim=-1), F.log_softmax(b.logits, dim=-1)
    pc, pd = F.log_softmax(c.logits, dim=-1), F.log_softmax(d.logits, dim=-1)
    take = lambda p, ids: p[:, :-1].gather(2, ids[:, 1:].unsqueeze(-1)).squeeze(-1).sum(1)
    return -F.logsigmoid(0.1 * ((take(pa, chosen) - take(pb, rejected)) - (take(pc, chosen) - take(pd, rejected)))).mean()


def by_helper(model, reference, chosen, rejected):
    """A helper makes one number of each answer."""
    a, b = logps(model(chosen).logits, chosen), logps(model(rejected).logits, rejected)
    with torch.no_grad():
        c, d = logps(reference(chosen).logits, chosen), logps(reference(rejected).logits, rejected)
    return -F.logsigmoid(0.1 * ((a - b) - (c - d))).mean()


def distil(model, reference, chosen, rejected):
    """A teacher of the same size, one pass each."""
    a = model(chosen).logits
    with torch.no_grad():
        c = reference(chosen).logits
    return F.kl_div(F.log_softmax(a, dim=-1), F.softmax(c, dim=-1), reduction="batchmean")


def measure(name, dtype, loss_of, batch, sequence):
    torch.manual_seed(0)
    model = transformers.AutoModelForCausalLM.from_config(CONFIGS[name]()).to(DEVICE)
    if dtype == "bf16":
        model = model.bfloat16()
    reference = copy.deepcopy(model).eval().requires_grad_(False)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
    vocabulary = model.config.vocab_size
    for step in range(3):
        if step == 1:
            torch.cuda.reset_peak_memory_stats()
        chosen, rejected = (torch.randint(0, vocabulary, (batch, sequence), device=DEVICE) for _ in range(2))
        with torch.autocast(DEVICE, torch.bfloat16, enabled=dtype == "mixed"):
            loss = loss_of(model, reference, chosen, rejected)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    peak = torch.cuda.max_memory_allocated()
    print(json.dumps({"model": name, "dtype": dtype, "loss": loss_of.__name__, "batch": batch, "sequence": sequence, "peak": peak}), flush=True)


for name in CONFIGS:
    for dtype in ["fp32", "mixed", "bf16"]:
        for loss_of in [in_one_function, by_helper, distil]:
            for batch, sequence in [(5, 1024), (2, 512), (16, 256)]:
                measure(name, dtype, loss_of, batch, sequence)
                gc.collect()
                torch.cuda.empty_cache()
