/**
 * Opens sessions of the world of notes, and calls a tool that lists a few notes. The calls run in all sessions at the
 * same time.
 */

import { call, open } from '../../test/support/control/sessions.ts';
import type { Network } from '../../test/support/programs/network.ts';

const openOne = async ({ client }: Network): Promise<string> => {
  const session = await open(client, { slug: 'notes', reuseWarm: true });
  if (session.state !== 'READY') throw new Error(`${session.id} is ${session.state}`);
  return session.id;
};

/** Opens this many sessions; each has a host of its own when this resolves. */
export const openNotes = (network: Network, count: number): Promise<string[]> =>
  Promise.all(Array.from({ length: count }, () => openOne(network)));

/** Calls each session this many times, one call after the other. */
export const callEach = async (
  { client }: Network,
  ids: readonly string[],
  times: number,
): Promise<void> => {
  const callInTurn = async (sessionId: string): Promise<void> => {
    for (let done = 0; done < times; done += 1) {
      const asked = { kind: 'tool', name: 'list_notes', input: { folder_id: 1 } } as const;
      const answer = await call(client, sessionId, asked);
      if (answer.state !== 'succeeded') throw new Error(`call ${answer.id} is ${answer.state}`);
    }
  };
  await Promise.all(ids.map(callInTurn));
};
