/**
 * Connects a browser to the world host of its session: reports events, and executes its requests for pictures and
 * resets.
 */
import { AppError } from '#domain/error.ts';
import {
  type BrowserEntry,
  type BrowserOrder,
  type BrowserOrders,
  browserKeyHeader,
} from '#wire/browser-link/exchange.ts';
import type { BrowserAssignment } from '#wire/host-api/browser-operations.ts';
import { createOrigins } from '../policy/origins.ts';
import type { BrowserEvent } from '../watch/events.ts';
import { postToSurface } from './ask-surface.ts';
import type { Agent } from './state.ts';
import { WorldLink } from './world-link.ts';

/** Maximum size of a picture, in bytes; a world host accepts no larger report. */
const mostPictureBytes = 700 * 1024;
const mostPathChars = 2_048;

const tooLarge = (bytes: number): AppError =>
  new AppError(
    'exhausted',
    `the picture has ${bytes} bytes, more than ${mostPictureBytes}; take a picture of the visible part alone, or as jpeg`,
  );

/** Returns the ledger entry for an event. */
export const entryOf = ({ at, kind, ...rest }: BrowserEvent): BrowserEntry => {
  const { url, ...detail } = rest as { url?: string };
  const path = url === undefined ? {} : { path: url.slice(0, mostPathChars) };
  return { at, operation: kind, ...path, detail: detail as Record<string, unknown> };
};

/**
 * Opens the connection to the world host. `resets` is the number of resets that the profile has seen; undefined if the
 * profile is a fresh one.
 */
export const openWorld = (
  agent: Agent,
  assignment: BrowserAssignment,
  resets: number | undefined,
): WorldLink => {
  const { identity, program, route, log } = agent;
  const url = new URL(assignment.link.url);
  const origins = createOrigins();
  origins.set(assignment.reach);
  const to = origins.forRequest(url);
  if (to === undefined)
    throw new AppError('invalid', `${url.origin} is not a surface of this session`);
  const headers = {
    cookie: assignment.link.cookie,
    [browserKeyHeader]: assignment.link.key,
  };
  const carryOut = async ({ format, fullPage }: BrowserOrder): Promise<unknown> => {
    const picture = await program.screenshot({ format, fullPage });
    if (picture.length > mostPictureBytes) throw tooLarge(picture.length);
    return { format, base64: picture.toString('base64') };
  };
  return new WorldLink({
    hostId: identity.hostId,
    generation: assignment.generation,
    resets,
    exchange: async (body, signal) =>
      (await postToSurface(route, { url, to, headers, body, signal })) as BrowserOrders,
    carryOut,
    reset: () => program.reset(),
    onResets(count) {
      if (agent.session?.assignment === assignment) agent.session.resets = count;
    },
    log,
  });
};
