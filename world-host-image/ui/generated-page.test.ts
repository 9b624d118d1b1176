/** Generated page in a real browser, over rows of a session: tests what a user can do with it. */
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Row } from '#language/contract.ts';
import { barriers, overflow } from '#test/support/browser/barriers.ts';
import { startChromium } from '#test/support/browser/chromium.ts';
import { type ServedPage, servePage } from '#test/support/browser/ui-page.ts';
import { apiTree, operation } from '#test/support/worlds/api-world.ts';

const notes = Array.from({ length: 3_000 }, (_, index): Row => {
  const id = index + 1;
  return {
    id,
    title: id === 2_345 ? 'Mend the needle' : `Note ${id}`,
    state: id % 2 === 0 ? 'open' : 'done',
    rank: (id * 7) % 1_000,
    made_at: '2020-01-01T00:00:00Z',
    book_id: id % 3 === 0 ? 1 : null,
  };
});

const byId = '[operations.api.filter]\nid = "id"';
const operations = [
  operation('GET', '/notes'),
  operation('PATCH', '/notes/{id}', `action = "update"\n${byId}`),
  '[ui]\nstatic = "ui"\ngenerated = true\napi_path = "/-/api"',
].join('\n');
const tree = apiTree({ operations, notes, books: [{ id: 1 }, { id: 2 }] });

let world: ServedPage;
let browser: Browser;
let context: BrowserContext;
let page: Page;
const faults: string[] = [];

beforeAll(async () => {
  [world, browser] = await Promise.all([servePage(tree), startChromium()]);
  context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  await world.enter(context);
  page = await context.newPage();
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('request', (request) => {
    if (!request.url().startsWith(`${world.page}/`)) faults.push(`${request.url()} was asked for`);
  });
  page.on('console', (message) => {
    if (/Content Security Policy|integrity/.test(message.text())) faults.push(message.text());
  });
}, 60_000);

beforeEach(async () => {
  await world.reset();
  await page.setViewportSize({ width: 1440, height: 900 });
  faults.length = 0;
});

afterAll(async () => {
  await browser.close();
  await world.stop();
});

const open = async (path: string): Promise<void> => {
  await page.goto(`${world.page}${path}`);
};

/** Returns the locator of the list's row with this number; it finds the row only while the row is rendered. */
const rowAt = (number: number) => page.locator(`[role=row][data-index="${number - 1}"]`);

const entries = async (): Promise<Row[]> => {
  const { output } = await world.call('state', 'state', { entity: 'svc_requests', limit: 500 });
  return ((output as Row).rows as Row[]).filter(({ via }) => via === 'ui');
};

describe('lists', () => {
  it('show the entities with their row counts, and the rows of an entity', async () => {
    await open('/');
    await page.getByRole('navigation', { name: 'Entities' }).getByText('3,000').waitFor();
    await page.getByRole('navigation', { name: 'Entities' }).getByText('Notes').click();
    await rowAt(1).getByText('Note 1', { exact: true }).waitFor();
    expect(await page.getByRole('grid').getAttribute('aria-rowcount')).toBe('3001');
    expect(await page.getByRole('row').count()).toBeLessThan(80);
    expect(faults).toEqual([]);
  });

  it('can be sorted, searched (with the key "/") and filtered, and the URL contains all of these settings', async () => {
    await open('/entities/notes');
    await page.getByRole('button', { name: 'Rank' }).click();
    await rowAt(1).getByText('1000', { exact: true }).waitFor();
    expect(new URL(page.url()).searchParams.get('sort')).toBe('rank');
    await page.locator('body').press('/');
    await page.keyboard.type('needle');
    await rowAt(1).getByText('Mend the needle').waitFor();
    await page.getByText('1 row', { exact: true }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByText('3,000 rows').waitFor();
    await page.getByRole('button', { name: 'Filter', exact: true }).click();
    await page.getByLabel('Field').selectOption('state');
    await page.getByLabel('Value').selectOption('"done"');
    await page.getByRole('button', { name: 'Add filter' }).click();
    await page.getByText('1,500 rows').waitFor();
    await page.getByRole('button', { name: 'Remove filter: State is done' }).click();
    await page.getByText('3,000 rows').waitFor();
    expect(faults).toEqual([]);
  });

  it('can be used by keyboard: to the last row, into a row and back', async () => {
    await open('/entities/notes?sort=-id');
    await rowAt(1).getByText('Note 3000').waitFor();
    await rowAt(1).focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('End');
    await page
      .locator('[role=row][data-index="2999"]:focus')
      .getByText('Note 1', { exact: true })
      .waitFor();
    await page.keyboard.press('ArrowUp');
    await page.locator('[role=row][data-index="2998"]:focus').waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Note 2', exact: true }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/entities/notes/rows/2');
    await page.goBack();
    await page.getByRole('grid').waitFor();
    expect(new URL(page.url()).searchParams.get('sort')).toBe('-id');
  });

  it('say what to do if nothing matches, and if the session refuses the request', async () => {
    await open('/entities/notes?search=nothing+at+all');
    await page.getByText('No row matches.').waitFor();
    await page.getByRole('button', { name: 'Clear search and filters' }).click();
    await page.getByText('3,000 rows').waitFor();
    await open('/entities/notes?sort=titel');
    await page.getByText('did you mean "title"').waitFor();
    await page.getByRole('button', { name: 'Show all rows' }).click();
    await page.getByText('3,000 rows').waitFor();
    await open('/entities/nope');
    await page.getByText('There is nothing at this address.').waitFor();
  });
});

