/** Formats messages for the author of a world that is served from a folder. */

import { localSurfaceUrl } from '#domain/surface-address.ts';
import { enterPath } from '#runtime/surface-pass.ts';
import type { LeftOutChange, ServingLine } from '#wire/program-lines/lines.ts';
import type { BuiltFolder } from '../files/folder-world.ts';
import type { Colors } from '../terminal/context.ts';
import { cutLine, formatCount, formatDuration, formatFields } from '../terminal/print.ts';

/** Addresses of a served world. */
export type ServedAddresses = { api: string; token: string; page: string | null };

/** Returns the addresses at which the program serves the world. */
export const servedAddresses = (
  address: string,
  { contract, world }: BuiltFolder,
): ServedAddresses => {
  const { sessionId, sessionToken } = world.assignment;
  const page = contract.ui === null ? undefined : localSurfaceUrl(address, sessionId, 'ui');
  return {
    api: address,
    token: sessionToken,
    page: page === undefined ? null : `${page}${enterPath}?token=${world.link}`,
  };
};

const whatOf = ({ contract, rows, world }: BuiltFolder): string => {
  const { entities, api, tools } = contract;
  const task = world.assignment.task?.name;
  return [
    formatCount(entities.length, 'entity', 'entities'),
    formatCount(rows, 'row'),
    formatCount(api?.routes.length ?? 0, 'route'),
    formatCount(tools.length, 'tool'),
    ...(task === undefined ? [] : [`on the task ${task}`]),
  ].join(', ');
};

/** Formats the first message, once the world is served. */
export const describeServed = (
  built: BuiltFolder,
  { api, token, page }: ServedAddresses,
  { tookMs, colors }: { tookMs: number; colors: Colors },
): string => {
  const { contract } = built;
  const linked = contract.dependencies.length;
  return [
    `${colors.bold(contract.name)} is served, after ${formatDuration(tookMs)}: ${whatOf(built)}`,
    formatFields([
      ['  api', api],
      ['  token', token],
      ['  page', page],
      ['  try', `curl -H "Authorization: Bearer ${token}" ${api}/`],
    ]),
    ...(linked === 0
      ? []
      : [
          `${formatCount(linked, 'linked world')} cannot be served from a folder; svc up serves linked worlds, too`,
        ]),
    'Saved changes are served at once; stop with Ctrl-C.',
  ].join('\n');
};

const mostLeftOut = 5;
const reasonColumns = 100;

const leftOutLine = ({ entity, key, change, reason }: LeftOutChange): string =>
  `  ${entity} ${key} was ${change}: ${cutLine(reason, reasonColumns)}`;

/** Formats the message once a change of the folder is served. */
export const describeReload = (
  built: BuiltFolder,
  { kept, leftOut }: ServingLine['serving'],
  { tookMs, colors }: { tookMs: number; colors: Colors },
): string => {
  const what = `${colors.green('reloaded')} after ${formatDuration(tookMs)}: ${whatOf(built)}`;
  const carried = kept === 0 ? '' : `; ${formatCount(kept, 'changed row')} kept`;
  if (leftOut.length === 0) return `${what}${carried}`;
  const more = leftOut.length - mostLeftOut;
  return [
    `${what}${carried}; ${formatCount(leftOut.length, 'change')} left out:`,
    ...leftOut.slice(0, mostLeftOut).map(leftOutLine),
    ...(more > 0 ? [`  and ${more} more`] : []),
  ].join('\n');
};
