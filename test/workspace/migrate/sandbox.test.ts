import { execFile } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { enclosed, sandboxFor, type Walls } from '../../../src/workspace/migrate/sandbox.js';
import { wallsOf } from '../../../src/workspace/migrate/surroundings.js';
import { memfix } from '../../cli/command-line.js';
import { folderWith, put } from '../folders.js';
import { BRANCH, branchesOf, remotesWith, WORLD } from './remotes.js';

const OPEN: Walls = { network: true, hidden: [], readable: [], writable: [] };
const KINDS = ['bwrap', 'unshare'] as const;

async function objectionTo(kind: (typeof KINDS)[number]): Promise<string | undefined> {
  try {
    await sandboxFor(kind, OPEN);
    return undefined;
  } catch (error) {
    return String(error);
  }
}

/** Not every machine lets its users make namespaces: what works here is tried, what does not must say so. */
const objections = new Map(
  await Promise.all(KINDS.map(async (kind) => [kind, await objectionTo(kind)] as const)),
);

interface Said {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function run(
  kind: (typeof KINDS)[number],
  script: string,
  cwd: string,
  walls: Walls,
  env: Readonly<Record<string, string | undefined>> = WORLD,
): Promise<Said> {
  const [program = '', ...words] = enclosed(kind, ['sh', '-c', script], cwd, walls);
  return new Promise((resolve) => {
    execFile(program, words, { cwd, env: { ...env } }, (error, stdout, stderr) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, stdout, stderr }),
    );
  });
}

