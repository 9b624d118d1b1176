/** The Chromium of this machine, driven by Playwright; tests of pages need one (`apt-get install chromium`). */
import { existsSync } from 'node:fs';
import { type Browser, type BrowserContext, chromium } from 'playwright-core';

const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Throws where the machine has none. */
export const chromiumPath = (): string => {
  const found = places.find((place) => existsSync(place));
  if (found === undefined) throw new Error('there is no Chromium here: apt-get install chromium');
  return found;
};

/** Arguments of Chromium. As root it runs without its own sandbox, as all that it loads is ours. */
const launchOptions = () => ({
  executablePath: chromiumPath(),
  args: [...(process.getuid?.() === 0 ? ['--no-sandbox'] : []), '--disable-dev-shm-usage'],
});

/** Starts one without a window. */
export const startChromium = (): Promise<Browser> => chromium.launch(launchOptions());

/**
 * Starts one without a window, with the profile of a person: pages in it connect ahead of their requests, which they
 * do not in the contexts of `startChromium`. It ends with its context.
 */
export const startPersonsChromium = (): Promise<BrowserContext> =>
  chromium.launchPersistentContext('', launchOptions());
