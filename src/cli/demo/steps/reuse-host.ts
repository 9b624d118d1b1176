/**
 * Step 9: the session closes and leaves its host warm; the next one opens on the same host and finds
 * the seed again, not what the first one left.
 */
import type { Client } from '#wire/client.ts';
import { closeSession } from '#wire/public-api/operations.ts';
import { formatDuration, formatFields } from '../../print.ts';
import type { Up } from '../../up/up.ts';
import { expectEqual } from '../expect.ts';
import type { Step } from '../timeline.ts';
import { type OpenSession, open } from './open-session.ts';

export type ReuseOptions = { client: Client; up: Up; first: OpenSession; signal: AbortSignal };

const closeWaitSeconds = 30;

const close = async (
  { client, signal }: ReuseOptions,
  sessionId: string,
  keepWarm: boolean,
): Promise<void> => {
  const { body } = await client.send(closeSession, {
    params: { sessionId },
    query: { wait: closeWaitSeconds },
    body: { keepWarm },
    signal,
  });
  expectEqual('the state after closing', [body.state, body.endReason], ['CLOSED', 'requested']);
};

/** Closes the first session and resolves when its host has proved clean and waits again. */
const closeAndRecycle = async (options: ReuseOptions): Promise<string> => {
  const { up, first, signal } = options;
  let hostId: string | undefined;
  await up.watchHosts((hosts) => {
    hostId = hosts.find(({ sessionId }) => sessionId === first.session.id)?.id;
    return true;
  }, signal);
  expectEqual('whether a host holds the session', hostId !== undefined, true);
  await close(options, first.session.id, true);
  let isWarm = false;
  await up.watchHosts((hosts) => {
    const host = hosts.find(({ id }) => id === hostId);
    isWarm = host?.state === 'warm';
    return isWarm || host === undefined || host.state === 'draining';
  }, signal);
  expectEqual('whether the host proved clean', isWarm, true);
  return hostId ?? '';
};

export const reuseHost = async (step: Step, options: ReuseOptions): Promise<void> => {
  const { client, first, signal } = options;
  const hostId = await closeAndRecycle(options);
  step.note(`${first.session.id} closed; its host ${hostId} proved clean and is warm again`);
  const again = await open(step, { client, reuseWarm: true, signal });
  expectEqual('whether the host was reused', again.session.hostReused, true);
  expectEqual('the rows of the new session', again.state.counts, first.state.counts);
  expectEqual('the digest of the new session', again.state.digest, first.state.digest);
  step.note(
    formatFields([
      ['session', again.session.id],
      ['state', `${again.state.digest}, the seed again`],
      ['speed', compare(first.readyMs, again.readyMs)],
    ]),
  );
  await close(options, again.session.id, false);
  step.note(`${again.session.id} closed`);
};

const compare = (firstMs: number, againMs: number): string => {
  const both = `${formatDuration(firstMs)} on a host that had to load the world, ${formatDuration(againMs)} on one that held it`;
  const times = firstMs / Math.max(againMs, 1);
  return times < 1.1 ? both : `${both}: ${times.toFixed(1)} times faster`;
};
