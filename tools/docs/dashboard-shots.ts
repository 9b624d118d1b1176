/**
 * Takes screenshots of dashboards, in light and dark and at three widths: the starter dashboards of a session and of
 * tasks, with and without data. `make screens` runs it (`screen-path.ts`).
 */
import type { Browser } from 'playwright-core';
import { bundlePage } from '../../src/control/observability/dashboard-code/bundle.ts';
import { writeDocument } from '../../src/control/observability/dashboards/document.ts';
import { starterOf } from '../../src/control/observability/dashboards/starters.ts';
import { startChromium } from '../../test/support/browser/chromium.ts';
import { sessionData, taskData } from '../../test/support/control/dashboard-data.ts';
import { screenPath } from './screen-path.ts';

const widths = [360, 768, 1440] as const;
const schemes = ['light', 'dark'] as const;

const target = { sessionId: null, taskSetId: null, taskId: null, environmentId: null };

const documentOf = async (kind: 'session' | 'task', data: object): Promise<string> => {
  const { files, entrypoint } = starterOf(kind, 'starter');
  const built = await bundlePage(files, entrypoint ?? '');
  if (!('script' in built)) throw new Error(JSON.stringify(built.problems));
  const about = { kind, target };
  return writeDocument({
    title: kind,
    script: built.script,
    dataJson: JSON.stringify(data),
    about,
  });
};

const take = async (browser: Browser, name: string, html: string): Promise<void> => {
  for (const width of widths) {
    for (const colorScheme of schemes) {
      const page = await browser.newPage({ viewport: { width, height: 860 }, colorScheme });
      await page.setContent(html);
      await page.locator('.dashboard').waitFor();
      await page.waitForTimeout(300);
      const suffix = width === 1440 ? '' : `-${width}`;
      await page.screenshot({
        path: screenPath(`${name}${suffix}-${colorScheme}`),
        fullPage: true,
      });
      await page.close();
    }
  }
};

const browser = await startChromium();
try {
  await take(browser, 'dashboard-session', await documentOf('session', sessionData(true)));
  await take(browser, 'dashboard-session-empty', await documentOf('session', sessionData(false)));
  await take(browser, 'dashboard-tasks', await documentOf('task', taskData(true)));
  await take(browser, 'dashboard-tasks-empty', await documentOf('task', taskData(false)));
} finally {
  await browser.close();
}
