import { expect, test } from 'vitest';
import { renderOverview } from '../../src/report/overview.js';
import { noColor } from '../../src/report/paint.js';

const VIEW = { paint: noColor, width: 80, verbose: false };
const FOLDER = { folder: 'work', files: 43, notebooks: 0, packages: new Map([['torch', 42]]), scans: [] };

test('a quick look that could not tell gives no all-clear', () => {
  const said = renderOverview({ ...FOLDER, unsettled: 12 }, VIEW);
  expect(said).toContain(
    'Nothing at a quick look, but 12 of 43 files need a longer look: `memfix check`\ntakes it.\n',
  );
  expect(said).not.toContain('found nothing');
  expect(renderOverview({ ...FOLDER, unsettled: 1 }, VIEW)).toContain('1 of 43 files needs a longer look');
  expect(renderOverview({ ...FOLDER, unsettled: 0 }, VIEW)).toContain('A quick look found nothing.\n');
});
