import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { AxeResults, RunOptions } from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { siteFiles } from '../../src/dev/site/build.js';
import { transforms } from '../../transforms/index.js';
import { launchChromium } from '../support/chromium.js';

const folder = mkdtempSync(join(tmpdir(), 'memfix-site-'));
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
let browser: Browser;

beforeAll(async () => {
  for (const [path, text] of await siteFiles(transforms.map(({ meta }) => meta))) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  browser = await launchChromium();
});
afterAll(async () => {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
});

const DESKTOP = { viewport: { width: 1280, height: 900 } };
const PHONE = { viewport: { width: 375, height: 800 }, hasTouch: true };

/** From a disk, as the strictest case: nothing can be fetched there. */
async function open(
  path: string,
  options: Parameters<Browser['newContext']>[0] = DESKTOP,
): Promise<{ readonly page: Page; readonly trouble: string[] }> {
  const context = await browser.newContext(options);
  onTestFinished(() => context.close());
  const page = await context.newPage();
  const trouble: string[] = [];
  const home = pathToFileURL(folder).href;
  page.on('pageerror', (error) => trouble.push(String(error)));
  page.on('console', (message) => message.type() === 'error' && trouble.push(message.text()));
  page.on('request', (request) => {
    if (!request.url().startsWith(`${home}/`)) trouble.push(`request: ${request.url()}`);
  });
  await page.goto(`${home}/${path}`);
  return { page, trouble };
}

function background(page: Page): Promise<string> {
  return page.evaluate(() => getComputedStyle(document.body).backgroundColor);
}

describe('the site in a browser, from a disk', () => {
  test('search finds a transform by its words, with the keyboard alone', async () => {
    const { page, trouble } = await open('transforms/lora-rank.html');
    await page.keyboard.press('/');
    await page.keyboard.type('detach accumulated los');
    await page.locator('#results [role=option]').first().waitFor();
    expect(await page.locator('#results [aria-selected=true] b').textContent()).toBe(
      'detach-accumulated-loss',
    );
    await page.keyboard.press('ArrowDown');
    expect(await page.locator('#search').getAttribute('aria-activedescendant')).toBe('result-1');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    await page.waitForURL(/detach-accumulated-loss\.html$/);
    await page.keyboard.press('/');
    await page.keyboard.type('evaluation');
    await page.locator('#results [role=option]').first().waitFor();
    const found = await page
      .locator('#results a')
      .evaluateAll((links) => links.map((link) => (link instanceof HTMLAnchorElement ? link.href : '')));
    expect(new Set(found).size).toBe(found.length);
    expect(found[0]).not.toMatch(/\/api/);
    await page.keyboard.press('Control+k');
    await page.keyboard.type('xyzzy');
    await page.getByText('Nothing is found for “xyzzy”').waitFor();
    await page.keyboard.press('Escape');
    expect(await page.locator('#results').isHidden()).toBe(true);
    expect(trouble).toEqual([]);
  });

  test('the colours follow the system until someone chooses, on every page', async () => {
    const { page, trouble } = await open('index.html', { ...DESKTOP, colorScheme: 'dark' });
    const dark = await background(page);
    await page.emulateMedia({ colorScheme: 'light' });
    const light = await background(page);
    expect(light).not.toBe(dark);
    const button = page.getByRole('button', { name: /Colours/ });
    await button.click();
    expect(await background(page)).toBe(dark);
    await page.getByRole('link', { name: 'All transforms', exact: true }).click();
    await page.waitForURL(/transforms\/index\.html$/);
    expect(await background(page)).toBe(dark);
    await button.click();
    expect(await background(page)).toBe(light);
    expect(trouble).toEqual([]);
  });

  test('fits a phone, and its menu opens', async () => {
    const { page, trouble } = await open('index.html', PHONE);
    for (const path of [
      'index',
      'transforms/index',
      'transforms/no-grad',
      'budget',
      'ci',
      'api-toolkit',
      'compare',
    ]) {
      await page.goto(`${pathToFileURL(folder).href}/${path}.html`);
      expect(await page.evaluate(() => document.documentElement.scrollWidth), path).toBe(375);
    }
    const nav = page.getByRole('navigation', { name: 'Pages', exact: true });
    expect(await nav.isVisible()).toBe(false);
    await page.getByRole('button', { name: 'Menu' }).tap();
    expect(await nav.isVisible()).toBe(true);
    await page.keyboard.press('Escape');
    expect(await nav.isVisible()).toBe(false);
    expect(trouble).toEqual([]);
  });

  test('has its navigation without scripts, too', async () => {
    const { page } = await open('index.html', { ...PHONE, javaScriptEnabled: false });
    expect(await page.getByRole('navigation', { name: 'Pages', exact: true }).isVisible()).toBe(true);
    expect(await page.getByRole('search').isVisible()).toBe(false);
  });

  test.each([
    ['light', 'index'],
    ['dark', 'index'],
    ['light', 'transforms/no-grad'],
    ['dark', 'transforms/no-grad'],
    ['light', 'transforms/index'],
    ['dark', 'configure'],
  ] as const)('is accessible: %s, %s', async (colorScheme, path) => {
    const { page } = await open(`${path}.html`, { ...DESKTOP, colorScheme });
    await page.evaluate(axe);
    const { violations } = await page.evaluate(async () => {
      const { axe } = globalThis as unknown as { axe: { run(options: RunOptions): Promise<AxeResults> } };
      return axe.run({ resultTypes: ['violations'] });
    });
    const told = violations.map(
      ({ id, nodes }) =>
        `${id}: ${nodes
          .map(({ html }) => html)
          .slice(0, 3)
          .join(' ')}`,
    );
    expect(told).toEqual([]);
  });
});
