/** Serves one session, from the assignment until the browser is fresh again. */
import { AppError } from '#domain/error.ts';
import { limits } from '#domain/limits.ts';
import { parseAddress } from '#runtime/listen.ts';
import { until } from '#runtime/pause.ts';
import type { BrowserAssignment } from '#wire/host-api/browser-operations.ts';
import {
  keepRecording,
  pollBrowser,
  reportBrowserClosed,
  reportBrowserReady,
} from '#wire/host-api/operations.ts';
import type { Checkpoint } from '../watch/checkpoint.ts';
import { readCheckpoint } from './checkpoints.ts';
import { openRecording, type Recording } from './recording.ts';
import type { Agent, Session } from './state.ts';
import { openWorld } from './world.ts';
import type { WorldLink } from './world-link.ts';

/**
 * Time limit for the delivery of the session's last ledger entries, in milliseconds; the one below is for the last
 * parts of its recording.
 */
const lastEntriesMs = 1_000;
const lastPartsMs = 5_000;
/** Time after which a part of a recording is sent again, in milliseconds. */
const partMs = 10_000;
const hold = limits.pollMs / 1_000;

/**
 * Time for which this browser waits, while it opens its page, until the previous browser releases its address. In
 * milliseconds.
 */
const takeOverMs = 3_000;

/**
 * Serves at the previous browser's address as well, if that is a free address of this machine; returns undefined
 * otherwise.
 */
const takeOver = async (
  { program, host, log }: Agent,
  { address }: BrowserAssignment,
): Promise<string | undefined> => {
  const place = parseAddress(address?.replace('http://', '') ?? '');
  if (!host.reportAddress || address === undefined || place?.host !== '127.0.0.1') return undefined;
  if (address === program.address) return address;
  const isTaken = () =>
    program.listenToo(place).then(
      () => true,
      (error: unknown) => {
        if (error instanceof AppError && error.code === 'unavailable') return false;
        throw error;
      },
    );
  try {
    // A browser that leaves with notice holds its address a moment longer.
    await until(isTaken, { timeoutMs: takeOverMs, everyMs: 50, what: 'the address is free' });
    return address;
  } catch (err) {
    log.info({ err, address }, 'the address of the previous browser is not free');
    return undefined;
  }
};

/** Starts the recording, if the assignment requests one. */
const beginRecording = (
  { link, log }: Agent,
  { sessionId, generation, recording }: BrowserAssignment,
  world: WorldLink,
): Recording | undefined =>
  recording &&
  openRecording({
    next: recording.next,
    async send(part, ending) {
      const signal = AbortSignal.any([ending, AbortSignal.timeout(partMs)]);
      const input = { params: { sessionId }, body: { generation, ...part } };
      return (await link.sendOnce(keepRecording, input, { signal })).isCut;
    },
    onCut() {
      world.note({
        at: new Date().toISOString(),
        operation: 'recording_cut',
        detail: { why: 'the size budget of the recording is used up' },
      });
    },
    log,
  });

type Start = { session: Session; checkpoint: Checkpoint | undefined };

const begin = (agent: Agent, assignment: BrowserAssignment): Start => {
  const { access, identity } = agent;
  const { sessionId, generation, token, address: clients, lost } = assignment;
  identity.generation = generation;
  identity.sessionId = sessionId;
  const { resets, ...kept } = readCheckpoint(assignment.checkpoint) ?? {};
  const checkpoint = 'tabs' in kept ? (kept as Checkpoint) : undefined;
  const world = openWorld(agent, assignment, checkpoint === undefined ? undefined : (resets ?? 0));
  const recording = beginRecording(agent, assignment, world);
  const session: Session = {
    ...{ assignment, world, recording, resets: resets ?? 0 },
    ...{ sequence: 0, keeping: Promise.resolve() },
  };
  agent.session = session;
  access.begin({ sessionId, token, scheme: clients?.startsWith('https:') ? 'https' : 'http' });
  if (lost !== null) {
    world.note({ at: new Date().toISOString(), operation: 'reclaimed', detail: { why: lost } });
  }
  return { session, checkpoint };
};

/** Opens the session's entry page in the browser, or restores its checkpoint, and reports the browser ready. */
const bringUp = async (agent: Agent, { session, checkpoint }: Start): Promise<void> => {
  const { link, log, program, stopping: signal } = agent;
  const { assignment, recording } = session;
  const { sessionId, generation, entry, cookies, reach, lost } = assignment;
  const mark = lost === null ? 'start' : 'reclaimed';
  const taking = takeOver(agent, assignment);
  await program.assign({
    ...{ entry, cookies, reach },
    ...(checkpoint === undefined ? {} : { checkpoint }),
    ...(recording === undefined
      ? {}
      : { recording: { mark, onPicture: (picture) => recording.add(picture) } }),
  });
  const address = await taking;
  const body = { generation, ...(address === undefined ? {} : { address }) };
  await link.send(reportBrowserReady, { params: { sessionId }, body }, { signal });
  log.info({ isResumed: checkpoint !== undefined, lost }, 'serving');
};

/** Serves a session to its end; resolves with true if the host is to serve another one. */
export const serve = async (agent: Agent, assignment: BrowserAssignment): Promise<boolean> => {
  const start = begin(agent, assignment);
  const { world, recording } = start.session;
  try {
    await bringUp(agent, start);
    await awaitClose(agent, assignment);
  } catch (error) {
    await recording?.stop(0);
    throw error;
  } finally {
    agent.access.end();
    await world.stop(lastEntriesMs);
    agent.session = undefined;
  }
  return close(agent, start.session);
};

/** Resolves when the session has ended. */
const awaitClose = async (
  { link, stopping: signal }: Agent,
  { sessionId, generation }: BrowserAssignment,
): Promise<void> => {
  for (;;) {
    const input = { params: { sessionId }, query: { generation, hold } };
    const { close: isClosed } = await link.send(pollBrowser, input, { signal, holdSeconds: hold });
    if (isClosed === true) return;
  }
};

const close = async (agent: Agent, { assignment, recording }: Session): Promise<boolean> => {
  const { identity, link, log, program, stopping: signal } = agent;
  const { sessionId, generation } = assignment;
  await Promise.all([program.end(), program.leaveOthers()]);
  await recording?.stop(lastPartsMs);
  const input = { params: { sessionId }, body: { generation } };
  const closed = await link.send(reportBrowserClosed, input, { signal });
  identity.generation = closed.generation;
  log.info({ next: closed.next }, 'closed');
  identity.sessionId = undefined;
  return closed.next === 'recycle';
};
