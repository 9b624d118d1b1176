/**
 * Tests the page of the template `code-hosting` in a real browser: what a person does on the page, by mouse and
 * keyboard.
 */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Row } from '#language/contract.ts';
import { barriers, overflow } from '#test/support/browser/barriers.ts';
import type { ServedPage } from '#test/support/browser/ui-page.ts';
import {
  openTemplatePage,
  type TemplatePage,
  usualSize,
} from '#test/support/templates/template-page.ts';

const berth = '/northquay/berth';

let served: TemplatePage;
let world: ServedPage;
let page: Page;
let faults: string[];

beforeAll(async () => {
  served = await openTemplatePage('code-hosting');
  ({ world, page, faults } = served);
}, 120_000);

beforeEach(async () => {
  await page.goto('about:blank');
  await world.begin('close-duplicate');
  await page.setViewportSize(usualSize);
  faults.length = 0;
});

afterAll(() => served.stop());

const open = async (path: string): Promise<void> => {
  await page.goto(`${world.page}${path}`);
};

const heading = (name: string | RegExp) => page.getByRole('heading', { name, level: 1 });

/** Sends a request to the API that the page uses, as another user would do meanwhile. */
const elsewhere = async (method: string, path: string, body: unknown): Promise<Row> => {
  const response = await fetch(`${world.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${world.token}` },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as Row;
};

const requests = async (): Promise<Row[]> => {
  const { output } = await world.call('state', 'state', { entity: 'svc_requests', limit: 500 });
  return ((output as Row).rows as Row[]).filter(({ via }) => via === 'ui');
};

const issueRow = (number: number) => world.rows('issues', { owner: 'northquay', number })[0];

const pick = async (section: string, word: string): Promise<void> => {
  await page.getByRole('button', { name: `Edit ${section}` }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('searchbox').fill(word);
  await dialog.getByRole('checkbox').first().check();
  await dialog.getByRole('button', { name: 'Apply' }).click();
  await dialog.waitFor({ state: 'hidden' });
};

describe('lists', () => {
  it('lead from the repositories to the issues of a repository, and show the viewer', async () => {
    await open('/');
    await page.getByTitle('Signed in as quay-triage').waitFor();
    await page.getByRole('link', { name: 'northquay/berth' }).click();
    await heading('Issues').waitFor();
    expect(await page.title()).toBe('Issues · northquay/berth · Code host');
    await page.getByRole('status').filter({ hasText: /^23$/ }).waitFor();
    await page.goBack();
    await heading('Repositories').waitFor();
    expect(faults).toEqual([]);
  });

  it('include repositories that are not the viewer’s own', async () => {
    await open('/');
    await page.getByRole('searchbox').fill('marstal');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'mikkelh/marstal-tides' }).click();
    await heading('Issues').waitFor();
  });

  it('can be searched, filtered, sorted and paged, and the URL contains all of these settings', async () => {
    await open(`${berth}/issues`);
    await page.getByLabel('Label', { exact: true }).selectOption('area: emails');
    await page.getByRole('button', { name: 'Remove filter: label area: emails' }).waitFor();
    await page.getByLabel('Assignee').selectOption('none');
    await page.getByRole('link', { name: 'Guests get the arrival reminder too early' }).waitFor();
    await page.getByLabel('Sort').selectOption('created-asc');
    await page.locator('body').press('/');
    await page.keyboard.type('booking');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'Two reminder mails when a booking is moved' }).waitFor();
    const { searchParams } = new URL(page.url());
    expect([searchParams.get('q'), searchParams.get('assignee')]).toEqual(['booking', 'none']);
    await page.reload();
    await page.getByRole('link', { name: 'Two reminder mails when a booking is moved' }).waitFor();
    await open(`${berth}/issues?state=all`);
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByText('Page 2').waitFor();
    expect(new URL(page.url()).searchParams.get('page')).toBe('2');
    expect(faults).toEqual([]);
  });

  it('say what to do if nothing matches, and show the code host’s own refusals', async () => {
    await open(`${berth}/issues?q=nothing-at-all`);
    await page.getByText('No open issues match.').waitFor();
    await page.getByRole('button', { name: 'Show all issues' }).click();
    await page.getByRole('link', { name: /Guests get the arrival/ }).waitFor();
    await open(`${berth}/issues?page=9999`);
    await page.getByText('Only the first 1000 search results are available').waitFor();
    await open('/northquay/nope/issues');
    await page.getByText('Not Found').waitFor();
    await page.getByRole('link', { name: 'All repositories' }).click();
    await heading('Repositories').waitFor();
    await open('/a/b/c/d');
    await page.getByText('There is nothing at this address.').waitFor();
  });

  it('wait if the code host limits searches, and show for how long', async () => {
    const body = '{"message":"API rate limit exceeded"}';
    const rule = { name: 'tight', rate_limit: 'search', limit: 1, status: 403, body };
    expect((await world.call('faults', undefined, { rules: [rule] })).error).toBeUndefined();
    await open(`${berth}/issues`);
    await page.getByRole('link', { name: 'Closed' }).click();
    await page.getByText('API rate limit exceeded').waitFor();
    await page.getByText(/^Wait \d+ seconds, then try again\.$/).waitFor();
  });
});

