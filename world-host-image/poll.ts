/**
 * The agent: reports that the host is warm, waits for a session, serves it to its end, and begins
 * again or stops. It holds one request to the control plane at a time; posting a call's answer brings
 * the next call back.
 *
 * `stopping` ends waits, never a call that runs: its answer is still delivered.
 */
import { describeError } from '#domain/error.ts';
import { limits } from '#domain/limits.ts';
import type { Log } from '#runtime/log.ts';
import { StoreRefusal } from '#store/refusal.ts';
import {
  type Assignment,
  answerCall,
  type CallAnswer,
  type HostCall,
  pollCalls,
  pollHost,
  reportClosed,
  reportFailed,
  reportReady,
  reportWarm,
  type SessionDirective,
} from '#wire/host-api/operations.ts';
import { runCall } from './calls/run-call.ts';
import type { ControlLink } from './control-link.ts';
import { createJournal, type Journal } from './journal.ts';
import type { WorldLoader } from './session/load-world.ts';
import { openSession, recycleSession } from './session/open-session.ts';
import type { Serving } from './session/serving.ts';
import type { Session } from './session/session.ts';

export type AgentOptions = {
  hostId: string;
  /** Of the launch; it rises with assignments. */
  generation: number;
  /** Address of the API server, when the host is to tell it. */
  address: string | undefined;
  link: ControlLink;
  serving: Serving;
  worlds: WorldLoader;
  log: Log;
  stopping: AbortSignal;
};

export type Agent = {
  generation(): number;
  /**
   * Runs until the host is drained, its session ended without another to come, or `stopping` aborts.
   * Throws what the control plane refuses.
   */
  run(): Promise<void>;
};

type Next = 'wait' | 'exit';

const hold = limits.pollMs / 1000;
/** For the one last message of a host that was told to stop. */
const lastMessageMs = 5_000;

const loadFailure = (error: unknown): { code: string; message: string } => ({
  code: error instanceof StoreRefusal ? 'seed_refused' : 'load_failed',
  message: describeError(error),
});

export const createAgent = (options: AgentOptions): Agent => {
  const { hostId, link, log, serving, stopping, worlds } = options;
  let { generation } = options;

  const answer = async (
    sessionId: string,
    call: HostCall,
    given: CallAnswer,
  ): Promise<SessionDirective> => {
    const params = { sessionId, callId: call.id };
    const body = { generation, answer: given };
    try {
      const input = { params, body: { ...body, hold } };
      return await link.send(answerCall, input, { signal: stopping, holdSeconds: hold });
    } catch (error) {
      if (!stopping.aborted) throw error;
      // The wait for the next call was cut short, perhaps before the answer arrived.
      const signal = AbortSignal.timeout(lastMessageMs);
      await link.send(answerCall, { params, body: { ...body, hold: 0 } }, { signal });
      return {};
    }
  };

  const runOnce = async (
    session: Session,
    journal: Journal,
    call: HostCall,
  ): Promise<SessionDirective> => {
    const seen = journal.look(call);
    if (seen.kind === 'answered') return answer(session.id, call, seen.answer);
    if (seen.kind === 'forgotten') {
      const message = 'the call was answered before and its answer is no longer kept';
      return answer(session.id, call, { error: { code: 'forgotten', message }, changes: {} });
    }
    log.debug({ call: call.id, kind: call.kind, name: call.name }, 'call begins');
    const given = await runCall(session, call, log);
    journal.answered(call, given);
    return answer(session.id, call, given);
  };

  /** Runs calls until the session is to be closed; undefined when the host itself is to stop. */
  const serveCalls = async (
    session: Session,
    first: SessionDirective,
  ): Promise<SessionDirective['close']> => {
    const journal = createJournal();
    let directive = first;
    while (!stopping.aborted) {
      if (directive.close !== undefined) return directive.close;
      directive =
        directive.call === undefined
          ? await link.send(
              pollCalls,
              { params: { sessionId: session.id }, query: { generation, hold } },
              { signal: stopping, holdSeconds: hold },
            )
          : await runOnce(session, journal, directive.call);
    }
    return undefined;
  };

  const reportIsWarm = (recycled?: {
    bundle: `sha256:${string}`;
    stateDigest: `sha256:${string}`;
  }) =>
    link.send(
      reportWarm,
      {
        params: { hostId },
        body: {
          generation,
          ...(options.address === undefined ? {} : { address: options.address }),
          ...(recycled === undefined ? {} : { recycled }),
        },
      },
      { signal: stopping },
    );

  const close = async (session: Session): Promise<Next> => {
    await serving.end();
    const params = { sessionId: session.id };
    const closed = await link.send(
      reportClosed,
      { params, body: { generation } },
      { signal: stopping },
    );
    generation = closed.generation;
    if (closed.next === 'exit') return 'exit';
    await reportIsWarm(await recycleSession(session));
    return 'wait';
  };

  const open = async (assignment: Assignment): Promise<Session | undefined> => {
    try {
      return await openSession(worlds, assignment);
    } catch (error) {
      stopping.throwIfAborted();
      log.error({ err: error, session: assignment.sessionId }, 'the session cannot be loaded');
      await link.send(
        reportFailed,
        {
          params: { sessionId: assignment.sessionId },
          body: { generation, ...loadFailure(error) },
        },
        { signal: stopping },
      );
      return undefined;
    }
  };

  const serve = async (assignment: Assignment): Promise<Next> => {
    generation = assignment.generation;
    const startedAt = performance.now();
    const session = await open(assignment);
    if (session === undefined) return 'exit';
    serving.begin(session);
    const { bundle, baseDigest } = session.world;
    const loadMs = performance.now() - startedAt;
    log.info({ session: session.id, world: assignment.worldSlug, loadMs }, 'serving');
    const first = await link.send(
      reportReady,
      {
        params: { sessionId: session.id },
        body: { generation, holding: { bundle, stateDigest: baseDigest } },
      },
      { signal: stopping },
    );
    const directive = await serveCalls(session, first);
    return directive === undefined ? 'exit' : close(session);
  };

  const runToEnd = async (): Promise<void> => {
    await reportIsWarm();
    log.info({ warmMs: performance.now() }, 'warm');
    let next: Next = 'wait';
    while (next === 'wait' && !stopping.aborted) {
      const { assignment, drain } = await link.send(
        pollHost,
        { params: { hostId }, body: { generation, hold } },
        { signal: stopping, holdSeconds: hold },
      );
      if (drain === true) return;
      if (assignment !== undefined) next = await serve(assignment);
    }
  };

  return {
    generation: () => generation,
    async run() {
      try {
        await runToEnd();
      } catch (error) {
        if (!stopping.aborted) throw error;
      } finally {
        await serving.end();
      }
    },
  };
};
