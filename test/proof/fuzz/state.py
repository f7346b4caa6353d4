"""Modules with running statistics, constants that are made and moved, and checkpoints that are loaded: what becomes of their
values, gradients, types and devices is printed."""

from chance import Chance, indented

HOLDS = [
    "self.mean = torch.zeros(4)",
    "self.register_buffer('mean', torch.zeros(4))",
    "self.mean = None",
    "self.mean = nn.Parameter(torch.zeros(4), requires_grad=False)",
    "self.mean = 0.0",
]
FOLDS = [
    "self.mean = 0.9 * self.mean + 0.1 * value",
    "self.mean = self.mean * 0.9 + value * 0.1",
    "self.mean = 0.9 * self.mean + 0.1 * value.detach()",
    "self.mean.mul_(0.9).add_(0.1 * value.detach())",
    "self.mean = value if self.mean is None else 0.9 * self.mean + 0.1 * value",
    "self.mean = torch.lerp(self.mean, value, 0.1)",
    "self.mean += 0.1 * (value - self.mean)",
    "self.mean.copy_(0.9 * self.mean + 0.1 * value)",
]
READS = [
    "return x - self.mean",
    "return x - self.mean.detach()",
    "return x - value",
    "return x * (self.mean.sum() > 0)",
    "center = self.mean\n        return x - center.detach()",
]
LOOKS = [
    "print([round(v, 4) for v in net[1].mean.tolist()])",
    "print(sorted(net.state_dict()))",
    "print(len(list(net.parameters())), len(list(net.buffers())))",
    "print(net[1].mean.requires_grad)",
    "print(copy.deepcopy(net)[1].mean.shape)",
    "net.double()\nprint(net[1].mean.dtype)",
    "net[1].mean.sum().backward()\nprint(net[0].weight.grad is None)",
    "net[1].mean = torch.ones(4)\nprint(net(torch.ones(2, 4)).sum().item() > 0)",
]
CONSTANTS = [
    "torch.zeros(2, 4)",
    "torch.ones(4)",
    "torch.arange(4)",
    "torch.arange(0, 1, 0.25)",
    "torch.linspace(0.0, 1.0, 4)",
    "torch.tensor([1.0, 2.0, 3.0, 4.0])",
    "torch.tensor(2.5)",
    "torch.full((4,), 0.1)",
    "torch.eye(4)",
    "torch.zeros(4, requires_grad=True)",
    "torch.empty(4).fill_(3)",
    "torch.zeros(x.size(0), 4)",
    "torch.ones_like(x)",
    "torch.tensor([step, 1, 2, 3])",
    "torch.tensor(rows)",
    "torch.full((4,), 1)",
    "torch.arange(4).repeat(2, 1)",
    "torch.tensor(0.1, dtype=torch.float64)",
]
CASTS = ["", "", "", ".float()", ".long()", ".half()", ".bool()", ".double()"]
MOVES = [".to(device)", ".to(device)", ".to(x.device)", ".to(x)", ".to(device, torch.float16)", ".to(device, non_blocking=True)", ""]
USES = [
    "print(c{n}.dtype, c{n}.device.type, tuple(c{n}.shape), c{n}.requires_grad, c{n}.is_leaf)",
    "print(round(c{n}.double().sum().item(), 5))",
    "kept.append(c{n})",
    "c{n} += 1" ,
    "c{n}[0] = 7",
    "x = x + c{n}.to(x.dtype).sum()",
    "print(any(k is c{n} for k in kept))",
]