describe('rows', () => {
  it('have links to the rows that they refer to, and to the rows that refer to them', async () => {
    await open('/entities/notes/rows/3');
    await page.getByRole('region', { name: 'Refers to' }).getByRole('link', { name: '1' }).click();
    await page.getByRole('heading', { name: '1', exact: true }).waitFor();
    const related = page.getByRole('region', { name: /^Notes by book_id/ });
    await related.getByRole('link', { name: 'Note 3', exact: true }).waitFor();
    await related.getByRole('link', { name: 'Show all 1,000' }).click();
    await page.getByText('1,000 rows').waitFor();
    await page.getByRole('button', { name: /Remove filter: Book id is 1/ }).waitFor();
  });

  it('are changed through the world’s route, and its refusals are shown at the fields', async () => {
    await open('/entities/notes/rows/3');
    await page.getByRole('link', { name: 'Edit' }).click();
    const form = page.getByRole('dialog');
    await form.getByLabel('Book id').fill('77');
    await form.getByRole('button', { name: 'Save' }).click();
    const field = form.getByLabel('Book id');
    await form.getByText('there is no row 77 in books').waitFor();
    expect(await field.getAttribute('aria-invalid')).toBe('true');
    await field.fill('2');
    await form.getByLabel('Title').fill('Mended');
    await form.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'Mended' }).waitFor();
    expect(world.rows('notes', { id: 3 })).toMatchObject([{ title: 'Mended', book_id: 2 }]);
    const patched = (await entries()).filter(({ method }) => method === 'PATCH');
    expect(patched.map(({ status }) => status)).toEqual([400, 200]);
    expect(patched[1]).toMatchObject({ path: '/notes/3', via: 'ui', changes: { notes: {} } });
  });

  it.each(['notes', 'books'])(
    'of %s that were deleted while they were edited are not saved, and the page says what to do next',
    async (name) => {
      const form = page.getByRole('dialog');
      const id = name === 'notes' ? 4 : 2;
      await open(`/entities/${name}/rows/${id}?form=${name === 'notes' ? 'edit' : 'delete'}`);
      const act = name === 'notes' ? form : page.getByRole('alertdialog');
      await act.getByRole('button').last().waitFor();
      const row = `/__svc/ui/entities/${name}/row?key=[${id}]`;
      const ask = `fetch(${JSON.stringify(row)}, { method: 'DELETE' }).then(({ status }) => status)`;
      expect(await page.evaluate(ask)).toBe(200);
      if (name === 'notes') await form.getByLabel('Title').fill('Too late');
      await act.getByRole('button', { name: name === 'notes' ? 'Save' : 'Delete' }).click();
      const alert = act.getByRole('alert');
      await alert.getByText('This row was deleted meanwhile, so').waitFor();
      await alert.getByText('the list has the rows that are there').waitFor();
      expect(await alert.innerText()).not.toContain('not_found');
    },
  );

  it('are created and deleted under the world’s contract if the world has no route for that', async () => {
    await open('/entities/notes');
    await page.getByRole('button', { name: 'New' }).click();
    const form = page.getByRole('dialog');
    await form.getByLabel('Id required').fill('1');
    await form.getByRole('button', { name: 'Create' }).click();
    await form.getByText('Enter a value.').waitFor();
    await form.getByLabel('Title').fill('A new one');
    await form.getByRole('button', { name: 'Create' }).click();
    await form.getByText('another row has id 1 already').waitFor();
    await form.getByLabel('Id required').fill('9000');
    await form.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { name: 'A new one' }).waitFor();
    await page.getByRole('link', { name: 'Delete' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('3,000 rows').waitFor();
    expect(world.rows('notes', { id: 9_000 })).toEqual([]);
  });

  it('are not deleted while other rows refer to them, and the page gives the reason', async () => {
    await open('/entities/books/rows/1?form=delete');
    const question = page.getByRole('alertdialog');
    await question.getByRole('button', { name: 'Delete' }).click();
    await question.getByRole('alert').getByText('notes').waitFor();
    await page.keyboard.press('Escape');
    await question.waitFor({ state: 'hidden' });
    expect(world.rows('books', { id: 1 })).toEqual([{ id: 1 }]);
  });

  it('have ids that can be copied with a click', async () => {
    await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: world.page });
    await open('/entities/notes/rows/2345');
    await page.getByRole('button', { name: 'Copy 2345' }).click();
    await page.getByText('Copied 2345').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe('2345');
  });
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
    ['the entities', '/', 'Notes'],
    ['a list', '/entities/notes', 'Note 1'],
    ['a list without rows', '/entities/notes?search=nothing', 'No row matches.'],
    ['a row', '/entities/books/rows/1', 'Show all 1,000'],
    ['a form', '/entities/notes/rows/3?form=edit', 'Save'],
    ['a question', '/entities/notes/rows/3?form=delete', 'Keep it'],
  ])('%s has no accessibility problem, and fits the screen', async (_what, path, text) => {
    await open(path);
    await page.getByText(text, { exact: true }).filter({ visible: true }).first().waitFor();
    expect(await barriers(page)).toEqual([]);
    expect(await overflow(page)).toBe(0);
    expect(faults).toEqual([]);
  });
});
