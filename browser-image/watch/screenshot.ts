/** Takes a picture of what a tab shows. */
import { AppError } from '#domain/error.ts';
import type { Driver } from '../cdp/driver.ts';
import type { Params } from '../cdp/message.ts';
import type { Tab } from './tabs.ts';

export type ScreenshotOptions = {
  format?: 'png' | 'jpeg';
  /** True for the whole page, up to 16,384 CSS pixels high, instead of the visible part. */
  fullPage?: boolean;
};

const mostHeight = 16_384;

/** Takes a picture. Throws `not_found` when no tab is open. */
export const takeScreenshot = async (
  driver: Driver,
  tab: Tab | undefined,
  { format = 'png', fullPage = false }: ScreenshotOptions,
): Promise<Buffer> => {
  if (tab === undefined) {
    throw new AppError('not_found', 'the browser has no open tab; open one, or reset the session');
  }
  const params: Params = { format };
  if (fullPage) {
    const { cssContentSize } = await driver.send('Page.getLayoutMetrics', {}, tab.sessionId);
    const { width, height } = cssContentSize as { width: number; height: number };
    params.clip = { x: 0, y: 0, width, height: Math.min(height, mostHeight), scale: 1 };
    params.captureBeyondViewport = true;
  }
  const { data } = await driver.send('Page.captureScreenshot', params, tab.sessionId);
  return Buffer.from(String(data), 'base64');
};
