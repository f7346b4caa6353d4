import { expect, test } from 'vitest';
import { renderOverview } from '../../src/report/overview.js';
import { noColor } from '../../src/report/paint.js';

const VIEW = { paint: noColor, width: 80, verbose: false };
const FOLDER = {
  ...{ folder: 'work', files: 43, notebooks: 0, scans: [], isPartial: false },
  packages: new Map([['torch', 42]]),
};

test('a quick look that could not tell gives no all-clear, and says what it covers', () => {
  const said = renderOverview({ ...FOLDER, unsettled: 12 }, VIEW);
  expect(said).toContain(
    'Nothing to fix in 31 of 43 files. The other 12 files take longer than a quick\nlook.\n',
  );
  expect(said).toContain('Next:  memfix check ');
  expect(renderOverview({ ...FOLDER, unsettled: 1 }, VIEW)).toContain(
    'Nothing to fix in 42 of 43 files. The other file takes longer than a quick look.\n',
  );
  expect(renderOverview({ ...FOLDER, unsettled: 43 }, VIEW)).toContain(
    '\nAll 43 files take longer than a quick look.\n',
  );
  expect(renderOverview({ ...FOLDER, unsettled: 0 }, VIEW)).toContain('\nNothing to fix here.\n');
});

test('files that there was no time to open are not said to be without torch', () => {
  const partial = { ...FOLDER, isPartial: true, unsettled: 12 };
  expect(renderOverview(partial, VIEW)).toContain('43 Python files, torch in at least 42.');
  const none = renderOverview({ ...partial, packages: new Map() }, VIEW);
  expect(none).toContain('43 Python files, too much to count those with torch.');
  expect(none).toContain('Next:  memfix check  ');
});
