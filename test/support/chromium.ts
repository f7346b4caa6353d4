import { type Browser, chromium } from 'playwright-core';
import { install, programAt } from './debian.js';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];

/** A headless Chromium of this machine, which is installed where the machine lets us. */
export async function launchChromium(): Promise<Browser> {
  const executablePath = found() ?? installed();
  // The sandbox is not for root, whom containers run tests as.
  return chromium.launch({ executablePath, args: process.getuid?.() === 0 ? ['--no-sandbox'] : [] });
}

function found(): string | undefined {
  return NAMES.map(programAt).find((path) => path !== undefined);
}

function installed(): string {
  const why = install('chromium');
  const path = found();
  if (path !== undefined) return path;
  throw new Error(
    `These tests need Chromium, which is not on the PATH, and apt-get could not install it (${why}). ` +
      'Install `chromium` or `google-chrome`, then run them again.',
  );
}
