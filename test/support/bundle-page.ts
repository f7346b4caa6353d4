import { bundlePage } from '../../src/dev/page-bundle.js';

/** Before any test: the page as its source is now, where memfix looks for it. */
export async function setup(): Promise<void> {
  await bundlePage();
}
