/**
 * Finds this machine's Chromium: at the path that the configuration names, or at the usual paths of Debian and of
 * distributions based on it.
 */
import { accessSync, constants } from 'node:fs';
import { AppError } from '#domain/error.ts';

/**
 * Paths at which Chromium is usually installed. The program itself comes before Debian's start script, because the
 * script adds flags that are configured on the machine.
 */
const usualPaths = [
  '/usr/lib/chromium/chromium',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome-stable',
  '/usr/bin/google-chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

const isExecutable = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

/**
 * Returns the path of a Chromium that can be started.
 *
 * @throws `conflict` with `reason: "no_browser"` and how to get one, if there is none.
 */
export const findChromium = (configured?: string): string => {
  const paths = configured === undefined ? usualPaths : [configured];
  const found = paths.find(isExecutable);
  if (found !== undefined) return found;
  const looked = configured === undefined ? 'in the usual places' : `at ${configured}`;
  throw new AppError(
    'conflict',
    `there is no Chromium on this machine (looked ${looked}): install one (Debian, Ubuntu: ` +
      'apt-get install chromium), or set SVC_CHROMIUM to the path of its program',
    { detail: { reason: 'no_browser' } },
  );
};
