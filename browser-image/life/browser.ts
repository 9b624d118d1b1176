/**
 * Runs the browser for one session after another. It is warm before a session is assigned, opens the session's entry
 * page, and serves clients and viewers. If Chromium is lost, another one starts from the last checkpoint. Operations on
 * the browser as a whole (assign, reset, end, recover) run one after the other.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { WebSocket } from 'ws';
import { AppError, describeError } from '#domain/error.ts';
import { makeFolders } from '#runtime/folders.ts';
import { ownHosts } from '../chromium/flags.ts';
import { createOrigins } from '../policy/origins.ts';
import { startProxy } from '../policy/proxy.ts';
import { type Checkpoint, restoreCheckpoint, takeCheckpoint } from '../watch/checkpoint.ts';
import { clearDownloads } from '../watch/downloads.ts';
import { createThrottle } from '../watch/events.ts';
import { type ScreenshotOptions, takeScreenshot } from '../watch/screenshot.ts';
import { serveDriving, serveViewing } from './connections.ts';
import { type Instance, NoSandbox } from './instance.ts';
import { createKeeper } from './keeper.ts';
import { createSpare, noSpare } from './spare.ts';
import {
  type Assignment,
  type BrowserOptions,
  type Condition,
  clearSession,
  closeAll,
  discard,
  downloadsOf,
  endRecording,
  inTurn,
  type Life,
  openEntry,
  record,
  report,
  setPasses,
  settle,
  startFresh,
  startOne,
} from './state.ts';

export type BrowserStatus = {
  condition: Condition;
  connections: number;
  pid: number | undefined;
  /** True if Chromium's pages run in its own sandbox. */
  isSandboxed: boolean;
  /** True if another Chromium is ready to replace the present one. */
  hasSpare: boolean;
};

export type SessionBrowser = {
  /** Assigns the browser to a session. Resolves when its entry page has loaded, or its checkpoint is restored. */
  assign(assignment: Assignment): Promise<void>;
  /** Opens the entry page in a fresh profile. `entry` replaces the address, because a one-time link works only once. */
  reset(entry?: string): Promise<void>;
  /** Takes a checkpoint now. */
  checkpoint(): Promise<Checkpoint>;
  screenshot(options?: ScreenshotOptions): Promise<Buffer>;
  /** Returns the path of a finished download, by the id in its event. */
  downloadPath(id: string): string;
  /** Ends the session. Resolves when a fresh Chromium is warm for the next one. */
  end(): Promise<void>;
  /**
   * Prepares for the machine being taken away: takes a last checkpoint, and closes all connections so that clients
   * reconnect to the next browser.
   */
  leave(): Promise<void>;
  /** Serves a DevTools client, as soon as the browser is ready. */
  drive(socket: WebSocket): void;
  /** Serves a viewer, as soon as the browser is ready. */
  view(socket: WebSocket, options: { isReadOnly: boolean }): void;
  status(): BrowserStatus;
  stop(): Promise<void>;
};

/** Maximum number of losses within the window below; after more losses, the browser is not restarted automatically. */
const mostLosses = 5;
const lossesWithinMs = 60_000;
/**
 * Delay before the spare is started, in milliseconds: Chromium and its session stay busy for a moment after they have
 * come up.
 */
const spareAfterMs = 2_000;

/** Returns the Chromium that serves the session. Throws `unavailable` when there is none. */
const servingInstance = ({ instance, assignment, condition }: Life): Instance => {
  if (instance?.isGone() === false && assignment !== undefined) return instance;
  throw new AppError(
    'unavailable',
    `the browser is ${condition}; try again when it serves a session`,
  );
};

/** Records a loss; returns true if there were too many recently to start the browser again. */
const isHopeless = (life: Life): boolean => {
  const now = performance.now();
  life.losses = [...life.losses.filter((at) => now - at < lossesWithinMs), now];
  return life.losses.length > mostLosses;
};

