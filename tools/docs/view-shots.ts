/**
 * Takes screenshots of the live view of a browser, in light and dark and at three widths, and in each state that a
 * person may see. `make screens` runs it (`screen-path.ts`).
 */
import type { Browser, Page } from 'playwright-core';
import {
  type Site,
  type StartedBrowser,
  startBrowserForTest,
  startSite,
} from '../../test/support/browser/browser-program.ts';
import { startChromium } from '../../test/support/browser/chromium.ts';
import { screenPath } from './screen-path.ts';

const widths = [360, 768, 1440] as const;
const schemes = ['light', 'dark'] as const;

const heightOf = (width: number): number => (width < 500 ? 720 : 860);

const firstPicture = async (page: Page): Promise<void> => {
  await page.getByText('Loading the first picture').waitFor({ state: 'hidden' });
  // The browser adopts the size of its window and repaints.
  await page.waitForTimeout(1_500);
};

/** Takes a screenshot of the page in both colour schemes. */
const take = async (page: Page, name: string): Promise<void> => {
  for (const colorScheme of schemes) {
    await page.emulateMedia({ colorScheme });
    await page.waitForTimeout(200);
    await page.screenshot({ path: screenPath(`${name}-${colorScheme}`) });
  }
};

const openView = async (person: Browser, url: string, width: number): Promise<Page> => {
  const context = await person.newContext({ viewport: { width, height: heightOf(width) } });
  const page = await context.newPage();
  await page.goto(url);
  return page;
};

const takeLive = async (person: Browser, browser: StartedBrowser): Promise<void> => {
  for (const width of widths) {
    const page = await openView(person, browser.viewLink({ isReadOnly: false }), width);
    await firstPicture(page);
    await take(page, `view-${width}`);
    await page.context().close();
  }
  const page = await openView(person, browser.viewLink({ isReadOnly: true }), 768);
  await firstPicture(page);
  await take(page, 'view-read-only');
  await page.context().close();
};

const takeStates = async (person: Browser, browser: StartedBrowser): Promise<void> => {
  const page = await openView(person, browser.viewLink({ isReadOnly: false }), 768);
  await firstPicture(page);
  for (const colorScheme of schemes) {
    await page.emulateMedia({ colorScheme });
    process.kill(browser.status().pid as number, 'SIGKILL');
    await page.getByText('is being started again').waitFor();
    await page.screenshot({ path: screenPath(`view-restarting-${colorScheme}`) });
    await page.getByText('is being started again').waitFor({ state: 'hidden' });
  }
  await browser.end();
  await page.getByText('The session has ended').waitFor();
  await take(page, 'view-ended');
  await page.context().close();
  const refused = await openView(person, `${browser.address}/view`, 768);
  await take(refused, 'view-no-session');
  await refused.context().close();
};

let site: Site | undefined;
let browser: StartedBrowser | undefined;
const person = await startChromium();
try {
  site = await startSite();
  browser = await startBrowserForTest();
  const { origin } = site;
  await browser.assign({ entry: `${origin}/login?user=Ada`, reach: [{ origin }] });
  await takeLive(person, browser);
  await takeStates(person, browser);
} finally {
  await person.close();
  await browser?.stop();
  await site?.close();
}
