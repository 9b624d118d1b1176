/** Drives this machine's Chromium by Playwright; tests of pages need one (`apt-get install chromium`). */
import { existsSync } from 'node:fs';
import { type Browser, type BrowserContext, chromium } from 'playwright-core';

const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Returns the path of Chromium. Throws if the machine has none. */
export const chromiumPath = (): string => {
  const found = places.find((place) => existsSync(place));
  if (found === undefined) throw new Error('there is no Chromium here: apt-get install chromium');
  return found;
};

/** Returns the launch options of Chromium. As root it runs without its own sandbox, as it loads only trusted pages. */
const launchOptions = () => ({
  executablePath: chromiumPath(),
  args: [...(process.getuid?.() === 0 ? ['--no-sandbox'] : []), '--disable-dev-shm-usage'],
});

/** Starts a headless Chromium. */
export const startChromium = (): Promise<Browser> => chromium.launch(launchOptions());

/**
 * Starts a headless Chromium with a profile of its own, as a person has. Its pages open connections ahead of their
 * requests, which pages in the contexts of `startChromium` do not. It ends with its context.
 */
export const startPersonsChromium = (): Promise<BrowserContext> =>
  chromium.launchPersistentContext('', launchOptions());
