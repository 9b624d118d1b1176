/** Whether sessions of `svc up` can have browsers, and how many are kept warm. */
import { AppError } from '#domain/error.ts';
import { findChromium } from '#runtime/chromium.ts';
import type { RuntimeChoice } from './runtime.ts';

export type BrowserChoice = {
  /** How many are kept warm; undefined: sessions can have none. */
  warm: number | undefined;
  /** The same for a person. */
  says: string;
};

const keepsWarm = (warm: number): string =>
  warm === 0 ? 'started when asked for' : `${warm} warm`;

/**
 * Decides. A process runs the Chromium of this machine. Throws `conflict` when browsers are wished for and it has none,
 * with how to get one.
 */
export const chooseBrowsers = (
  wished: number | undefined,
  runtime: RuntimeChoice['runtime'],
  chromium: string | undefined,
): BrowserChoice => {
  const warm = wished ?? 0;
  if (runtime === 'docker') {
    if (wished !== undefined) return { warm, says: `${keepsWarm(warm)}, in containers` };
    return { warm: undefined, says: 'none; --browsers 1 has one ready, from an image of its own' };
  }
  try {
    return { warm, says: `${keepsWarm(warm)} (${findChromium(chromium)})` };
  } catch (error) {
    if (!(error instanceof AppError) || wished !== undefined) throw error;
    return { warm: undefined, says: `none: ${error.message}` };
  }
};
