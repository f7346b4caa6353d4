import { describe, expect, test } from 'vitest';
import type { Frame } from '../../src/oom/frame.js';
import { Places } from '../../src/oom/places.js';
import { readNotebook } from '../../src/text/notebook/notebook.js';

const TRAIN = `import torch


def helper(x):
    return x


@torch.no_grad()
def evaluate(
    model,
    loader,
):
    """Runs the model.

def decoy(): this is a docstring
    """
    for batch in loader:
        out = model(batch)

        def inner():
            return model(batch)

    return out


class Trainer:
    def forward(self, x):
        return self.net(x)

    async def fit(self):
        out = model(batch)
        return out


evaluate(model, loader)
`;

function placesOf(files: Readonly<Record<string, string>>): Places {
  return new Places({
    paths: new Map(Object.keys(files).map((name) => [name, `/home/me/project/${name}`])),
    text: (name) => files[name],
  });
}

const frame = (path: string, line: number, name: string, source?: string): Frame => ({
  ...{ path, line, name },
  ...(source !== undefined && { source }),
});

describe('which file', () => {
  const files = {
    'src/train.py': TRAIN,
    'src/utils/io.py': 'def read():\n    pass\n',
    'tools/io.py': 'def write():\n    pass\n',
    'src/__init__.py': '',
    'tools/__init__.py': '',
    'trl/trainer/sft.py': 'def loss():\n    pass\n',
  };
  const places = placesOf(files);

  test.each<readonly [what: string, frame: Frame, file: string | undefined]>([
    ['a path of a container', frame('/app/src/train.py', 99, 'gone', 'x = 1'), 'src/train.py'],
    ['a relative path', frame('train.py', 4, 'helper', 'return x'), 'src/train.py'],
    [
      'only the name agrees, and the function',
      frame('/app/train.py', 4, 'helper', 'return y'),
      'src/train.py',
    ],
    [
      'only the name agrees, and the statement',
      frame('/app/train.py', 4, 'gone', 'return x'),
      'src/train.py',
    ],
    ['only the name agrees', frame('/app/train.py', 4, 'gone', 'return y'), undefined],
    ['two of the name, and one agrees further', frame('/app/utils/io.py', 1, 'x', 'y'), 'src/utils/io.py'],
    ['two of the name, and one has the function', frame('/app/io.py', 1, 'write', 'y'), 'tools/io.py'],
    ['two of the name', frame('/app/__init__.py', 1, '<module>', 'y'), undefined],
    ['another name', frame('/app/src/model.py', 1, 'forward'), undefined],
    [
      'a library',
      frame('/opt/lib/python3.11/site-packages/torch/train.py', 4, 'helper', 'return x'),
      undefined,
    ],
    [
      'a library that is checked',
      frame('/opt/lib/python3.11/site-packages/trl/trainer/sft.py', 9, 'loss'),
      'trl/trainer/sft.py',
    ],
    ['no file', frame('<string>', 1, '<module>'), undefined],
  ])('%s', (_, frame, file) => {
    expect(places.find(frame)?.file).toBe(file);
  });
});

describe('where in the file', () => {
  const find = (line: number, name: string, source?: string) =>
    placesOf({ 'src/train.py': TRAIN }).find(frame('/app/src/train.py', line, name, source));

  test.each<
    readonly [
      what: string,
      line: number,
      name: string,
      source: string | undefined,
      now: number | undefined,
      within: string | undefined,
    ]
  >([
    ['as it was', 18, 'evaluate', 'out = model(batch)', 18, 'evaluate'],
    ['moved', 120, 'evaluate', 'out = model(batch)', 18, 'evaluate'],
    ['the same words elsewhere', 18, 'fit', 'out = model(batch)', 31, 'fit'],
    ['a function in a function', 21, 'inner', 'return model(batch)', 21, 'inner'],
    ['changed since', 17, 'evaluate', 'out = net(batch)', undefined, 'evaluate'],
    ['without its source', 18, 'evaluate', undefined, 18, 'evaluate'],
    ['a number that is in another function now', 5, 'evaluate', undefined, undefined, 'evaluate'],
    ['the top of the file', 2, '<module>', 'evaluate(model, loader)', 35, undefined],
    ['a method', 28, 'forward', 'return self.net(x)', 28, 'forward'],
  ])('%s', (_, line, name, source, now, within) => {
    const spot = find(line, name, source);
    expect([spot?.line, spot?.within?.name, spot?.isFileOnly]).toEqual([now, within, false]);
  });

  test('only the file is left', () => {
    expect(find(3, 'gone', 'gone()')).toMatchObject({
      file: 'src/train.py',
      line: undefined,
      isFileOnly: true,
    });
  });

  test('a function reaches from its decorators to its last line, over its strings and its signature', () => {
    const within = find(18, 'evaluate')?.within;
    expect(within).toMatchObject({ first: 8, last: 23 });
  });

  test('what comes later in a loop may have run before', () => {
    const text = placesOf({ 'a.py': 'for x in y:\n    a()\n    b()\nc()\n' }).textOf('a.py');
    expect(text?.shareLoop(2, 3)).toBe(true);
    expect(text?.shareLoop(2, 4)).toBe(false);
  });
});

describe('cells of notebooks', () => {
  const book = (...cells: readonly string[]) => {
    const json = JSON.stringify({ cells: cells.map((source) => ({ cell_type: 'code', source })) });
    const notebook = readNotebook(json);
    if (!('program' in notebook)) throw new Error(notebook.reason);
    return notebook.program;
  };
  const files = {
    'a.ipynb': book('%time\nstep()', 'def run():\n    step()\n    return 1', 'run()\nstep()'),
    'b.ipynb': book('step()\nother()'),
    'c.py': 'run()\n',
  };

  test('are found by their statements, and told by cell', () => {
    const places = placesOf(files);
    const frames = [frame('In[9]', 2, '<module>', 'step()'), frame('In[3]', 2, 'run', 'step()')];
    places.acquaint([frame('In[9]', 1, '<module>', 'run()')]);
    expect(frames.map((each) => places.find(each))).toMatchObject([
      { file: 'a.ipynb', told: { cell: 1, line: 2 } },
      { file: 'a.ipynb', told: { cell: 2, line: 2 }, within: { name: 'run' } },
    ]);
  });

  test('are not guessed where two notebooks hold the statement', () => {
    expect(placesOf(files).find(frame('In[9]', 2, '<module>', 'step()'))).toBe(undefined);
  });

  test('are known by their function where a snapshot has no statement', () => {
    expect(placesOf(files).find(frame('In[]', 2, 'run'))).toMatchObject({
      ...{ file: 'a.ipynb', line: undefined, isFileOnly: false },
    });
  });
});
