/**
 * Programs that `svc up` starts, by the paths of their main files, and the part of the user's environment that they
 * inherit. Programs never import one another, so only this file and `site.ts` connect them.
 */
import { fileURLToPath } from 'node:url';
import type { Env } from '#runtime/env.ts';
import type { Secrets } from './folder.ts';

const pathOf = (path: string): string =>
  fileURLToPath(new URL(`../../../${path}`, import.meta.url));

export const programs = {
  control: pathOf('src/control/main.ts'),
  orchestrator: pathOf('orchestrator/main.ts'),
  gateway: pathOf('src/gateway/main.ts'),
  sender: pathOf('src/sender/main.ts'),
} as const;

/** Returns the arguments with which Node starts a program. The process title names the installation. */
export const titled = (main: string, title: string, { installation }: Secrets): string[] => [
  `--title=svc ${title} ${installation}`,
  main,
];

/**
 * Variables that programs do not inherit: addresses that several programs on one machine cannot share, and settings
 * that only the CLI reads.
 */
const notPassedOn = new Set([
  ...['SVC_URL', 'SVC_ADMIN_URL', 'SVC_PUBLIC_KEY', 'SVC_SECRET_KEY', 'SVC_DATA'],
  ...['SVC_API_TOKEN', 'SVC_ORGANIZATION_PUBLIC_KEY', 'SVC_ORGANIZATION_SECRET_KEY'],
  'SVC_METRICS_LISTEN',
]);

/** Returns the user's environment without the variables that programs do not inherit. */
export const passOn = (env: Env): Record<string, string> => {
  return Object.fromEntries(
    Object.entries(env).filter(
      (entry): entry is [string, string] => entry[1] !== undefined && !notPassedOn.has(entry[0]),
    ),
  );
};
