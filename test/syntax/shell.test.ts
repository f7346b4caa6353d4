import { describe, expect, it } from 'vitest';
import { applyEdits } from '../../src/edit/apply.js';
import { scriptSetting } from '../../src/syntax/shell.js';

const setting = (text: string) => scriptSetting(text, 'train.py', 'CONF', 'a:True');

/** The script after the change that is proposed for it. */
function changed(text: string): string | undefined {
  const found = setting(text);
  return found !== undefined && 'edit' in found ? applyEdits(text, [found.edit]) : undefined;
}

describe('scriptSetting', () => {
  it.each([
    ['a plain command', 'set -e\npython train.py\n', 'set -e\nexport CONF="a:True"\npython train.py\n'],
    ['no final newline', 'python train.py', 'export CONF="a:True"\npython train.py'],
    [
      'variables in front',
      'CUDA_VISIBLE_DEVICES=0 python3 -u src/train.py --lr 1\n',
      'export CONF="a:True"\nCUDA_VISIBLE_DEVICES=0 python3 -u src/train.py --lr 1\n',
    ],
    [
      'a continued line in a loop',
      'for s in 1 2; do\n    torchrun \\\n        --nproc 2 train.py\ndone\n',
      'for s in 1 2; do\n    export CONF="a:True"\n    torchrun \\\n        --nproc 2 train.py\ndone\n',
    ],
    ['CRLF', 'x=1\r\npython train.py\r\n', 'x=1\r\nexport CONF="a:True"\r\npython train.py\r\n'],
    [
      'a value that is not exported',
      'CONF=b:1 # why\npython train.py\n',
      'export CONF=b:1 # why\npython train.py\n',
    ],
  ])('changes %s', (_, before, after) => {
    expect(changed(before)).toBe(after);
    expect(setting(after)?.kind).toBe('set');
  });

  it.each([
    ['an export', 'export CONF="b:1"\npython train.py\n', 'set'],
    ['an export among others', 'export X=1 CONF=b:1\npython train.py\n', 'set'],
    ['the same line', 'CONF=b:1 python train.py\n', 'set'],
    ['an export below', 'python train.py\nexport CONF=b:1\n', 'unclear'],
    ['two settings', 'export CONF=b:1\nexport CONF=c:1\npython train.py\n', 'unclear'],
    ['a branch of case', 'case $1 in\n  a) python train.py ;;\nesac\n', 'unclear'],
    ['a pipe above', 'cat x |\npython train.py\n', 'unclear'],
    ['a here-document', 'cat <<EOF > job\npython train.py\nEOF\n', 'unclear'],
    ['another program', 'python pretrain.py\npython train.pyc\n', undefined],
    ['a comment', '# python train.py\necho train.py\n', undefined],
  ])('leaves %s alone', (_, text, kind) => {
    expect(setting(text)?.kind).toBe(kind);
    expect(changed(text)).toBeUndefined();
  });
});
