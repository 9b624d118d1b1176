/** Opens an address in a tab and waits until it has loaded. */
import { AppError } from '#domain/error.ts';
import { pause } from '#runtime/pause.ts';
import type { Driver } from '../cdp/driver.ts';
import type { Tab } from './tabs.ts';

/** Time to wait for a page to load, in milliseconds; a slower page is shown as far as it has loaded. */
const loadMs = 15_000;

/**
 * Opens an address and resolves when the page has loaded.
 *
 * @throws `unavailable` when nothing answers at the address.
 */
export const openPage = async (driver: Driver, { sessionId }: Tab, url: string): Promise<void> => {
  const loaded = Promise.withResolvers<void>();
  let loader: unknown;
  const seen = new Set<unknown>();
  driver.on('Page.lifecycleEvent', ({ name, loaderId }, session) => {
    if (session !== sessionId || name !== 'load') return;
    seen.add(loaderId);
    if (loaderId === loader) loaded.resolve();
  });
  await driver.send('Page.setLifecycleEventsEnabled', { enabled: true }, sessionId);
  const { errorText, loaderId } = await driver.send('Page.navigate', { url }, sessionId);
  if (errorText !== undefined) {
    const { origin } = new URL(url);
    throw new AppError('unavailable', `the browser cannot open ${origin}: ${String(errorText)}`);
  }
  loader = loaderId;
  if (loader === undefined || seen.has(loader)) return;
  await Promise.race([loaded.promise, pause(loadMs)]);
};