describe('an issue', () => {
  it('is found, labelled, commented on and closed, which solves the task', async () => {
    expect((await served.grade()).passed).toBe(false);
    await open(`${berth}/issues`);
    await page.getByRole('searchbox').fill('arrival reminder');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Remove filter: “arrival reminder”' }).waitFor();
    await page.getByRole('link', { name: 'Guests get the arrival reminder too early' }).click();
    await heading(/Guests get the arrival reminder too early/).waitFor();
    await pick('labels', 'duplicate');
    const beside = page.getByRole('complementary', { name: 'Of this issue' });
    await beside.getByText('duplicate').waitFor();
    await page.getByLabel('Add a comment').fill('Duplicate of #139');
    await page.getByRole('button', { name: 'Comment', exact: true }).click();
    await page.getByRole('article', { name: 'quay-triage commented' }).waitFor();
    await page.getByLabel('Reason').selectOption('not_planned');
    await page.getByRole('button', { name: 'Close issue' }).click();
    await page
      .getByText('as not planned', { exact: true })
      .filter({ visible: true })
      .first()
      .waitFor();
    await page.getByRole('button', { name: 'Reopen issue' }).waitFor();
    expect(await served.grade()).toEqual({ passed: true, failed: [] });
    const written = (await requests()).filter(({ method }) => method !== 'GET');
    expect(written.map(({ operation, status }) => `${operation} ${status}`)).toEqual([
      'add_labels 200',
      'create_comment 201',
      'update_issue 200',
    ]);
    expect(faults).toEqual([]);
  });

  it('can be closed with a comment by one click, and reopened', async () => {
    await open(`${berth}/issues/139`);
    await page.getByLabel('Add a comment').fill('Mended by **2.8**.');
    await page.getByRole('button', { name: 'Close with comment' }).click();
    await page.getByRole('button', { name: 'Reopen issue' }).click();
    await page.getByRole('button', { name: 'Close issue' }).waitFor();
    expect(issueRow(139)).toMatchObject({ state: 'open', state_reason: 'reopened' });
    const said = page.getByRole('article', { name: 'quay-triage commented' });
    expect(await said.locator('strong').innerText()).toBe('2.8');
  });

  it('is renamed, reassigned and put into a milestone, and its text and comments are edited', async () => {
    await open(`${berth}/issues/139`);
    await page.getByRole('button', { name: 'Edit title' }).click();
    await page.getByLabel('Title').fill('Reminders go out early');
    await page.keyboard.press('Enter');
    await heading(/Reminders go out early/).waitFor();
    await pick('assignees', 'priya');
    await pick('milestone', '2.9');
    const beside = page.getByRole('complementary');
    await beside.getByText('priyaraman').waitFor();
    await beside.getByText('2.9').waitFor();
    const first = page.getByRole('article', { name: 'jonas-eide opened this' });
    await first.getByRole('button', { name: 'Edit' }).click();
    await first.getByLabel('Text').fill('In short: an hour early.');
    await first.getByLabel('Text').press('Control+Enter');
    await first.getByText('In short: an hour early.').waitFor();
    const comment = page.getByRole('article', { name: 'sam-okafor commented' });
    await comment.getByRole('button', { name: 'Edit' }).click();
    await comment.getByLabel('Text').fill('');
    await comment.getByRole('button', { name: 'Save' }).click();
    await comment.getByRole('alert').getByText('Validation Failed').waitFor();
    await comment.getByLabel('Text').fill('See mikkelh/marstal-tides#1');
    await comment.getByRole('button', { name: 'Save' }).click();
    await comment.getByRole('link', { name: 'mikkelh/marstal-tides#1' }).waitFor();
    expect(issueRow(139)).toMatchObject({
      title: 'Reminders go out early',
      body: 'In short: an hour early.',
    });
  });

  it('keeps changes that other users made to its labels meanwhile', async () => {
    await open(`${berth}/issues/139`);
    await page.getByRole('button', { name: 'Edit labels' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('checkbox').nth(1).waitFor();
    await elsewhere('POST', '/repos/northquay/berth/issues/139/labels', { labels: ['security'] });
    await dialog.getByRole('searchbox').fill('needs-info');
    await dialog.getByRole('checkbox').first().check();
    await dialog.getByRole('button', { name: 'Apply' }).click();
    await page.getByRole('complementary').getByText('security').waitFor();
    const labels = world.rows('issue_labels', { owner: 'northquay', issue_number: 139 });
    expect(labels.map(({ label }) => label).sort()).toEqual([
      'area: emails',
      'bug',
      'needs-info',
      'security',
    ]);
  });

  it('can be opened, and problems are shown at their fields', async () => {
    await open(`${berth}/issues`);
    await page.getByRole('link', { name: 'New issue' }).click();
    await page.getByRole('button', { name: 'Open issue' }).click();
    const title = page.getByLabel('Title');
    await page.locator('[aria-invalid=true]').waitFor();
    expect(await title.getAttribute('aria-invalid')).toBe('true');
    await title.fill('The tide table is upside down');
    await page.getByLabel('Description').fill('- [x] seen\n- [ ] mended');
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.getByRole('checkbox').nth(1).waitFor();
    await pick('labels', 'bug');
    await page.getByRole('button', { name: 'Open issue' }).click();
    await heading(/The tide table is upside down/).waitFor();
    expect(new URL(page.url()).pathname).toBe(`${berth}/issues/159`);
    expect(issueRow(159)).toMatchObject({ user: 'quay-triage' });
    await page.goBack();
    await heading('New issue').waitFor();
  });
});

describe('a pull request', () => {
  it('can be reviewed and merged, and its branch deleted, which solves a task', async () => {
    await world.begin('merge-what-is-ready');
    await open(`${berth}/pulls?milestone=2.8`);
    await page.getByRole('link', { name: 'Count nights in the occupancy report' }).click();
    await page.getByRole('link', { name: 'Files' }).click();
    await page.getByRole('region', { name: 'server/reports/occupancy.ts', exact: true }).waitFor();
    await page.getByRole('link', { name: 'Commits' }).click();
    await page.getByText('Count a stay that ends before breakfast').waitFor();
    await page.getByRole('link', { name: 'Conversation' }).click();
    await page.getByLabel('Method').selectOption('squash');
    await page.getByRole('button', { name: 'Merge pull request' }).click();
    await page.getByRole('button', { name: 'Delete branch' }).click();
    await page.getByRole('button', { name: 'Delete branch' }).waitFor({ state: 'hidden' });
    await page.getByText('Merged', { exact: true }).filter({ visible: true }).first().waitFor();
    expect(await served.grade()).toEqual({ passed: true, failed: [] });
    expect(faults).toEqual([]);
  });

  it('can be approved, and changes can be requested', async () => {
    await open(`${berth}/pull/153`);
    const review = page.getByRole('form', { name: 'Review' });
    await review.getByLabel('Request changes').check();
    await review.getByRole('button', { name: 'Submit review' }).click();
    await review.getByRole('alert').waitFor();
    await review.getByLabel('Review these changes').fill('Please add a test.');
    await review.getByRole('button', { name: 'Submit review' }).click();
    await page.getByRole('article', { name: 'quay-triage asked for changes' }).waitFor();
    await review.getByLabel('Approve').check();
    await review.getByRole('button', { name: 'Submit review' }).click();
    await page.locator('.event.approved').getByText('quay-triage').waitFor();
    const reviews = world.rows('reviews', { number: 153, user: 'quay-triage' });
    expect(reviews.map(({ state }) => state)).toEqual(['CHANGES_REQUESTED', 'APPROVED']);
  });

  it('is not merged if the code host refuses, and the page shows the refusal', async () => {
    await open(`${berth}/pull/142`);
    await page.getByText('This is a draft.').waitFor();
    await page.getByRole('button', { name: 'Merge pull request' }).click();
    await page.getByRole('alert').getByText('Pull Request is still a draft').waitFor();
    expect(world.rows('pulls', { number: 142 })).toMatchObject([{ merged: false }]);
  });

  it('can be found by its number, also among the issues', async () => {
    await open(`${berth}/issues/150`);
    await heading(/Count nights in the occupancy report/).waitFor();
    expect(new URL(page.url()).pathname).toBe(`${berth}/pull/150`);
    await page.getByRole('link', { name: '#141' }).click();
    await heading(/Boats that leave at night/).waitFor();
  });
});

describe('hostile rows', () => {
  const script = '<script>alert(1)</script><img src=x onerror=alert(2)>';

  it('run no script', async () => {
    const label = `"><img src=x onerror=alert(3)>`;
    await elsewhere('POST', '/repos/northquay/berth/labels', { name: label, color: 'ff0000' });
    const body = [
      script,
      '<iframe src="javascript:alert(4)"></iframe>',
      '<a href="javascript:alert(5)" onclick="alert(6)">a</a>',
      '[one](javascript:alert(7)) [two](JAVASCRIPT:alert(8)) [three](data:text/html,<script>alert(9)</script>)',
      '![picture](https://example.com/tracker.png) <javascript:alert(10)>',
      `\`\`\`${script}\n${script}\n\`\`\``,
      `> ${'> '.repeat(2_000)}deep`,
      '| a | b |\n|-|-|\n| <b onmouseover=alert(11)> | &lt;script&gt; |',
    ].join('\n\n');
    const { number } = await elsewhere('POST', '/repos/northquay/berth/issues', {
      title: `${script}{{7*7}}\${8*8}`,
      body: body.slice(0, 60_000),
      labels: [label],
    });
    await elsewhere('POST', `/repos/northquay/berth/issues/${number}/comments`, {
      body: '[x](java&#115;cript:alert(12)) [y](&#106;avascript:alert(13)) https://example.com/"onmouseover="alert(14)',
    });
    await open(`${berth}/issues`);
    await page.getByRole('link', { name: script }).click();
    await heading(/7\*7/).waitFor();
    await page.getByRole('article', { name: 'quay-triage commented' }).waitFor();
    expect(await page.title()).toContain(script);
    const markup = await page.evaluate(`({
      bad: document.querySelectorAll('main :is(script, iframe, img, object, [onclick], [onerror], [onmouseover])').length,
      links: [...document.querySelectorAll('main a')].map((a) => a.protocol),
    })`);
    expect(markup).toMatchObject({ bad: 0 });
    expect(new Set((markup as { links: string[] }).links)).toEqual(new Set(['http:', 'https:']));
    await page.getByRole('button', { name: 'Edit labels' }).click();
    await page.getByRole('dialog').getByText(label).first().waitFor();
    await page.keyboard.press('Escape');
    expect(faults).toEqual([]);
  });

  it('do not block the page if they are very long', async () => {
    const { number } = await elsewhere('POST', '/repos/northquay/berth/issues', {
      title: 'L'.repeat(250),
      body: '_a'.repeat(30_000),
    });
    await open(`${berth}/issues/${number}`);
    await page.getByRole('article').locator('pre').waitFor({ timeout: 10_000 });
    await page.setViewportSize({ width: 360, height: 700 });
    expect(await overflow(page)).toBe(0);
  });
});

it('the page can be used by the keyboard alone', async () => {
  await open(`${berth}/issues`);
  await page.getByRole('link', { name: /Guests get/ }).waitFor();
  await page.keyboard.press('j');
  await page.keyboard.press('j');
  await page.keyboard.press('k');
  await page.keyboard.press('ArrowDown');
  expect(await page.evaluate('document.activeElement.textContent')).toMatch(/^Guests get/);
  await page.keyboard.press('Escape');
  expect(await page.evaluate('document.activeElement.type')).toBe('search');
  await page.keyboard.type('too early');
  await page.keyboard.press('Enter');
  await page.getByRole('status').filter({ hasText: /^1$/ }).waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await heading(/Guests get the arrival/).waitFor();
  await page.getByRole('button', { name: 'Edit labels' }).focus();
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Labels' });
  await dialog.getByRole('checkbox').first().waitFor();
  await page.keyboard.type('duplicate');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Enter');
  await dialog.waitFor({ state: 'hidden' });
  await page.getByRole('complementary').getByText('duplicate', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Edit labels', disabled: false }).waitFor();
  await page.getByRole('button', { name: 'Edit assignees' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').waitFor();
  await page.keyboard.press('Escape');
  expect(await page.evaluate('document.activeElement.ariaLabel')).toBe('Edit assignees');
  await page.getByLabel('Add a comment').focus();
  await page.keyboard.type('Duplicate of #139');
  await page.keyboard.press('Control+Enter');
  await page.getByRole('article', { name: 'quay-triage commented' }).waitFor();
  expect(faults).toEqual([]);
});

describe.each([
  ['light', 1440],
  ['dark', 1440],
  ['light', 360],
  ['dark', 768],
] as const)('in %s, %i wide', (colorScheme, width) => {
  beforeAll(() => page.emulateMedia({ colorScheme }));
  beforeEach(() => page.setViewportSize({ width, height: 800 }));

  it.each([
    ['the repositories', '/', 'northquay/berth'],
    ['the issues', `${berth}/issues?labels=bug&milestone=2.8`, 'Closed'],
    ['a list without rows', `${berth}/issues?q=zzzz`, 'No open issues match.'],
    ['an issue', `${berth}/issues/139`, 'Add a comment'],
    ['a new issue', `${berth}/issues/new`, 'Description'],
    ['the pull requests', `${berth}/pulls?state=all`, 'Find boats with accents'],
    ['a pull request', `${berth}/pull/150`, 'Submit review'],
    ['its commits', `${berth}/pull/150/commits`, '384bf80'],
    ['its files', `${berth}/pull/123/files`, 'modified'],
    ['an error', `${berth}/issues/99999`, 'Not Found'],
  ])('%s has no accessibility problem, and fits the screen', async (_what, path, text) => {
    await open(path);
    await page.getByText(text, { exact: true }).filter({ visible: true }).first().waitFor();
    expect(await barriers(page)).toEqual([]);
    expect(await overflow(page)).toBe(0);
    expect(faults).toEqual([]);
  });

  it('a choice of labels has no accessibility problem', async () => {
    await open(`${berth}/issues/139`);
    await page.getByRole('button', { name: 'Edit labels' }).click();
    await page.getByRole('checkbox').first().waitFor();
    expect(await barriers(page)).toEqual([]);
  });
});
