/**
 * Measures the generated page over an entity of 100,000 rows, in a real browser: from opening the list's address until
 * its first rows are shown, and from requesting an order or a search until its rows are shown. Each run uses a
 * different order or search, so that no result was computed before. `cpu` is the processor time of all programs
 * involved, the browser included, which is more reliable than the time on a shared machine.
 */
import type { Page } from 'playwright-core';
import { startChromium } from '../../test/support/browser/chromium.ts';
import { servePage } from '../../test/support/browser/ui-page.ts';
import { type Figure, median, sample } from './figure.ts';
import { readProcessorTime } from './processor-time.ts';
import { fillOrders, ordersTree } from './ui-world.ts';

const rows = 100_000;
const runs = 7;
/** Targets in milliseconds. */
const targets = { open: 1_000, sort: 1_000, search: 1_000 };

const firstRow = '[role=row][data-index="0"]';

/** Waits until the first row of the list shows a text. */
const rowShows = (page: Page, text: string): Promise<void> =>
  page.locator(firstRow).getByText(text).first().waitFor();

const orders = ['Subject', 'Total', 'State', 'Customer id', 'Placed at', 'Note', 'Id'];

/** Orders the list by a heading, and waits until rows in that order are shown. */
const sortBy = async (page: Page, heading: string): Promise<void> => {
  await page.getByRole('columnheader', { name: heading, exact: true }).getByRole('button').click();
  const sorted = page.locator('.fill:not(.stale) [role=columnheader][aria-sort=ascending]');
  await sorted.filter({ hasText: heading }).waitFor();
  await page.locator(`${firstRow}:not(:has(.waiting))`).waitFor();
};

type Measured = { samples: number[]; cpuMs: number };

/** Returns the processor time of this process, which serves the world, and of the browser that it started. */
const usedMs = (): number =>
  readProcessorTime([process.pid]).reduce(
    (sum, { ownMs, startedMs }) => sum + ownMs + startedMs,
    0,
  );

const measure = async (work: (run: number) => Promise<void>): Promise<Measured> => {
  const before = usedMs();
  const samples = await sample(runs, work);
  return { samples, cpuMs: (usedMs() - before) / runs };
};

const figuresOf = (what: keyof typeof targets, { samples, cpuMs }: Measured): Figure[] => {
  const shared = { unit: 'ms', floor: null, peer: null, better: 'lower' } as const;
  const name = `ui.list.100k.${what}`;
  return [
    { name, value: median(samples), target: targets[what], ...shared },
    { name: `${name}.cpu`, value: cpuMs, target: null, ...shared },
  ];
};

/** Measures the list; needs a Chromium, see `startChromium`. */
export const benchUiList = async (): Promise<Figure[]> => {
  const world = await servePage(ordersTree());
  const browser = await startChromium();
  try {
    await fillOrders(world.session.world.store, rows);
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
    await world.enter(context);
    const page = await context.newPage();
    const address = `${world.page}/entities/orders`;
    const opened = await measure(async () => {
      await page.goto(address);
      await rowShows(page, 'boat');
    });
    const sorted = await measure((run) => sortBy(page, orders[run] ?? 'Id'));
    await page.goto(address);
    await rowShows(page, 'boat');
    const found = await measure(async (run) => {
      const wanted = String((run + 1) * 7_919);
      await page.getByLabel('Search rows').fill(`${wanted} pier`);
      await rowShows(page, wanted);
    });
    return [
      ...figuresOf('open', opened),
      ...figuresOf('sort', sorted),
      ...figuresOf('search', found),
    ];
  } finally {
    await browser.close();
    await world.stop();
  }
};