describe.each(KINDS)('%s', (kind) => {
  const works = objections.get(kind) === undefined;

  test.skipIf(works)('says why it does not work here', () => {
    expect(objections.get(kind)).toMatch(
      new RegExp(`^Failure: The sandbox does not work here: .verify-sandbox = "${kind}".: .`),
    );
  });

  test.skipIf(!works).each(['by its name', 'by a link'])(
    'shows the disk to read, hides what it is told to, and lets write where it is told, %s',
    async (how) => {
      const hidden = folderWith({ 'secret.txt': 'secret', 'lib/code.txt': 'code', 'tree/a.py': '' });
      const outside = folderWith({ 'data.txt': 'data' });
      const links = folderWith();
      symlinkSync(hidden, join(links, 'link'));
      const place = how === 'by a link' ? join(links, 'link') : hidden;
      const walls = {
        ...OPEN,
        hidden: [place],
        readable: [join(place, 'lib')],
        writable: [join(place, 'tree')],
      };
      const script = `
cat ${outside}/data.txt
echo
cat ../lib/code.txt
ls ..
echo x > new.txt
echo x > ${outside}/new.txt
echo x > ../lib/new.txt
echo x > ../forgotten.txt
exit 7
`;
      const { code, stdout, stderr } = await run(kind, script, join(place, 'tree'), walls);
      expect([code, stdout]).toEqual([7, 'data\ncodelib\ntree\n']);
      expect(stderr.match(/Read-only file system/g)).toHaveLength(2);
      expect(readdirSync(join(hidden, 'tree')).sort()).toEqual(['a.py', 'new.txt']);
      expect(readdirSync(hidden).sort()).toEqual(['lib', 'secret.txt', 'tree']);
      expect(readdirSync(outside)).toEqual(['data.txt']);
    },
  );

  test.skipIf(!works)('has no network unless it is given one', async () => {
    const server = createServer((socket) => socket.end('hello')).listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await new Promise((resolve) => server.once('listening', resolve));
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    const script = `python3 -c 'import socket; print(socket.create_connection(("127.0.0.1", ${port}), 5).recv(9))'`;
    expect(await run(kind, script, '/', { ...OPEN, network: false })).toMatchObject({ code: 1, stdout: '' });
    expect(await run(kind, script, '/', OPEN)).toMatchObject({ code: 0, stdout: "b'hello'\n" });
    // Its own machine is there, for programs that talk to themselves.
    const own = `import socket
server = socket.create_server(("127.0.0.1", 0))
socket.create_connection(server.getsockname(), 5)`;
    const hasIp =
      kind === 'bwrap' || existsSync('/sbin/ip') || existsSync('/usr/sbin/ip') || existsSync('/bin/ip');
    const alone = await run(kind, `python3 -c '${own}'`, '/', { ...OPEN, network: false });
    if (hasIp) expect(alone).toMatchObject({ code: 0 });
  });

  test.skipIf(!works)('shows no process but its own, and none outlives it', async () => {
    const tree = folderWith();
    const script = `
cat /proc/*/cmdline | tr '\\0' ' '
setsid sh -c 'while :; do echo alive >> ${tree}/log; sleep 0.01; done' &
while [ ! -s log ]; do sleep 0.01; done
`;
    const { code, stdout } = await run(kind, script, tree, { ...OPEN, writable: [tree] });
    expect(code).toBe(0);
    expect(stdout).not.toContain('vitest');
    const running = readdirSync('/proc').filter(
      (pid) => /^\d+$/.test(pid) && commandOf(pid).includes(`${tree}/log`),
    );
    expect(running).toEqual([]);
  });

  test.skipIf(!works)('lets nobody out by taking the walls down', async () => {
    const hidden = folderWith({ 'secret.txt': 'secret', 'tree/a.py': '' });
    const tree = join(hidden, 'tree');
    const script = `
umount -l ${hidden}
unshare --user --mount umount -l ${hidden}
for place in / /proc/sys /sys; do mount -o remount,rw $place; done
cat /proc/sys/vm/swappiness > /proc/sys/vm/swappiness && echo set
find /dev -type b
cat ${hidden}/secret.txt
`;
    const { code, stdout } = await run(kind, script, tree, { ...OPEN, hidden: [hidden], writable: [tree] });
    expect([code, stdout]).toEqual([1, '']);
    const devices =
      'echo x > /dev/null && head -c 1 /dev/urandom > random && echo x > /dev/shm/x && echo ok > /dev/stdout | cat';
    expect(await run(kind, devices, tree, { ...OPEN, writable: [tree] })).toMatchObject({ stdout: 'ok\n' });
  });

  test.skipIf(!works)('has the Python environment of the user, and nothing else of home', async () => {
    const home = folderWith({
      '.ssh/id_ed25519': 'secret',
      '.netrc': 'secret',
      '.local/share/keyrings/login': 'secret',
      '.local/bin/tool': '#!/bin/sh\necho tool',
      '.local/lib/python3.11/site-packages/mine.py': '',
      'venvs/one/pyvenv.cfg': '',
      'venvs/one/lib/python3.11/site-packages/theirs.py': '',
      '.pyenv/versions/3.11.9/lib/python3.11/os.py': '',
      '.pyenv/versions/3.11.9/bin/python3.11': '#!/bin/sh\necho python',
      'data/set.txt': 'data',
      'venvs/one/bin/.keep': '',
    });
    chmodSync(join(home, '.local/bin/tool'), 0o755);
    chmodSync(join(home, '.pyenv/versions/3.11.9/bin/python3.11'), 0o755);
    symlinkSync(join(home, '.pyenv/versions/3.11.9'), join(home, '.pyenv/versions/3.11'));
    symlinkSync(join(home, '.pyenv/versions/3.11/bin/python3.11'), join(home, 'venvs/one/bin/python3'));
    const env = {
      ...WORLD,
      HOME: home,
      PATH: `${join(home, 'venvs/one/bin')}:${join(home, '.local/bin')}:${process.env['PATH']}`,
    };
    const setting = { network: false, readable: ['~/data'], writable: [] };
    const walls = wallsOf(setting, env, 'python3 x', []);
    const script = `python3; tool; cd ${home}; find . -type f | sort; echo x > scratch; cat scratch`;
    const { stdout, stderr } = await run(kind, script, '/', walls, env);
    expect(stderr).toBe('');
    expect(stdout.split('\n')).toEqual([
      ...['python', 'tool', './.local/bin/tool', './.local/lib/python3.11/site-packages/mine.py'],
      ...['./.pyenv/versions/3.11.9/bin/python3.11', './.pyenv/versions/3.11.9/lib/python3.11/os.py'],
      ...['./.pyenv/versions/3.11/bin/python3.11', './.pyenv/versions/3.11/lib/python3.11/os.py'],
      ...['./data/set.txt', './venvs/one/bin/.keep', './venvs/one/lib/python3.11/site-packages/theirs.py'],
      ...['./venvs/one/pyvenv.cfg', 'x', ''],
    ]);
    expect(existsSync(join(home, 'scratch'))).toBe(false);
    const open = wallsOf({ ...setting, readable: ['~'] }, { ...env, TMPDIR: home }, '', []);
    expect(open.hidden).not.toContain(home);
  });

  test.skipIf(!works).each([
    ['a command', 'sh verify.sh'],
    ['a proof', 'memfix prove -- python3 train.py'],
  ])('keeps the code of a repository in (%s)', async (_, verify) => {
    const outside = folderWith();
    const files = {
      'a.py': 'hold()\n',
      'train.py':
        'import builtins, subprocess\nfor name in ("ho" + "ld", "release"):\n    setattr(builtins, name, lambda: None)\nimport a\nsubprocess.run(["sh", "verify.sh"], check=True)\n',
      'verify.sh': `
git status --short > status.txt || exit 3
git log --format=%s > /dev/null || exit 4
ls \${MEMFIX_PROVE_TREE:-$PWD}/../../mirrors/*/config && exit 5
ls \${MEMFIX_PROVE_TREE:-$PWD}/../../campaign.toml && exit 6
cat /proc/*/environ | grep -q planted && exit 7
touch ${outside}/escaped && exit 8
echo x > $TMPDIR/scratch || exit 9
touch own.txt
`,
    };
    const bare = join(remotesWith({ one: files }), 'one.git');
    const camp = folderWith({
      'campaign.toml': `repositories = ["${bare}"]\nverify = "${verify}"\nverify-sandbox = "${kind}"\n`,
    });
    const env = { ...WORLD, GH_TOKEN: 'planted', TMPDIR: '/tmp' };
    const links = folderWith();
    symlinkSync(camp, join(links, 'link'));
    const { code, stderr } = await memfix({ cwd: join(links, 'link'), env }, 'migrate', 'run', '--push');
    const shown = kind === 'bwrap' ? 'bubblewrap' : 'unshare';
    expect(stderr).toContain(`The verify command runs in a sandbox (${shown}, without network).`);
    const [name = ''] = readdirSync(join(camp, 'logs'));
    const log = readFileSync(join(camp, 'logs', name), 'utf8');
    const words = `in a sandbox (${shown}, without network)`;
    expect([code, log]).toEqual([0, expect.stringContaining(`# memfix: \`${verify}\` ${words}\n`)]);
    expect(branchesOf(bare)).toEqual(['main', BRANCH]);
    expect(readdirSync(outside)).toEqual([]);
  });
});