class State(Chance):
    def text(self, seed: int) -> str:
        pick = self.pick
        lines = ["import copy", "import os", "import tempfile", "import torch", "import torch.nn.functional as F"]
        lines += ["from torch import nn", "", f"torch.manual_seed({seed})"]
        lines += ['device = torch.device("cuda" if torch.cuda.is_available() else "cpu")', "rows = [[1, 2], [3, 4]]", "", ""]
        kind = pick([self.statistic, self.constants, self.constants, self.load])
        return "\n".join([*lines, *kind(), ""])

    def statistic(self) -> list[str]:
        pick, maybe = self.pick, self.maybe
        guard = pick(["if self.training:", "if self.training:", "if True:", "if self.training and x.size(0) > 1:"])
        value = pick(["x.mean(0)", "x.mean(0).detach()", "x.detach().mean(0)", "x.abs().mean(0)"])
        lines = ["class Norm(nn.Module):", "    def __init__(self):", "        super().__init__()"]
        lines += [f"        {pick(HOLDS)}", "", "    def forward(self, x):", f"        value = {value}"]
        lines += [f"        {guard}", f"            {pick(FOLDS)}", f"        {pick(READS)}", "", ""]
        lines += ["net = nn.Sequential(nn.Linear(4, 4), Norm(), nn.Linear(4, 1))"]
        lines += ["optimizer = torch.optim.SGD(net.parameters(), lr=0.1)"]
        step = ["optimizer.zero_grad()", "loss = net(torch.randn(3, 4)).pow(2).mean()"]
        step += [f"loss.backward({pick(['', '', 'retain_graph=True'])})", "optimizer.step()", "print(round(loss.item(), 5))"]
        lines += ["for step in range(3):", *indented(step)]
        lines += ["net.eval()", "print(round(net(torch.ones(2, 4)).sum().item(), 5))"] if maybe(0.5) else []
        for look in self.some(LOOKS, 1, 3):
            lines += look.split("\n")
        return [*lines, "print([round(p.sum().item(), 5) for p in net.parameters()])"]

    def constants(self) -> list[str]:
        pick = self.pick
        body = ["x = torch.full((2, 4), 0.5, device=device)"]
        for n in range(self.random.randint(2, 5)):
            body += [f"c{n} = {pick(CONSTANTS)}{pick(CASTS)}{pick(MOVES)}", f"print(round(c{n}.double().sum().item(), 5))"]
            body += [use.format(n=n) for use in self.some(USES, 1, 3)]
        loop = ["kept = []", f"for step in range({pick([1, 3])}):", *indented(body)]
        return ["def run():", *indented([*loop, "print(round(x.double().sum().item(), 5))"]), "", "", "run()"]

    def load(self) -> list[str]:
        pick, maybe = self.pick, self.maybe
        lines = ["net = nn.Linear(4, 4).to(device)", "optimizer = torch.optim.Adam(net.parameters(), lr=0.1)"]
        lines += ["net(torch.ones(1, 4, device=device)).sum().backward()", "optimizer.step()"]
        saved = pick(["net.state_dict()", "{'net': net.state_dict(), 'optimizer': optimizer.state_dict(), 'step': 3}"])
        lines += ['path = os.path.join(tempfile.mkdtemp(), "net.pt")', f"torch.save({saved}, path)"]
        lines += [f"other = nn.Linear(4, 4){pick(['', '.to(device)', '.to(device)', '.half().to(device)'])}"]
        state = pick(["state", "loaded"])
        lines += [f"{state} = torch.load(path)"]
        part = state if "'net'" not in saved else f"{state}['net']"
        takes = [f"other.load_state_dict({part})", f"other.load_state_dict({part}, strict=False)"]
        takes += [f"other.load_state_dict({{k: v for k, v in {part}.items()}})", f"other.load_state_dict({part}, assign=True)"]
        takes += [f"other.weight = nn.Parameter({part}['weight'])", f"other.weight.data = {part}['weight']"]
        takes += [f"other.weight.data.copy_({part}['weight'])", f"other.weight.data = {part}['weight'] * other.weight.data"]
        lines += [pick(takes)]
        if "'net'" in saved and maybe(0.5):
            lines += ["again = torch.optim.Adam(other.parameters(), lr=0.1)", f"again.load_state_dict({state}['optimizer'])"]
            lines += ["print({str(v.device) for s in again.state.values() for v in s.values() if torch.is_tensor(v)})"]
        looks = [f"print({part}['weight'].device.type)", f"kept = {part}['bias'].clone()\nprint(kept.device.type)"]
        looks += [f"print(round(({part}['weight'] @ torch.ones(4, device=device)).sum().item(), 4))", f"print(sorted({part}))"]
        for look in self.some(looks, 0, 2):
            lines += look.split("\n")
        return [*lines, "print(other.weight.device.type, other.weight.dtype, round(other.weight.double().sum().item(), 5))"]
