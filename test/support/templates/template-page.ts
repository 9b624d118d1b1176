/**
 * The page of a template in a real browser, for tests: entered by a link, with a record of everything that no page of
 * this product may do.
 */
import type { BrowserContext, Page } from 'playwright-core';
import type { Row } from '#language/contract.ts';
import { startChromium } from '../browser/chromium.ts';
import { type ServedPage, servePage } from '../browser/ui-page.ts';
import { visit } from '../browser/visit.ts';
import { templateTree } from '../worlds/worlds.ts';

export type TemplatePage = {
  world: ServedPage;
  context: BrowserContext;
  page: Page;
  /** Errors of the page, dialogs, requests to other origins, and actions that its policy blocked; a test empties it. */
  faults: string[];
  /** Opens a path of the page, and waits until something is shown there. */
  open(path: string): Promise<void>;
  /** Grades the task now; returns the result and the checks that fail. */
  grade(): Promise<{ passed: boolean; failed: string[] }>;
  stop(): Promise<void>;
};

/** Default size of the page. */
export const usualSize = { width: 1440, height: 900 };

const patienceMs = 30_000;

/** Serves the template and opens its page. */
export const openTemplatePage = async (slug: string): Promise<TemplatePage> => {
  const [world, browser] = await Promise.all([servePage(templateTree(slug)), startChromium()]);
  const faults: string[] = [];
  const context = await browser.newContext({ viewport: usualSize });
  await world.enter(context);
  const page = await context.newPage();
  page.setDefaultTimeout(patienceMs);
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('dialog', (dialog) => faults.push(`a dialog: ${dialog.message()}`));
  page.on('request', (request) => {
    if (!request.url().startsWith(`${world.page}/`)) faults.push(`${request.url()} was asked for`);
  });
  page.on('console', (message) => {
    if (/Content Security Policy/.test(message.text())) faults.push(message.text());
  });
  return {
    world,
    context,
    page,
    faults,
    async open(path) {
      await visit(page, `${world.page}${path}`);
      await page.getByRole('heading', { level: 1 }).or(page.getByRole('alert')).first().waitFor();
    },
    async grade() {
      const { output } = await world.call('grade');
      const { passed, checks } = output as Row & { checks: { name: string; passed: boolean }[] };
      return {
        passed: passed === true,
        failed: checks.filter((check) => !check.passed).map(({ name }) => name),
      };
    },
    async stop() {
      await browser.close();
      await world.stop();
    },
  };
};
