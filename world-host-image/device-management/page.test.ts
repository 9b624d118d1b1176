/**
 * Tests the page of the template `device-management` in a real browser: two of the template's tasks, solved by mouse
 * and keyboard.
 */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { barriers, overflow } from '#test/support/browser/barriers.ts';
import type { ServedPage } from '#test/support/browser/ui-page.ts';
import { openTemplatePage, type TemplatePage } from '#test/support/templates/template-page.ts';

let served: TemplatePage;
let world: ServedPage;
let page: Page;
let faults: string[];
let open: TemplatePage['open'];

beforeAll(async () => {
  served = await openTemplatePage('device-management');
  ({ world, page, faults, open } = served);
}, 120_000);

afterAll(() => served.stop());

beforeEach(() => {
  faults.length = 0;
});

const passes = async (): Promise<boolean> => (await served.grade()).passed;

describe('the page', { timeout: 240_000 }, () => {
  it('can find a stolen computer, lock it and put it into a group', async () => {
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

  it('can disable a policy and set its scope', async () => {
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
  ])('has no accessibility problem at %s, and fits the screen of a telephone', async (path) => {
    await page.setViewportSize({ width: 360, height: 720 });
    await open(path);
    expect(await barriers(page)).toEqual([]);
    expect(await overflow(page)).toBe(0);
    await page.setViewportSize({ width: 1440, height: 900 });
  });
});