/** Restores the last checkpoint in a fresh browser; returns the number of tabs opened. */
const restore = async (
  life: Life,
  instance: Instance,
  assignment: Assignment,
  checkpoint: Checkpoint,
): Promise<number> => {
  life.keeper.set(checkpoint);
  const { driver, tabs, newTab } = instance;
  await setPasses(instance, assignment);
  // Session passes in the checkpoint are older than those that the session has now.
  const passes = (assignment.cookies ?? []).map(({ name }) => name);
  const cookies = checkpoint.cookies.filter(({ name }) => !passes.includes(String(name)));
  return restoreCheckpoint(driver, { ...checkpoint, cookies }, { tabs, newTab });
};

/** Starts the browser again after a loss and restores the last checkpoint. */
const recover = async (life: Life): Promise<void> => {
  if (life.instance?.isGone() !== true) return;
  const begunAt = performance.now();
  const { keeper, assignment } = life;
  // Nothing waits for the connections to close: their state in the browser is lost with it.
  void closeAll(life, 'browser_lost');
  const discarded = discard(life);
  if (isHopeless(life)) {
    await discarded;
    life.condition = 'failed';
    const why = `lost ${mostLosses + 1} times within ${lossesWithinMs / 1_000} s`;
    return report(life, { kind: 'failed', why });
  }
  const [instance] = await Promise.all([startFresh(life, () => onLoss(life)), discarded]);
  if (assignment === undefined) return settle(life, 'warm');
  const checkpoint = keeper.last();
  const tabs = checkpoint === undefined ? 0 : await restore(life, instance, assignment, checkpoint);
  if (tabs === 0) await openEntry(life, instance);
  settle(life, 'serving');
  record(life, 'restored');
  const tookMs = Math.round(performance.now() - begunAt);
  report(life, { kind: 'restored', tabs, tookMs });
};

const onLoss = (life: Life): void => {
  inTurn(life, () => recover(life)).catch((err: unknown) => {
    // If the browser was lost again meanwhile, another recovery handles that loss.
    if (life.instance?.isGone() === true) return;
    life.options.log.error({ err }, 'the browser could not be restored');
    if (life.instance !== undefined) {
      settle(life, 'serving');
      return;
    }
    life.condition = 'failed';
    report(life, { kind: 'failed', why: describeError(err) });
  });
};

/** Replaces the present Chromium by a fresh one, and removes everything that the session left. */
const replace = async (life: Life): Promise<Instance> => {
  const cleared = discard(life).then(() => clearSession(life));
  const [instance] = await Promise.all([startFresh(life, () => onLoss(life)), cleared]);
  return instance;
};

const end = async (life: Life): Promise<void> => {
  await endRecording(life);
  life.origins.set([]);
  life.assignment = undefined;
  life.losses = [];
  await closeAll(life, 'session_ended');
  await replace(life);
  await life.spare.discard();
  settle(life, 'warm');
};

const assign = async (life: Life, assignment: Assignment): Promise<void> => {
  if (life.assignment !== undefined) {
    throw new AppError('conflict', 'the browser already serves a session; end that session first');
  }
  life.origins.set(assignment.reach);
  life.assignment = assignment;
  const { checkpoint } = assignment;
  try {
    const instance = life.instance ?? (await startFresh(life, () => onLoss(life)));
    const tabs =
      checkpoint === undefined ? 0 : await restore(life, instance, assignment, checkpoint);
    if (tabs === 0) await openEntry(life, instance);
    settle(life, 'serving');
    record(life, assignment.recording?.mark ?? 'start');
  } catch (error) {
    // The caller tries again, here or at another browser. What this one has seen of the session must not stay.
    await end(life);
    throw error;
  }
};

const reset = async (life: Life, entry?: string): Promise<void> => {
  const { assignment } = life;
  if (assignment === undefined) {
    throw new AppError('conflict', 'the browser serves no session, so there is nothing to reset');
  }
  const { checkpoint: _, ...lasting } = assignment;
  life.assignment = { ...lasting, entry: entry ?? assignment.entry };
  life.losses = [];
  await closeAll(life, 'reset');
  const instance = await replace(life);
  settle(life, 'serving');
  record(life, 'reset');
  await openEntry(life, instance);
};

const stop = async (life: Life): Promise<void> => {
  life.condition = 'stopped';
  life.keeper.stop();
  await Promise.all([closeAll(life, 'session_ended'), endRecording(life)]);
  await Promise.all([discard(life), life.spare.discard()]);
  await life.proxy.close();
  await rm(life.options.workDir, { recursive: true, force: true, maxRetries: 5 });
};

