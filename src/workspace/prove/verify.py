"""Made by `memfix apply --verify ... --prepare`: run it with `python3 verify.py` where the command can run.

It runs the command as it is, twice, then once to see which lines run, then with all fixes together, and half by half
where that differs: each time in a fresh copy of `tree`, with what was measured in `runs`. It can be stopped and
started again, and goes on where it was. It decides nothing: bring this folder back, and `memfix apply --read
<folder>` decides, by the same rules as for runs on its own machine, and applies. Where that needs a run which
is not there it asks for it (`wanted.json`), and this script makes it.
"""

import base64
import glob
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
# As `src/workspace/prove/copied-run.ts` and `src/report/prove/parity.ts` have them; here they only choose what to run.
PATIENCE = {"factor": 10, "least": 60}
CHANCE_FACTOR = 3
ROUNDING = 1e-3
MOST_CHANCE = 1e-3
LABELS = ("bit-identical", "rounding")


class OutOfTime(Exception):
    pass


class Runs:
    def __init__(self, plan):
        self.plan = plan
        self.started = time.time()
        self.seconds = []
        self.made = 0

    def run(self, name, what, contents, lines=()):
        """The record of a run; it is made if it is not there."""
        place = os.path.join(HERE, "runs", name)
        known = read_json(os.path.join(place, "status.json"))
        if known is None:
            budget, spent = self.plan.get("budget"), time.time() - self.started
            if budget is not None and self.seconds and spent + max(self.seconds) > budget:
                raise OutOfTime()
            say("%s ...%s" % (what, " (about %d s)" % (max(self.seconds) + 1) if self.seconds else ""))
            known = self.make(place, contents, lines)
            self.made += 1
        self.seconds.append(known["seconds"])
        return Run(place, known)

    def make(self, place, contents, lines):
        shutil.rmtree(place, ignore_errors=True)
        records = os.path.join(place, "records")
        os.makedirs(records)
        work = os.path.join(HERE, "work")
        shutil.rmtree(work, ignore_errors=True)
        shutil.copytree(os.path.join(HERE, "tree"), work, symlinks=True)
        try:
            for path, content in contents.items():
                with open(os.path.join(work, path), "wb") as file:
                    file.write(content)
            cwd = os.path.join(work, self.plan["cwd"])
            os.makedirs(cwd, exist_ok=True)
            status = self.execute(place, records, work, cwd, lines)
        finally:
            shutil.rmtree(work, ignore_errors=True)
        # Last, so that a run which was interrupted counts as none.
        write_json(os.path.join(place, "status.json"), status)
        return status

    def execute(self, place, records, work, cwd, lines):
        path = os.environ.get("PYTHONPATH")
        shim = os.path.join(HERE, "shim")
        traced = bool(lines)
        env = dict(
            os.environ,
            PYTHONDONTWRITEBYTECODE="1",
            PWD=cwd,
            PYTHONPATH=shim + os.pathsep + path if path else shim,
            MEMFIX_PROVE_COPY=work,
            MEMFIX_PROVE_COUNT="0" if traced else "1",
            MEMFIX_PROVE_DIGEST="0" if traced else "1",
            MEMFIX_PROVE_LINES="\n".join(lines),
            MEMFIX_PROVE_RECORDS=records,
            **self.plan["env"]
        )
        patience = self.plan.get("timeout")
        if patience is None and self.seconds:
            patience = max(PATIENCE["least"], PATIENCE["factor"] * max(self.seconds))
        began = time.time()
        with open(os.path.join(place, "log.txt"), "wb") as log:
            child = subprocess.Popen(
                self.plan["command"],
                cwd=cwd,
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            late = False
            try:
                child.wait(timeout=patience)
            except subprocess.TimeoutExpired:
                late = True
            finally:
                seconds = time.time() - began
                end(child)
        return {"code": child.returncode, "seconds": seconds, "timedOut": late}


def end(child):
    """With all that it has started."""
    for sign, patience in ((signal.SIGTERM, 5), (signal.SIGKILL, None)):
        if sign == signal.SIGTERM and child.poll() is not None:
            continue
        try:
            os.killpg(child.pid, sign)
        except (ProcessLookupError, PermissionError):
            pass
        try:
            child.wait(timeout=patience)
        except subprocess.TimeoutExpired:
            pass


class Run:
    """What a run left, as far as it helps to choose the next one."""

    def __init__(self, place, status):
        self.succeeded = status["code"] == 0 and not status["timedOut"]
        self.records = [read_json(path) for path in sorted(glob.glob(os.path.join(place, "records", "*.json")))]
        with open(os.path.join(place, "log.txt"), "rb") as log:
            self.log = log.read().decode("utf-8", "replace")

    def trainer(self):
        records = self.records
        stepping = [each for each in records if each["steps"] > 0]
        loaded = [each for each in records if each["torch"] is not None and not each["forked"]]
        chosen = stepping or loaded or records
        chosen = sorted(chosen, key=lambda each: (each["rank"] or 0, -each["steps"], each["pid"]))
        return chosen[0] if chosen else None

    def series(self, metric):
        record = self.trainer()
        if record is None:
            return [self.logged(metric)]
        state = record["state"] or {"norms": []}
        values = [record["losses"]["values"], record["gradients"], state["norms"]]
        return [[float(value) for value in each] for each in values] + [self.logged(metric)]

    def logged(self, metric):
        if metric is None:
            return []
        found = [next((group for group in match.groups() if group), match.group()) for match in metric.finditer(self.log)]
        return [float(each) for each in found if is_number(each)]

    def digest(self):
        record = self.trainer()
        return None if record is None or record["state"] is None else record["state"]["digest"]

    def memory(self):
        record = self.trainer()
        if record is None:
            return 0
        if record["devices"]:
            return sum(device["allocated"] for device in record["devices"])
        return 0 if record["autograd"] is None else record["autograd"]["peak"]

    def lines(self, path):
        return {line for record in self.records for line in record["lines"].get(path, [])}


def is_number(text):
    try:
        float(text)
        return True
    except ValueError:
        return False


def seems_right(first, second, after, numerics, metric):
    """Whether it is worth going on with these fixes."""
    if not after.succeeded:
        return False
    for one, two, three in zip(first.series(metric), second.series(metric), after.series(metric)):
        if len(one) != len(three):
            return False
        chance = 0.0
        for a, again, b in zip(one, two, three):
            chance, far = max(chance, distance(a, again)), distance(a, b)
            rounds = numerics == "rounding" and far <= ROUNDING * max(abs(a), abs(b))
            if far > CHANCE_FACTOR * chance and not rounds:
                return False
    if numerics == "bit-identical":
        if first.digest() == second.digest() != after.digest():
            return False
        if tail(first) == tail(second) != tail(after):
            return False
    return after.memory() <= 1.005 * max(first.memory(), second.memory())


def too_noisy(first, second, metric):
    """The reading would decide nothing by such runs."""
    for one, two in zip(first.series(metric), second.series(metric)):
        if len(one) != len(two) or any(distance(a, b) > MOST_CHANCE * max(abs(a), abs(b)) for a, b in zip(one, two)):
            return True
    return False


def distance(a, b):
    if a == b or (a != a and b != b):
        return 0.0
    return abs(a - b) if abs(a - b) == abs(a - b) else float("inf")


def tail(run):
    return [line for line in run.log.splitlines() if line.strip()][-25:]


def contents_with(plan, candidates):
    """The files that change with some fixes; None where nothing says what they make together."""
    chosen = {plan["candidates"].index(each) for each in candidates}
    edits = {}
    for cluster in plan["clusters"]:
        members = [member for member in cluster["members"] if member in chosen]
        if not members:
            continue
        files = cluster["subsets"].get(",".join(map(str, members)))
        if files is None:
            return None
        for file in files:
            edits.setdefault(file["path"], []).extend(file["edits"])
    contents = {}
    for path, all_edits in edits.items():
        with open(os.path.join(HERE, "tree", path), "rb") as file:
            before = file.read()
        after, at = b"", 0
        for edit in sorted(all_edits, key=lambda each: (each["start"], each["end"])):
            after += before[at : edit["start"]] + edit["text"].encode("latin-1")
            at = edit["end"]
        contents[path] = after + before[at:]
    return contents


def digest_of(contents):
    lines = sorted("%s %s\n" % (hashlib.sha256(content).hexdigest(), path) for path, content in contents.items())
    return hashlib.sha256("".join(lines).encode("utf-8")).hexdigest()[:16]


def bisect(items, test, accepted):
    """As `src/workspace/prove/bisect.ts` does."""
    if not items or test(accepted + items):
        return accepted + items
    if len(items) == 1:
        return accepted
    middle = (len(items) + 1) // 2
    return bisect(items[middle:], test, bisect(items[:middle], test, accepted))


def executed(candidate, run):
    ran = run.lines(candidate["path"])
    places = candidate["places"]
    return bool(places) and all(ran & set(each["lines"]) and not ran & set(each["unless"]) for each in places)


def all_runs(plan, runs):
    metric = pattern_in(plan.get("metric"))
    first = runs.run("as-it-is-1", "as it is", {})
    if not first.succeeded:
        say("The command fails as it is; the last it printed:\n%s" % "\n".join(tail(first)))
        return 1
    second = runs.run("as-it-is-2", "as it is, once more, to tell chance from change", {})
    candidates = plan["candidates"]
    lines = runs.run("lines", "which lines run", {}, sorted({each["path"] for each in candidates}))
    running = [each for each in candidates if executed(each, lines)]
    if too_noisy(first, second, metric):
        say("Two runs as it is differ too much to tell a change by: set seeds, take fewer steps, or `--deterministic`.")
        return 0

    def test(numerics):
        def works(some):
            contents = contents_with(plan, some)
            if contents is None:
                return False
            what = "with %d of %d fixes" % (len(some), len(running))
            return seems_right(first, second, runs.run(digest_of(contents), what, contents), numerics, metric)

        return works

    accepted = []
    for numerics in LABELS:
        alike = [each for each in running if each["numerics"] == numerics]
        accepted = bisect(alike, test(numerics), accepted)
    for wanted in read_json(os.path.join(HERE, "wanted.json")) or []:
        contents = {each["path"]: base64.b64decode(each["content"]) for each in wanted["files"]}
        runs.run(wanted["digest"], "what `--read` asked for", contents)
    return 0


def pattern_in(text):
    """Written for JavaScript; one that Python does not understand is left to the reading."""
    try:
        return None if text is None else re.compile(text)
    except re.error:
        return None


def read_json(path):
    try:
        with open(path) as file:
            return json.load(file)
    except (FileNotFoundError, ValueError):
        return None


def write_json(path, value):
    with open(path + ".part", "w") as file:
        json.dump(value, file)
    os.replace(path + ".part", path)


def say(text):
    sys.stderr.write("memfix: %s\n" % text)
    sys.stderr.flush()


def main():
    runs = Runs(read_json(os.path.join(HERE, "verify.json")))
    try:
        code = all_runs(runs.plan, runs)
    except OutOfTime:
        say("The time is up; start it again to go on.")
        return 1
    if code == 0:
        words = "%d runs made in %d s" % (runs.made, time.time() - runs.started)
        say("%s. Now, where memfix is: memfix apply --read <this folder>" % words)
    return code


if __name__ == "__main__":
    sys.exit(main())
