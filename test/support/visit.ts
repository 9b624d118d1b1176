import type { Page, Response } from 'playwright-core';

/** How often a container may come or go while a page is loaded, before that is an error. */
const attempts = 5;

/**
 * Goes to `url`. Chromium gives up what it loads when a network interface of the machine comes or goes, as they do
 * where other tests start containers: it goes there again then.
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
