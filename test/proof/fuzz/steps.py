"""Three networks, of which an optimizer gets some, and a loop that runs them in any order: results that are read, detached,
changed in place, kept, or differentiated."""

from chance import Chance, indented

TEACHERS = ["copy.deepcopy(A)", "nn.Linear(4, 4)", "nn.Linear(4, 4).eval()"]
TRAINED = [
    "A.parameters()",
    "[*A.parameters(), *B.parameters()]",
    "[*A.parameters(), *T.parameters()]",
    "nn.ModuleList([A, B]).parameters()",
]
BETWEEN = [
    "{v} * 2",
    "torch.tanh({v})",
    "{v}.view(2, 4)",
    "{v} + x",
    "{v}.detach()",
    "{v}.clone()",
    "{v}[:, :4]",
    "torch.cat([{v}, x])[:2]",
    "{v} * A.bias",
    "{v} * B.bias",
    "torch.zeros_like({v})",
    "{v}.data",
]
TERMS = ["F.mse_loss(A(x), {v})", "{v}.pow(2).mean()", "({v} * B(x)).mean()"]
BEFORE_THE_STEP = [
    "torch.nn.utils.clip_grad_norm_([*A.parameters(), *T.parameters()], 1.0)",
    "torch.nn.utils.clip_grad_norm_(A.parameters(), 1.0)",
    "print(sum(p.grad.norm().item() for p in B.parameters() if p.grad is not None) > 0)",
]
MOVING_AVERAGE = [
    "with torch.no_grad():",
    "    for p, q in zip(T.parameters(), A.parameters()):",
    "        p.mul_(0.9).add_(q, alpha=0.1)",
]
SUMS = "print([round(p.sum().item(), 4) for m in (A, B, T) for p in m.parameters()])"


class Steps(Chance):
    """One program: its text, and the names that it has bound to tensors and to numbers."""

    def __init__(self, seed: str):
        super().__init__(seed)
        self.tensors = ["x"]
        self.numbers: list[str] = []

    def text(self, seed: int) -> str:
        pick, maybe = self.pick, self.maybe
        lines = ["import copy", "import torch", "import torch.nn.functional as F", "from torch import nn", ""]
        lines += [f"torch.manual_seed({seed})", "A = nn.Linear(4, 4)", "B = nn.Linear(4, 4)"]
        lines += [f"T = {pick(TEACHERS)}", "KEPT = []"]
        lines += ["T.eval()"] if maybe(0.6) else []
        lines += ["for p in T.parameters():", "    p.requires_grad_(False)"] if maybe(0.15) else []
        lines += [f"optimizer = torch.optim.SGD({pick(TRAINED)}, lr=0.1)"]
        loop = ["for step in range(3):", *indented(self.step())]
        if maybe(0.5):
            loop = ["def train():", *indented(loop), "", 'if __name__ == "__main__":', "    train()", f"    {SUMS}"]
        else:
            loop.append(SUMS)
        return "\n".join([*lines, "", *loop, ""])

    def step(self) -> list[str]:
        pick, maybe = self.pick, self.maybe
        body = [line for _ in range(self.random.randint(4, 9)) for line in self.statement()]
        terms = self.some(self.tensors[1:], 1, 3) or ["x"]
        loss = ["loss = A(x).pow(2).mean()", *(f"loss = loss + {pick(TERMS).format(v=term)}" for term in terms)]
        step = ["optimizer.zero_grad()", "loss.backward()", "optimizer.step()"]
        if maybe(0.25):
            step.insert(2, pick(BEFORE_THE_STEP))
        if maybe(0.3):
            step += MOVING_AVERAGE
        told = "".join(f", round({number}, 4)" for number in self.numbers)
        return ["x = torch.randn(2, 4)", *body, *loss, *step, f"print(round(loss.item(), 4){told})"]

    def statement(self) -> list[str]:
        pick, given = self.pick, self.pick(self.tensors)
        run = f"{pick('AABTT')}({given})"
        kind = self.random.random()
        if kind < 0.45:
            return [f"{self.bound()} = {run}{pick(['', '', '', '.detach()', '.detach()', '.data'])}"]
        if kind < 0.62:
            name = f"n{len(self.numbers)}"
            self.numbers.append(name)
            return [f"{name} = {run}.{pick(['mean', 'sum', 'max'])}().item()"]
        if kind < 0.85:
            return [f"{self.bound()} = {pick(BETWEEN).format(v=given)}"]
        if kind < 0.9:
            return [f"{given} {pick(['+=', '*='])} {pick(['0.5', 'x'])}"]
        if kind < 0.95:
            return [f"KEPT.append({given})"]
        name, other = self.bound(), f"{pick('ABT')}({given})"
        return ["if step % 2:", f"    {name} = {run}", "else:", f"    {name} = {other}{pick(['', '.detach()'])}"]

    def bound(self) -> str:
        self.tensors.append(f"v{len(self.tensors)}")
        return self.tensors[-1]
