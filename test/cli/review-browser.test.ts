import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { launchChromium } from '../support/chromium.js';
import { folderWith, git } from '../workspace/folders.js';
import { BRANCH, push, remotesWith, WORLD } from '../workspace/migrate/remotes.js';
import { offersIn, verdictsIn } from '../workspace/migrate/reviewing.js';
import { memfix } from './command-line.js';
import { startReview } from './review-process.js';

let browser: Browser;
beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser.close());

const migrate = (cwd: string, ...words: readonly string[]) =>
  memfix({ cwd, env: WORLD }, 'migrate', ...words);

async function plannedCampaign() {
  const bare = join(remotesWith({ one: { 'a.py': 'hold(1)\nhold(2)\nhold(3)\n' } }), 'one.git');
  const camp = folderWith({ 'campaign.toml': `repositories = [${JSON.stringify(bare)}]\n` });
  await migrate(camp, 'plan');
  return { bare, camp };
}

/** The page, with the repository open; anything that the browser complains about fails the test. */
async function open(url: string): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  const trouble: string[] = [];
  page.on('pageerror', (error) => trouble.push(String(error)));
  page.on('console', (message) => message.type() === 'error' && trouble.push(message.text()));
  onTestFinished(() => expect(trouble.filter((words) => !/net::ERR_|409/.test(words))).toEqual([]));
  await page.goto(url);
  await page.keyboard.press('j');
  await page.locator('.offer').first().waitFor();
  return page;
}

const verdicts = (page: Page) =>
  page.locator('.offer').evaluateAll((all) => all.map((each) => each.getAttribute('data-verdict')));

/** Waits until the page shows these. */
async function showing(page: Page, expected: readonly string[]): Promise<void> {
  await expect.poll(() => verdicts(page)).toEqual(expected);
}

test('what is accepted and rejected in two browsers is in the campaign, and in the commit', async () => {
  const { bare, camp } = await plannedCampaign();
  const { url, end } = await startReview(camp);
  const [one, two] = [await open(url), await open(url)];
  await one.locator('.offer').nth(0).getByRole('button', { name: 'Reject' }).click();
  await showing(one, ['reject', '', '']);
  // Whoever pressed a button is still there, and the keys go on from there.
  await one.keyboard.press('j');
  expect(
    await one
      .locator('.offer')
      .nth(1)
      .evaluate((each) => each === document.activeElement),
  ).toBe(true);
  await showing(two, ['reject', '', '']);
  expect(verdictsIn(camp)).toEqual(['reject', undefined, undefined]);

  // By keys: the fix in focus, then on to the next.
  await two.keyboard.press('j');
  await two.keyboard.press('j');
  await two.keyboard.press('y');
  await two.keyboard.press('n');
  await showing(one, ['reject', 'accept', 'reject']);
  await two.keyboard.press('u');
  await showing(one, ['reject', 'accept', '']);
  expect(verdictsIn(camp)).toEqual(['reject', 'accept', undefined]);
  expect(await one.locator('.list .progress').textContent()).toBe('2/3');

  await one.reload();
  await showing(one, ['reject', 'accept', '']);
  expect(
    await one.locator('.offer').nth(1).getByRole('button', { name: 'Accept' }).getAttribute('aria-pressed'),
  ).toBe('true');
  await one.getByRole('button', { name: 'Accept all' }).click();
  await showing(two, ['accept', 'accept', 'accept']);
  await two.locator('.offer').nth(1).getByRole('button', { name: 'Reject' }).click();
  await showing(one, ['accept', 'reject', 'accept']);
  expect(await end()).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('2 accepted and 1 rejected'),
  });
  await migrate(camp, 'run', '--push');
  expect(git(bare, 'show', `${BRANCH}:a.py`)).toBe('release(1)\nhold(2)\nrelease(3)\n');
});

test('a key decides about all fixes of a repository that are shown, and goes on to the next', async () => {
  const files = { 'a.py': 'hold(1)\nrare(2)\n' };
  const remotes = remotesWith({ one: files, two: files });
  const camp = folderWith({ 'campaign.toml': `repositories = ['${remotes}']\nselect = ['all']\n` });
  await migrate(camp, 'plan');
  const { url, end } = await startReview(camp);
  const page = await open(url);
  await page.getByLabel('Transform').selectOption('rare-word');
  await page.locator('h1').click();
  await expect.poll(() => page.locator('.offer').count()).toBe(1);
  await page.keyboard.press('N');
  await page.waitForFunction(() => document.title.includes('two'));
  await page.keyboard.press('Escape');
  await page.getByLabel('Transform').selectOption('');
  await page.locator('.list a').nth(1).click();
  await expect.poll(() => page.locator('.offer').count()).toBe(2);
  await page.keyboard.press('Y');
  await showing(page, ['accept', 'accept']);
  expect((await end()).stderr).toContain('2 accepted and 1 rejected in 2 repositories.');
  await migrate(camp, 'run', '--push');
  expect(git(join(remotes, 'one.git'), 'show', `${BRANCH}:a.py`)).toBe('release(1)\nrare(2)\n');
  expect(git(join(remotes, 'two.git'), 'show', `${BRANCH}:a.py`)).toBe('release(1)\ncommon(2)\n');
});

