import { describe, expect, it } from 'vitest';
import { Glimpse } from '../../src/syntax/glimpse.js';

const TEXT = `
"""Call model.eval() first."""
limit = 3  # model.eval()

def quiet(model):
    """Not model.eval()."""
    return "model.eval()"  # model.eval()

def loud(model):
    for _ in range(limit):
        model.eval()

def inside(model):
    return f"model.eval() gives {model.eval()}"

class Net:
    @property
    def still(self):
        # self.eval()
        return self
`;

/** Which of some stretches, by the function that each is; what is outside of all has the class. */
function named(stretches: readonly string[]): readonly string[] {
  return stretches.map((code) => (code.includes('class') ? 'outside' : (/def (\w+)/.exec(code)?.[1] ?? '')));
}

describe('the stretches with a word', () => {
  const glimpse = new Glimpse(TEXT);

  it('are those whose code has it, not their comments and strings', () => {
    expect(named(glimpse.stretchesWith('.eval()'))).toEqual(['loud', 'inside']);
    expect(named(glimpse.repeatingWith('.eval()'))).toEqual(['loud']);
  });

  it('are all of them that say so when they are cut', () => {
    for (const word of ['.eval()', 'model', 'limit', 'return', 'self', 'nowhere'])
      expect(glimpse.stretchesWith(word)).toEqual(glimpse.stretches.filter((code) => code.includes(word)));
  });

  it('are those with any of several words, in order', () => {
    expect(named(glimpse.stretchesWith('range', 'still'))).toEqual(['loud', 'still', 'outside']);
  });
});