test('`auto` takes what works, and says what', async () => {
  const first = KINDS.find((kind) => objections.get(kind) === undefined) ?? 'none';
  expect(await sandboxFor('auto', OPEN)).toBe(first);
  const bare = join(remotesWith({ one: { 'a.py': 'hold()\n' } }), 'one.git');
  const camp = folderWith({ 'campaign.toml': `repositories = ["${bare}"]\nverify = "false"\n` });
  const said = {
    bwrap: 'bubblewrap',
    unshare: 'unshare',
    none: 'without a sandbox, with your rights: this machine has none that works',
  }[first];
  const { code, stderr } = await memfix({ cwd: camp, env: WORLD }, 'migrate', 'run');
  expect(code).toBe(1);
  expect(stderr.match(/The verify command runs .*/g)).toEqual([expect.stringContaining(said)]);
  const [repository] = JSON.parse(
    (await memfix({ cwd: camp, env: WORLD }, 'migrate', 'report')).stdout,
  ).repositories;
  expect(repository.failure.next.includes('It ran in a sandbox')).toBe(first !== 'none');
});

test('where there is none, `auto` goes without, and a name is refused', async () => {
  const before = process.env['PATH'];
  process.env['PATH'] = folderWith();
  vi.resetModules();
  try {
    const fresh = await import('../../../src/workspace/migrate/sandbox.js');
    expect(await fresh.sandboxFor('auto', OPEN)).toBe('none');
    await expect(fresh.sandboxFor('bwrap', OPEN)).rejects.toMatchObject({
      title: 'The sandbox does not work here',
      detail: '`verify-sandbox = "bwrap"`: there is no program `bwrap`',
    });
  } finally {
    process.env['PATH'] = before;
    vi.resetModules();
  }
});

test('a campaign says what is wrong with its sandbox', async () => {
  const camp = folderWith();
  const ask = async (lines: string) => {
    put(camp, { 'campaign.toml': `repositories = []\n${lines}\n` });
    const { code, stderr } = await memfix({ cwd: camp, env: WORLD }, 'migrate', 'status');
    return [code, stderr];
  };
  expect(await ask('verify-sandbox = "jail"')).toEqual([
    2,
    expect.stringContaining('`verify-sandbox` must be one of auto, bwrap, unshare, none'),
  ]);
  expect(await ask('verify-env = ["GH_TOKEN"]')).toEqual([
    2,
    expect.stringContaining('would give GH_TOKEN to the code of every repository'),
  ]);
  expect(await ask('verify-network = "no"')).toEqual([2, expect.stringContaining('must be true or false')]);
});

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    // It has ended meanwhile.
    return '';
  }
}
