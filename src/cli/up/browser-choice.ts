/** Decides whether sessions of `svc up` can have browsers, and how many are kept warm. */
import { AppError } from '#domain/error.ts';
import { findChromium } from '#runtime/chromium.ts';
import type { RuntimeChoice } from './runtime.ts';

export type BrowserChoice = {
  /** Number of browsers kept warm; undefined if sessions can have none. */
  warm: number | undefined;
  /** Description of the choice for a person. */
  says: string;
};

const keepsWarm = (warm: number): string =>
  warm === 0 ? 'started when asked for' : `${warm} warm`;

/**
 * Chooses the browsers. As processes, they run the Chromium of this machine. Throws `conflict`, with how to install
 * one, if browsers are requested and this machine has no Chromium.
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
