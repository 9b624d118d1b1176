/**
 * Tests the page of the template `issue-tracking` in a real browser: its tasks and its everyday work, by mouse and
 * keyboard.
 */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { barriers, overflow } from '#test/support/browser/barriers.ts';
import type { ServedPage } from '#test/support/browser/ui-page.ts';
import { solveCloseTheDuplicate } from '#test/support/templates/issue-tracking-page.ts';
import { openTemplatePage, type TemplatePage } from '#test/support/templates/template-page.ts';

let served: TemplatePage;
let world: ServedPage;
let page: Page;
let faults: string[];
let open: TemplatePage['open'];

beforeAll(async () => {
  served = await openTemplatePage('issue-tracking');
  ({ world, page, faults, open } = served);
}, 120_000);

afterAll(() => served.stop());

beforeEach(() => {
  faults.length = 0;
});

const passes = async (): Promise<boolean> => (await served.grade()).passed;

const issueOf = (key: string) => world.rows('issues', { key })[0];

describe('the page', { timeout: 240_000 }, () => {
  it('can link and close a duplicate, which solves the task', async () => {
    await world.begin('close-the-duplicate');
    await open('/');
    await solveCloseTheDuplicate(page);
    expect(await passes()).toBe(true);
    expect(faults).toEqual([]);
  });

  it('can release a version and move its open issues', async () => {
    await world.begin('cut-the-release');
    await open('/projects/BERTH/versions');
    await page.getByRole('button', { name: 'Release 3.3' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('12 of its 14 issues have no resolution.').waitFor();
    await dialog.getByLabel('Open issues').selectOption({ label: 'move to 4.0' });
    await dialog.getByRole('button', { name: 'Release' }).click();
    await page.getByRole('button', { name: 'Unrelease 3.3' }).waitFor();
    expect(await passes()).toBe(true);
    expect(faults).toEqual([]);
  });

  it('can reassign all issues that a query finds, by keyboard', async () => {
    await world.begin('hand-over-the-desk');
    await open('/projects/SUP/issues');
    await page.getByRole('button', { name: 'Write a query' }).click();
    await page.getByLabel('JQL').fill('project = SUP AND key = SUP-39');
    await page.keyboard.press('Enter');
    await page.getByRole('status').getByText('1', { exact: true }).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Edit assignee' }).press('Enter');
    await page.keyboard.type('Owen Pritchard');
    await page.getByRole('checkbox').waitFor();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Enter');
    await page.getByText('Assignee changed.').waitFor();
    await page.getByLabel('Add a comment').fill('*Owen* has taken over.');
    await page.keyboard.press('Control+Enter');
    await page.locator('.said strong', { hasText: 'Owen' }).waitFor();
    expect(issueOf('SUP-39')).toMatchObject({ assignee: '5f04de7225bf00009d6e3f2b' });
    expect(faults).toEqual([]);
  });

  it('shows the tracker’s own error for an invalid query', async () => {
    await open(`/issues?jql=${encodeURIComponent('colour = red')}`);
    await page.getByRole('alert').getByText("Field 'colour' does not exist").waitFor();
  });

  it('can move a card by dragging, and by the card’s menu', async () => {
    await world.reset();
    await open('/projects/BERTH/board?q=Berth+is+offered');
    const column = (name: string) => page.getByRole('region', { name, exact: true });
    const title = 'Berth is offered although the last ship has not left';
    const card = (name: string) => column(name).getByRole('link', { name: title });
    await card('To Do').dragTo(column('In Progress'));
    await card('In Progress').waitFor();
    expect(issueOf('BERTH-102')).toMatchObject({ status_id: 10001 });
    await card('In Progress').press('m');
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('radio', { name: 'Review' }).check();
    await dialog.getByRole('button', { name: 'Move' }).click();
    await card('In Review').waitFor();
    // A transition that needs a resolution asks for it before anything is moved.
    await card('In Review').dragTo(column('Done'));
    await dialog.getByLabel('Resolution').selectOption('Cannot Reproduce');
    expect(issueOf('BERTH-102')).toMatchObject({ status_id: 10003 });
    await dialog.getByRole('button', { name: 'Move' }).click();
    await card('Done').waitFor();
    expect(issueOf('BERTH-102')).toMatchObject({ resolution_id: 10003 });
    // No transition leads from here to there.
    await card('Done').dragTo(column('Blocked'));
    await card('Done').waitFor();
    expect(issueOf('BERTH-102')).toMatchObject({ status_id: 10002 });
    expect(faults).toEqual([]);
  });

  it('can create an issue, edit it, log work, and show its history', async () => {
    await world.reset();
    await open('/create?project=BERTH');
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByText('You must specify a summary of the issue.').waitFor();
    await page.getByLabel('Summary').fill('Buoys are drawn on land');
    await page.getByLabel('Description').fill('h2. What happens\n\n* The *buoy* is on land');
    await page.getByLabel('Type').selectOption({ label: 'Bug' });
    await page.getByLabel('Summary').fill('Buoys are drawn on land');
    await page.getByLabel('Description').fill('h2. What happens\n\n* The *buoy* is on land');
    await page.getByLabel('Labels').fill('mobile regression');
    await page.getByRole('checkbox', { name: 'Planner' }).check();
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByRole('heading', { name: 'Buoys are drawn on land' }).waitFor();
    await page.locator('.markdown strong', { hasText: 'buoy' }).waitFor();
    await page.getByRole('button', { name: 'Edit story points' }).click();
    await page.getByLabel('Story Points').fill('5');
    await page.keyboard.press('Enter');
    await page.getByText('Story Points changed.').waitFor();
    await page.getByRole('button', { name: 'Work log' }).click();
    await page.getByLabel('Time spent').fill('1h 30m');
    await page.getByLabel('What was done').fill('Looked at maps');
    await page.getByRole('button', { name: 'Log work' }).click();
    await page.getByText('1h 30m').first().waitFor();
    await page.getByRole('button', { name: 'History' }).click();
    await page.locator('.event', { hasText: 'Story Points' }).waitFor();
    const [row] = world.rows('issues', { summary: 'Buoys are drawn on land' });
    expect(row).toMatchObject({
      labels: ['mobile', 'regression'],
      custom: { customfield_10016: 5 },
    });
    expect(faults).toEqual([]);
  });

  it('shows hostile markup as text, and runs no script in it', async () => {
    await world.reset();
    const document = {
      type: 'doc',
      version: 1,
      content: [
        { type: 'constructor', content: [{ type: 'text', text: 'Odd.' }] },
        {
          type: 'paragraph',
          content: [
            {
              type: 'text',
              text: '<img src=x onerror=alert(1)>',
              marks: [{ type: 'link', attrs: { href: 'javascript:alert(1)' } }],
            },
          ],
        },
      ],
    };
    const fields = { description: document };
    await fetch(`${world.url}/rest/api/3/issue/BERTH-101`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${world.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ fields }),
    });
    await open('/browse/BERTH-101');
    await page.getByText('<img src=x onerror=alert(1)>').waitFor();
    await page.getByText('Odd.').waitFor();
    expect(await page.locator('.markdown :is(img, a)').count()).toBe(0);
    expect(faults).toEqual([]);
  });

  it.each([
    '/',
    '/projects/BERTH/board',
    '/projects/BERTH/issues',
    '/projects/BERTH/versions',
    '/issues?jql=project+%3D+SUP',
    '/browse/BERTH-101',
    '/create?project=BERTH',
    '/browse/BERTH-9999',
  ])('has no accessibility problem at %s, and fits the screen of a telephone', async (path) => {
    await page.setViewportSize({ width: 360, height: 720 });
    await open(path);
    await page.locator('.spinner').first().waitFor({ state: 'hidden' });
    await page.waitForLoadState('networkidle');
    expect(await barriers(page)).toEqual([]);
    expect(await overflow(page)).toBe(0);
    await page.setViewportSize({ width: 1440, height: 900 });
  });
});
