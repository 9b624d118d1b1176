/** Decides whether sessions of `svc up` can have browsers, and how many browsers are kept warm. */
import { AppError } from '#domain/error.ts';
import { findChromium } from '#runtime/chromium.ts';
import type { RuntimeChoice } from './runtime.ts';

export type BrowserChoice = {
  /** Number of browsers kept warm; undefined if sessions can have none. */
  warm: number | undefined;
  /** Description of the choice, for people. */
  says: string;
};

const keepsWarm = (warm: number): string => (warm === 0 ? 'started on demand' : `${warm} warm`);

/**
 * Chooses the browsers. If hosts are processes, browsers run the Chromium of this machine. If browsers are requested
 * but this machine has no Chromium, throws `conflict` with instructions to install one.
 */
export const chooseBrowsers = (
  wished: number | undefined,
  runtime: RuntimeChoice['runtime'],
  chromium: string | undefined,
): BrowserChoice => {
  const warm = wished ?? 0;
  if (runtime === 'docker') {
    if (wished !== undefined) return { warm, says: `${keepsWarm(warm)}, in containers` };
    return {
      warm: undefined,
      says: 'none; --browsers 1 keeps one warm, which runs from an image of its own',
    };
  }
  try {
    return { warm, says: `${keepsWarm(warm)} (${findChromium(chromium)})` };
  } catch (error) {
    if (!(error instanceof AppError) || wished !== undefined) throw error;
    return { warm: undefined, says: `none: ${error.message}` };
  }
};