/**
 * Takes a last checkpoint, and closes all connections; the reason given to clients is that another browser takes over.
 */
const leave = async (life: Life): Promise<void> => {
  if (life.assignment !== undefined) await life.keeper.take().catch(() => undefined); // the last checkpoint remains
  await Promise.all([closeAll(life, 'reclaimed'), endRecording(life)]);
};

/** Returns true if Chromium should start with its sandbox; as root it cannot. */
const wantsSandbox = ({ sandbox }: BrowserOptions): boolean =>
  sandbox === 'require' || (sandbox === 'auto' && process.getuid?.() !== 0);

/** Starts the first Chromium. If it finds no sandbox and the setting allows that, starts it without one. */
const startFirst = async (life: Life): Promise<void> => {
  try {
    await startFresh(life, () => onLoss(life));
  } catch (error) {
    if (!(error instanceof NoSandbox) || life.options.sandbox === 'require') throw error;
    life.options.log.warn('Chromium runs without its own sandbox: there are no user namespaces');
    life.isSandboxed = false;
    await startFresh(life, () => onLoss(life));
  }
};

const makeLife = async (options: BrowserOptions): Promise<Life> => {
  const { checkpointMs, route, onCheckpoint, log } = options;
  const origins = createOrigins();
  const throttle = createThrottle();
  const proxy = await startProxy({
    origins,
    route,
    onTraffic: () => keeper.touch(),
    onRefused(what) {
      const url = URL.parse(what.includes('://') ? what : `https://${what}`);
      if (url !== null && ownHosts.has(url.hostname)) return;
      throttle((left) =>
        report(life, { kind: 'refused', what, why: 'not of this session', ...left }),
      );
    },
    log,
  });
  const keeper = createKeeper({
    afterMs: checkpointMs,
    async take(before) {
      const { driver, tabs } = servingInstance(life);
      return takeCheckpoint({ driver, isPage: origins.isPage, before }, tabs);
    },
    isTakeable: () => life.condition === 'serving',
    onCheckpoint,
    log,
  });
  const life: Life = {
    ...{ options, origins, proxy, keeper, condition: 'warm', connected: new Set() },
    ...{ instance: undefined, assignment: undefined, recorder: undefined, turn: Promise.resolve() },
    ...{ started: 0, losses: [], isSandboxed: wantsSandbox(options), spare: noSpare },
  };
  if (options.hasSpare) {
    life.spare = createSpare({ afterMs: spareAfterMs, start: () => startOne(life), log });
  }
  return life;
};

/** Starts a warm browser. Throws `unavailable` when Chromium does not come up. */
export const startBrowser = async (options: BrowserOptions): Promise<SessionBrowser> => {
  // A program that was killed may have left its folder.
  await rm(options.workDir, { recursive: true, force: true, maxRetries: 5 });
  await makeFolders(options.workDir);
  await clearDownloads(downloadsOf(options));
  const life = await makeLife(options);
  try {
    await startFirst(life);
  } catch (error) {
    await stop(life);
    throw error;
  }
  return {
    assign: (assignment) => inTurn(life, () => assign(life, assignment)),
    reset: (entry) => inTurn(life, () => reset(life, entry)),
    checkpoint: () => inTurn(life, () => life.keeper.take()),
    async screenshot(wanted = {}) {
      const { driver, tabs } = servingInstance(life);
      return takeScreenshot(driver, tabs.active(), wanted);
    },
    downloadPath(id) {
      if (!/^[\w-]{1,64}$/.test(id))
        throw new AppError('not_found', `there is no download "${id}"`);
      return join(downloadsOf(options), id);
    },
    end: () => inTurn(life, () => end(life)),
    leave: () => inTurn(life, () => leave(life)),
    drive: (socket) => void serveDriving(life, socket),
    view: (socket, { isReadOnly }) => void serveViewing(life, socket, isReadOnly),
    status: () => ({
      condition: life.condition,
      connections: life.connected.size,
      pid: life.instance?.pid,
      isSandboxed: life.isSandboxed,
      hasSpare: life.spare.stands(),
    }),
    async stop() {
      if (life.condition !== 'stopped') await inTurn(life, () => stop(life));
    },
  };
};
