import type { Page, Response } from 'playwright-core';

/** Maximum number of attempts to load a page. */
const attempts = 5;

/**
 * Opens `url`. Chromium aborts a load when a network interface of the machine appears or disappears, as happens while
 * other tests start containers. In that case the page is loaded again.
 */
export const visit = async (page: Page, url: string): Promise<Response | null> => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await page.goto(url);
    } catch (error) {
      if (attempt === attempts || !String(error).includes('ERR_NETWORK_CHANGED')) throw error;
    }
  }
};
