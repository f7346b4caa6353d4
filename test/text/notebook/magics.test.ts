import { describe, expect, test } from 'vitest';
import { pythonProblem } from '../../../src/syntax/soundness.js';
import { readNotebook, withUnread } from '../../../src/text/notebook/notebook.js';

function programOf(...sources: readonly string[]): string {
  const cells = sources.map((source) => ({ cell_type: 'code', source }));
  const notebook = readNotebook(JSON.stringify({ cells }));
  if ('reason' in notebook) throw new Error(notebook.reason);
  return notebook.program;
}

describe('what only IPython understands', () => {
  test.each([
    ['%matplotlib inline', 'get_ipython()  #:magic 1.'],
    ['if a:\n  !pip install torch', 'if a:\n  get_ipython().system("pip install torch")  #:magic 1.'],
    ['pip install torch', 'get_ipython().system("pip install torch")  #:magic 1.'],
    ['!echo \\\n   torch\nx = 1', 'get_ipython()  #:magic 1.\n#:magic 2.\nx = 1'],
    [
      '!pip install \\\n   "torch<2"\nx = 1',
      'get_ipython().system("pip install \\"torch<2\\"")  #:magic 1.\n#:magic 2.\nx = 1',
    ],
    ['model?', 'get_ipython()  #:magic 1.'],
    ['??torch.nn', 'get_ipython()  #:magic 1.'],
    ['files = !ls *.pt', 'files = get_ipython()  #:magic 1.'],
    ['out = %time train(model)', 'out = train(model)  #:magic 1.'],
    ['out = %timeit -o train(model)', 'out = get_ipython(train(model))  #:magic 1.'],
    ['out = %timeit -o -n 3 train(model);  # slow', 'out = get_ipython(train(model))  #:magic 1.'],
    ['made["here"] = %pwd', 'made["here"] = get_ipython()  #:magic 1.'],
    ['here = %pwd', 'here = get_ipython()  #:magic 1.'],
    ['rows = %sql select 1', 'rows = exec("%sql")  #:magic 1.'],
    ['%timeit -o', 'exec("%timeit")  #:magic 1.'],
    ['%time loss = train(model)', 'loss = train(model)  #:magic 1.'],
    ['%timeit -n 10 -r3 train(model)', 'train(model)  #:magic 1.'],
    ['%run train.py', 'exec("%run")  #:magic 1.'],
    ['%store -r model', 'exec("%store")  #:magic 1.'],
    ['%%time\nx = 1', '#:magic 1.\nx = 1'],
    ['%%timeit -n 1 -r 1\nx = 1', '#:magic 1.\nx = 1'],
    ['%%timeit y = 2\nx = y', 'y = 2  #:magic 1.\nx = y'],
    ['%%shell\nls -l', 'get_ipython()  #:magic 1.\n#:magic 2.'],
    ['%%capture out\nx = 1', '#:magic 1.\nx = 1'],
    ['\n%%bash\nls -l', 'get_ipython()  #:magic 1.\n#:magic 2.\n#:magic 3.'],
    ['%%bash --out x\nls', 'exec("%%bash")  #:magic 1.\n#:magic 2.'],
    ['%%cython\ncdef int x', 'exec("%%cython")  #:magic 1.\n#:magic 2.'],
    ['%%writefile a.py\nimport torch', 'get_ipython()  #:magic 1.\n#:magic 2.'],
  ])('%j is masked', (source, masked) => {
    const program = programOf(source);
    expect(program).toBe(`#:cell 1\n${masked}\n`);
    expect(pythonProblem(program)).toBeUndefined();
  });

  test.each([
    ['x = (a\n     % b)'],
    ['x = a \\\n  % b'],
    ['"""\n%time\n!ls\n"""'],
    ["'''\n# it's\n!ls\n'''"],
    ['x = "%d" % 3'],
    ['x = y != 3'],
    ['x %= 3'],
    ['print("what?")  # why?'],
    ['print("loss = %d" % (total))'],
    ["print('loss = %3.3f, step = %3d' % (total, step))"],
    ['show(losses["= %s" % name])'],
    ['print("in the shell: x = !ls")'],
    ['# %% a cell of a script\nx = 1'],
  ])('%j is Python', (source) => {
    expect(programOf(source)).toBe(`#:cell 1\n${source}\n`);
  });

  test('has marks that no cell has', () => {
    expect(programOf('#:cell 2\n!ls', '#::magic')).toBe(
      '#:::cell 1\n#:cell 2\nget_ipython()  #:::magic 1.\n#:::cell 2\n#::magic\n',
    );
  });

  test.each([
    ['a b\nc', 'get_ipython(a, b, c)  #:magic 1.\n#:magic 2.'],
    ['print "x", total', 'get_ipython(x, total)  #:magic 1.'],
    ['total = = 3', 'total = get_ipython(total)  #:magic 1.'],
    ['import torch\nloss += f(model.net', 'import torch\nloss = get_ipython(loss, f, model)  #:magic 1.'],
    ['for i in x\n  y', 'i, x = get_ipython(i, x, y)  #:magic 1.\n#:magic 2.'],
    ['%run a.py\nx =', 'x = get_ipython(run, a, x); exec("")  #:magic 1.\n#:magic 2.'],
  ])('%j is no Python: it uses what it names', (source, masked) => {
    const notebook = readNotebook(JSON.stringify({ cells: [{ cell_type: 'code', source }] }));
    if ('reason' in notebook) throw new Error(notebook.reason);
    const unread = [{ cell: 1, at: { line: 1, column: 1 }, message: 'no Python' }];
    const { program } = withUnread(notebook, unread);
    expect(program).toBe(`#:cell 1\n${masked}\n`);
    expect(pythonProblem(program)).toBeUndefined();
  });
});
