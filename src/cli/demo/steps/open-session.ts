/** Step 5: a session of the world opens on its bundled task. */
import type { Client } from '#wire/client.ts';
import { openSession as openOperation } from '#wire/public-api/operations.ts';
import type { SessionView } from '#wire/public-api/session.ts';
import { sendCall } from '../../calls.ts';
import { elapsedMs, formatDuration, formatFields } from '../../print.ts';
import { waitUntilReady } from '../../sessions.ts';
import { outputOf } from '../../views/call.ts';
import { expectEqual, expectSome } from '../expect.ts';
import { taskName, worldSlug } from '../story.ts';
import type { Step } from '../timeline.ts';

const readyWithinMs = 60_000;

/** A session that is ready, and the state it starts from. */
export type OpenSession = {
  session: SessionView;
  /** From the request until the service saw it ready. */
  readyMs: number;
  state: { counts: Record<string, number>; digest: string };
};

export type OpenOptions = { client: Client; reuseWarm: boolean; signal: AbortSignal };

/** Opens, and waits until it is ready; for a host that is new or one that holds the world already. */
export const open = async (step: Step, options: OpenOptions): Promise<OpenSession> => {
  const { client, reuseWarm, signal } = options;
  const opened = await client.send(openOperation, {
    body: { slug: worldSlug, task: taskName, reuseWarm },
    signal,
  });
  expectEqual('the state right after opening', opened.body.state, 'PROVISIONING');
  const endsAt = performance.now() + readyWithinMs;
  const session = await waitUntilReady({ client, session: opened.body, endsAt, signal });
  expectEqual('the state after waiting', session.state, 'READY');
  const readyMs = expectSome('readyAt', elapsedMs(session.createdAt, session.readyAt));
  step.note(`PROVISIONING → READY in ${formatDuration(readyMs)}`);
  const sessionId = session.id;
  const call = await sendCall({ client, sessionId, call: { kind: 'state' }, signal });
  return { session, readyMs, state: outputOf(call) as OpenSession['state'] };
};

export const openSession = async (step: Step, options: OpenOptions): Promise<OpenSession> => {
  const opened = await open(step, options);
  const { session, state } = opened;
  expectEqual('the name of its task', session.task?.name, taskName);
  const instruction = expectSome('the instruction', session.instruction);
  step.note(
    formatFields([
      ['session', session.id],
      ['API', expectSome('the address of its API', session.surfaces.api?.url)],
      ['state', state.digest],
    ]),
  );
  step.aside(`\n${instruction.trim()}`);
  return opened;
};
