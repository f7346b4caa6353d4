import { spawnSync } from 'node:child_process';
import { type Browser, chromium } from 'playwright-core';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];

/** A headless Chromium of this machine, which is installed where the machine lets us. */
export async function launchChromium(): Promise<Browser> {
  const executablePath = found() ?? installed();
  // The sandbox is not for root, whom containers run tests as.
  return chromium.launch({ executablePath, args: process.getuid?.() === 0 ? ['--no-sandbox'] : [] });
}

function found(): string | undefined {
  for (const name of NAMES) {
    const { stdout } = spawnSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' });
    if (stdout.trim() !== '') return stdout.trim();
  }
  return undefined;
}

function installed(): string {
  const script =
    'apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends chromium';
  const { status, stderr } = spawnSync('sh', ['-c', script], { encoding: 'utf8' });
  const path = found();
  if (path !== undefined) return path;
  throw new Error(
    `These tests need Chromium, which is not on the PATH, and apt-get could not install it (exit ${status}): ` +
      `${stderr.trim().split('\n').at(-1)}. Install \`chromium\` or \`google-chrome\`, then run them again.`,
  );
}
