/** The page of the template `device-management` in a real browser: two of its tasks, solved by mouse and by keys. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { barriers, overflow } from '#test/support/barriers.ts';
import { startChromium } from '#test/support/chromium.ts';
import { type ServedPage, servePage } from '#test/support/ui-page.ts';
import { templateTree } from '#test/support/worlds.ts';

let world: ServedPage;
let browser: Browser;
let page: Page;
const faults: string[] = [];

beforeAll(async () => {
  [world, browser] = await Promise.all([
    servePage(templateTree('device-management')),
    startChromium(),
  ]);
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  await world.enter(context);
  page = await context.newPage();
  page.setDefaultTimeout(30_000);
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('request', (request) => {
    if (!request.url().startsWith(`${world.page}/`)) faults.push(`${request.url()} was asked for`);
  });
}, 120_000);

afterAll(async () => {
  await browser.close();
  await world.stop();
});

beforeEach(() => {
  faults.length = 0;
});

const open = async (path: string): Promise<void> => {
  await page.goto(`${world.page}${path}`);
  await page.getByRole('heading', { level: 1 }).or(page.getByRole('alert')).first().waitFor();
};

const passes = async (): Promise<boolean> => {
  const { output } = await world.call('grade');
  return (output as { passed: boolean }).passed;
};

describe('the page', { timeout: 240_000 }, () => {
  it('finds a stolen computer, locks it and puts it into a group', async () => {
    await world.begin('lock-a-stolen-laptop');
    await open('/computers');
    await page.keyboard.press('/');
    await page.keyboard.type('Solheim');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'BGO-L0001' }).click();
    const serial = await page.getByRole('button', { name: /^Copy/ }).innerText();
    await page.getByRole('button', { name: 'Lock', exact: true }).click();
    await page.getByLabel('PIN of six digits').fill('482913');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText('device lock').waitFor();
    await open('/groups');
    await page.getByRole('link', { name: 'Lost or stolen' }).click();
    await page.getByLabel('Serial number').fill('no such');
    await page.getByRole('button', { name: 'Add to the group' }).click();
    await page.getByRole('alert').getByText('no serial number no such').waitFor();
    await page.getByLabel('Serial number').fill(serial);
    await page.getByRole('button', { name: 'Add to the group' }).click();
    await page.getByRole('link', { name: 'BGO-L0001' }).waitFor();
    expect(await passes()).toBe(true);
    expect(faults).toEqual([]);
  });

  it('switches a policy and sets what it reaches', async () => {
    await world.begin('encrypt-what-is-not');
    await open('/policies');
    await page.getByRole('link', { name: 'Turn on disk encryption' }).click();
    await page.getByRole('button', { name: 'Switch on' }).click();
    await page.getByRole('button', { name: 'Switch off' }).waitFor();
    await page.getByLabel('Reaches').selectOption({ label: 'Firewall off alone' });
    await page.getByRole('button', { name: 'Set the scope' }).click();
    await page.getByText('The scope is set').waitFor();
    const [policy] = world.rows('policies', { id: 5 });
    expect(policy).toMatchObject({
      enabled: true,
      scope: { all_computers: false, computer_groups: [6] },
    });
    expect(faults).toEqual([]);
  });

  it.each([
    '/computers',
    '/computers/1',
    '/mobile-devices',
    '/mobile-devices/1',
    '/groups',
    '/groups/computers/2',
    '/policies/5',
    '/computers/9999',
  ])('has no barriers at %s, and fits a telephone', async (path) => {
    await page.setViewportSize({ width: 360, height: 720 });
    await open(path);
    expect(await barriers(page)).toEqual([]);
    expect(await overflow(page)).toBe(0);
    await page.setViewportSize({ width: 1440, height: 900 });
  });
});
