/**
 * The programs that `svc up` starts, by the paths of their main files, and what they are given of the
 * user's own environment. Programs never import one another, so this and `site.ts` is all that ties them
 * together.
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

/** Arguments of Node that start a program under a title by which its installation can be seen. */
export const titled = (main: string, title: string, { installation }: Secrets): string[] => [
  `--title=svc ${title} ${installation}`,
  main,
];

/** Addresses that programs on one machine cannot share, and what the CLI alone reads. */
const notPassedOn = new Set([
  ...['SVC_URL', 'SVC_ADMIN_URL', 'SVC_PUBLIC_KEY', 'SVC_SECRET_KEY', 'SVC_DATA'],
  ...['SVC_API_TOKEN', 'SVC_ORGANIZATION_PUBLIC_KEY', 'SVC_ORGANIZATION_SECRET_KEY'],
  'SVC_METRICS_LISTEN',
]);

/** The user's own environment, without what is not meant for the programs that are started. */
export const passOn = (env: Env): Record<string, string> => {
  return Object.fromEntries(
    Object.entries(env).filter(
      (entry): entry is [string, string] => entry[1] !== undefined && !notPassedOn.has(entry[0]),
    ),
  );
};
