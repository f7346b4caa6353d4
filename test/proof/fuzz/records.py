"""A training loop that keeps its losses: in totals, lists, dictionaries, attributes and meters, which are then read, handed to
callers, changed in place, or differentiated."""

from chance import Chance, indented

METER = [
    "class Meter:",
    "    def __init__(self):",
    "        self.total, self.count, self.last, self.seen = 0.0, 0, None, []",
    "",
    "    def update(self, value):",
    "        self.count += 1",
    "        {update}",
    "",
    "    def value(self):",
    "        return {value}",
    "",
]
UPDATES = [
    ("self.total += value", "self.total / self.count"),
    ("self.total = self.total + value * 2", "self.total / self.count"),
    ("self.total += value.item()", "self.total / self.count"),
    ("self.seen.append(value)", "sum(self.seen) / self.count"),
    ("self.seen.append(value.detach())", "torch.stack(self.seen).mean()"),
    ("self.last = value", "self.last"),
]
KEEPS = [
    (["total += {v}"], "total"),
    (["total = total + {v}"], "total"),
    (["history.append({v})"], "history[-1]"),
    (["history.append({v} * 2)"], "sum(history)"),
    (["history += [{v}]"], "torch.stack(history).mean()"),
    (["parts['a'] += {v}"], "parts['a']"),
    (["parts['b'] = {v}"], "parts['b']"),
    (["parts.setdefault('c', []).append({v})"], "parts['c'][0]"),
    (["state.total = state.total + {v}"], "state.total"),
    (["state.kept.append({v})"], "state.kept[-1]"),
    (["meter.update({v})"], "meter.value()"),
    (["last = {v}"], "last"),
    (["best = {v} if best is None or {v} < best else best"], "best"),
    (["with torch.no_grad():", "    total += {v}"], "total"),
]
READS = [
    "print(round(float({v}), 4))",
    "print('%.4f' % {v})",
    "print(f'{{float({v}):.4f}}')",
    "print(round(({v} / 3).item(), 4)) if torch.is_tensor({v}) else print({v})",
    "numbers.append(float({v}))",
    "print(float({v}) > 0.5)",
]
TRAPS = [
    "print({v}.requires_grad) if torch.is_tensor({v}) else None",
    "({v} * 0.1).backward() if torch.is_tensor({v}) and {v}.requires_grad else None",
    "loss = loss + {v} * 0.01",
    "{v}.mul_(0.5) if torch.is_tensor({v}) and not {v}.requires_grad else None",
]


class Records(Chance):
    def text(self, seed: int) -> str:
        pick, maybe = self.pick, self.maybe
        update, value = pick(UPDATES)
        lines = ["import torch", "import torch.nn.functional as F", "from torch import nn", "", ""]
        lines += [line.format(update=update, value=value) for line in METER]
        lines += ["", "class State:", "    def __init__(self):", "        self.total, self.kept = 0.0, []", "", ""]
        lines += [f"torch.manual_seed({seed})", "net = nn.Linear(4, 4)", "other = nn.Linear(4, 4)"]
        trained = pick(["net.parameters()", "[*net.parameters(), *other.parameters()]"])
        lines += [f"optimizer = torch.optim.SGD({trained}, lr=0.1)", "numbers = []", "", ""]
        kept = self.some(KEEPS, 1, 3)
        made = ["total, best, last, history = 0.0, None, None, []", "parts, state, meter = {'a': 0.0}, State(), Meter()"]
        body = [*made, f"for step in range({pick([3, 4])}):", *indented(self.step(kept))]
        reads = [pick(READS).format(v=name) for _, name in kept if maybe(0.8)]
        if maybe(0.6):
            given = pick([name for _, name in kept])
            body += [*reads, f"return {given}"]
            lines += ["def epoch():", *indented(body), "", ""]
            lines += ["for _ in range(2):", f"    result = epoch()", f"    {self.use('result')}"]
        else:
            lines += [*body, *reads]
        lines += ["print([round(p.sum().item(), 4) for m in (net, other) for p in m.parameters()], numbers[:3])"]
        return "\n".join([*lines, ""])

    def step(self, kept: list) -> list[str]:
        pick, maybe = self.pick, self.maybe
        values = ["loss", "first", "second", "first + second", "second.detach()", "loss * 2"]
        keeping = [line.format(v=pick(values)) for lines, _ in kept for line in lines]
        losses = ["x, y = torch.randn(2, 4), torch.randn(2, 4)", "out = net(x)"]
        losses += [f"first = F.mse_loss(out, y)", pick(["second = other(x).abs().mean()", "second = out.abs().mean()"])]
        losses += ["loss = first + 0.1 * second"]
        backward = f"loss.backward({pick(['', '', '', 'retain_graph=True'])})"
        step = ["optimizer.zero_grad()", backward, "optimizer.step()"]
        trap = [pick(TRAPS).format(v=name) for _, name in self.some(kept, 1, 1)] if maybe(0.3) else []
        if any("loss = loss" in line for line in trap):
            trap = [f"if step > 0 and {kept[0][1].split('[')[0].split('(')[0]} is not None:", *indented(trap)]
            return [*losses, *trap, *keeping, *step] if maybe(0.5) else [*losses, *keeping, *trap, *step]
        before = maybe(0.3)
        return [*losses, *(keeping if before else []), *step, *([] if before else keeping), *trap]

    def use(self, name: str) -> str:
        return self.pick([*READS, READS[0], *TRAPS[:2]]).format(v=name)