test('a page whose server is gone says so, and shows nothing as decided that is not saved', async () => {
  const { camp } = await plannedCampaign();
  const { url, end } = await startReview(camp);
  const page = await open(url);
  await page.locator('.offer').nth(0).getByRole('button', { name: 'Accept' }).click();
  await showing(page, ['accept', '', '']);
  await end('SIGKILL');
  await page.getByText('memfix review has stopped').waitFor();
  await page.locator('.offer').nth(1).getByRole('button', { name: 'Reject' }).click();
  await page.getByText('Not saved').waitFor();
  expect(await verdicts(page)).toEqual(['accept', '', '']);
  expect(verdictsIn(camp)).toEqual(['accept', undefined, undefined]);
  const again = await startReview(camp);
  await showing(await open(again.url), ['accept', '', '']);
});

/** What the list and the head of the repository say about its fixes. */
async function shownCounts(page: Page): Promise<readonly (string | undefined)[]> {
  const list = await page.locator('nav li .facts .dim').first().textContent();
  const head = await page.locator('.head dl div').filter({ hasText: 'Plan' }).locator('dd').textContent();
  return [list ?? undefined, head?.split(';')[0]];
}

test('a plan that changes underneath is told, and a reload shows the new one', async () => {
  const { bare, camp } = await plannedCampaign();
  const { url } = await startReview(camp);
  const page = await open(url);
  await page.locator('.offer').nth(1).getByRole('button', { name: 'Reject' }).click();
  await showing(page, ['', 'reject', '']);
  const counts = '2 fixes in 1 file, 1 rejected';
  await expect.poll(() => shownCounts(page)).toEqual([counts, counts]);
  expect((await migrate(camp, 'status')).stdout).toContain(`planned: ${counts}\n`);
  push(bare, { 'a.py': 'x = 0\nhold(1)\nhold(2)\n' });
  await migrate(camp, 'plan', '--update');
  await page.getByText('The plan has changed').waitFor();
  await page.locator('.offer').nth(2).getByRole('button', { name: 'Accept' }).click();
  await page.getByText('Not saved: The plan of').waitFor();
  expect(await verdicts(page)).toEqual(['', 'reject', '']);
  await page.getByRole('button', { name: 'Reload' }).click();
  await expect.poll(() => page.locator('.offer').count()).toBe(2);
  // Nobody can tell which of them was meant: both wait for another look.
  expect(offersIn(camp).map(({ fate }) => fate)).toEqual(['held', 'held']);
  expect(await page.getByText('held back: one like it').count()).toBe(2);
  await expect.poll(() => shownCounts(page)).toEqual(['2 held back', '2 held back']);
  await page.locator('.offer').nth(0).getByRole('button', { name: 'Accept' }).click();
  await showing(page, ['accept', '']);
  await migrate(camp, 'run', '--push');
  expect(git(bare, 'show', `${BRANCH}:a.py`)).toBe('x = 0\nrelease(1)\nhold(2)\n');
  await page.reload();
  await page.locator('.offer').first().waitFor();
  expect(await page.getByRole('button', { name: 'Accept' }).count()).toBe(0);
});

test('what another site in the same browser tries comes to nothing', async () => {
  const { camp } = await plannedCampaign();
  const { url } = await startReview(camp);
  const context = await browser.newContext();
  onTestFinished(() => context.close());
  const page = await context.newPage();
  await page.goto('data:text/html,<p>evil</p>');
  const tried = await page.evaluate(async (address) => {
    const attempt = async (work: () => Promise<unknown>): Promise<string> => {
      try {
        return `came through: ${JSON.stringify(await work())}`;
      } catch (error) {
        return String(error);
      }
    };
    const body = JSON.stringify({ repository: 'x', plan: 'x', refs: ['x'], verdict: 'reject' });
    const read = await attempt(async () => (await fetch(address)).text());
    const send = await attempt(
      async () =>
        (
          await fetch(`${address}decisions`, {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body,
          })
        ).status,
    );
    const blind = await attempt(
      async () => (await fetch(`${address}decisions`, { method: 'POST', mode: 'no-cors', body })).status,
    );
    const frame = document.createElement('iframe');
    frame.src = address;
    const framed = new Promise((resolve) =>
      frame.addEventListener('load', () => resolve(frame.contentDocument === null)),
    );
    document.body.append(frame);
    return { read, send, blind, framed: await framed };
  }, url);
  expect(tried.read).toMatch(/TypeError/);
  expect(tried.send).toMatch(/TypeError/);
  // An opaque answer to a request that was refused: nothing is in the campaign.
  expect(tried.blind).toMatch(/TypeError|came through: 0/);
  for (const frame of page.frames().slice(1)) expect(await frame.locator('.page').count()).toBe(0);
  expect(verdictsIn(camp)).toEqual([undefined, undefined, undefined]);
});
