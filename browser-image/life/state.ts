/** State of a program's browser, and the steps from which its operations are composed. */
import { join } from 'node:path';
import { AppError } from '#domain/error.ts';
import type { RecordingMark } from '#domain/recording.ts';
import type { Log } from '#runtime/log.ts';
import type { Closure } from '../closures.ts';
import type { Origins, Reach } from '../policy/origins.ts';
import type { ForwardProxy } from '../policy/proxy.ts';
import type { Route } from '../policy/route.ts';
import { createRecorder, type RecordedPicture, type Recorder } from '../record/recorder.ts';
import type { Client } from '../relay/client.ts';
import type { Viewer } from '../view/viewer.ts';
import type { Checkpoint } from '../watch/checkpoint.ts';
import { clearDownloads } from '../watch/downloads.ts';
import type { BrowserEvent, NewEvent } from '../watch/events.ts';
import { openPage } from '../watch/open.ts';
import { type Instance, startInstance } from './instance.ts';
import type { Keeper } from './keeper.ts';
import type { Spare } from './spare.ts';

export type Assignment = {
  /** Address of the page that the browser opens first; it may be a one-time link. */
  entry: string;
  /** Complete list of the origins that the browser may reach. */
  reach: readonly Reach[];
  /** Checkpoint to resume from instead of opening the entry page. */
  checkpoint?: Checkpoint;
  /** Cookies with which the page admits the browser, whatever its profile. */
  cookies?: readonly EntryCookie[];
  /** Recording of what the browser shows; when absent, the session is not recorded. */
  recording?: {
    /** Mark of the recording's first picture. */
    mark: RecordingMark;
    onPicture(picture: RecordedPicture): void;
  };
};

/** Session pass, as a cookie for one origin that scripts of its pages cannot read. */
export type EntryCookie = { url: string; name: string; value: string };

export type BrowserOptions = {
  /** Path of the Chromium program. */
  chromium: string;
  /** Working folder, which the program creates, fills and removes. */
  workDir: string;
  window: { width: number; height: number };
  /** Certificate of a certificate authority for the surfaces, trusted in addition to the public ones. */
  authority: string | undefined;
  /** Choice of Chromium's own sandbox for pages; `auto` uses it if the machine supports it. */
  sandbox: SandboxChoice;
  /** Route to the session's surfaces. */
  route: Route;
  /** True to keep another Chromium warm while one serves a session. */
  hasSpare: boolean;
  /** Delay between a change and its checkpoint, in milliseconds. */
  checkpointMs: number;
  /** Maximum number of clients and viewers connected at once. */
  mostConnections: number;
  onEvent(event: BrowserEvent): void;
  onCheckpoint(checkpoint: Checkpoint): void;
  log: Log;
};

export const sandboxChoices = ['auto', 'require', 'off'] as const;
export type SandboxChoice = (typeof sandboxChoices)[number];

/**
 * Condition of the browser. `warm`: waits for a session. `serving`: has one. `lost`: has one, and is being restarted.
 * `failed`: is not restarted automatically. `stopped`: has ended for good.
 */
export type Condition = 'warm' | 'serving' | 'lost' | 'failed' | 'stopped';

export type Connected = (Client | Viewer) & { isDriving: boolean };

export type Life = {
  readonly options: BrowserOptions;
  readonly origins: Origins;
  readonly proxy: ForwardProxy;
  readonly keeper: Keeper;
  spare: Spare;
  readonly connected: Set<Connected>;
  condition: Condition;
  instance: Instance | undefined;
  /** True if Chromium is started with its own sandbox. */
  isSandboxed: boolean;
  assignment: Assignment | undefined;
  recorder: Recorder | undefined;
  /** Resolves when the last queued operation has ended. */
  turn: Promise<unknown>;
  /** Number of Chromiums started so far. */
  started: number;
  /** Times of the recent losses, in milliseconds of the monotonic clock. */
  losses: number[];
};

/** Queues an operation behind all operations begun before it. */
export const inTurn = <Value>(life: Life, work: () => Promise<Value>): Promise<Value> => {
  const done = life.turn.then(() => {
    if (life.condition !== 'stopped') return work();
    throw new AppError('unavailable', 'the browser program is stopping');
  });
  life.turn = done.catch(() => undefined); // the caller of this operation receives its failure
  return done;
};

export const report = ({ options }: Pick<Life, 'options'>, event: NewEvent): void =>
  options.onEvent({ at: new Date().toISOString(), ...event });

export const downloadsOf = ({ workDir }: Pick<BrowserOptions, 'workDir'>): string =>
  join(workDir, 'downloads');

/** Closes all connections, and waits until nothing of them is left in the browser. */
export const closeAll = async ({ connected }: Life, closure: Closure): Promise<void> => {
  for (const one of connected) one.close(closure);
  await Promise.all([...connected].map(({ ended }) => ended));
};

/** Starts a Chromium with a fresh profile. */
export const startOne = (life: Life): Promise<Instance> => {
  const { options, proxy, keeper } = life;
  life.started += 1;
  return startInstance({
    path: options.chromium,
    folder: join(options.workDir, `chromium-${life.started}`),
    downloads: downloadsOf(options),
    proxy: proxy.address,
    window: options.window,
    authority: options.authority,
    isSandboxed: life.isSandboxed,
    report: (event) => report(life, event),
    isAlone: () => [...life.connected].every(({ isDriving }) => !isDriving),
    onChange: () => keeper.touch(),
    log: options.log,
  });
};

/** Makes a Chromium with a fresh profile the present browser: the spare if there is one, else a new one. */
export const startFresh = async (life: Life, onLoss: () => void): Promise<Instance> => {
  const instance = life.spare.take() ?? (await startOne(life));
  life.instance = instance;
  void instance.ended.then((signal) => {
    if (life.instance !== instance) return;
    report(life, { kind: 'crashed', signal });
    life.condition = 'lost';
    onLoss();
  });
  return instance;
};

/** Sets the condition after an operation, unless the browser was lost meanwhile and is about to be restarted. */
export const settle = (life: Life, condition: Condition): void => {
  life.condition = life.instance?.isGone() === true ? 'lost' : condition;
  if (condition === 'serving') life.spare.want();
  life.keeper.touch();
};

/** Lets the recording follow the present browser, if the session has one. */
export const record = (life: Life, mark: RecordingMark): void => {
  const { assignment, instance, options } = life;
  if (assignment?.recording === undefined || instance === undefined) return;
  const { onPicture } = assignment.recording;
  life.recorder ??= createRecorder({ onPicture, log: options.log });
  life.recorder.follow(instance, mark);
};

/** Ends the recording, after its last pictures have been handed on. */
export const endRecording = async (life: Life): Promise<void> => {
  const { recorder } = life;
  life.recorder = undefined;
  await recorder?.stop();
};

/** Ends the present Chromium and removes everything that it holds. */
export const discard = async (life: Life): Promise<void> => {
  const { instance } = life;
  life.instance = undefined;
  await instance?.stop();
};

/** Removes a session's downloads and its checkpoint. */
export const clearSession = async ({ options, keeper }: Life): Promise<void> => {
  keeper.set(undefined);
  await clearDownloads(downloadsOf(options));
};

/** Sets the session's passes in a fresh profile, or in a context that a client made. */
export const setPasses = async (
  { driver }: Pick<Instance, 'driver'>,
  { cookies = [] }: Assignment,
  browserContextId?: string,
): Promise<void> => {
  const context = browserContextId === undefined ? {} : { browserContextId };
  const passes = cookies.map((cookie) => ({
    ...cookie,
    path: '/',
    httpOnly: true,
    sameSite: 'Lax',
    secure: cookie.url.startsWith('https:'),
  }));
  if (passes.length > 0) await driver.send('Storage.setCookies', { cookies: passes, ...context });
};

/** Opens the entry page in a fresh browser's tab, and takes a checkpoint of the result. */
export const openEntry = async (life: Life, instance: Instance): Promise<void> => {
  const { assignment, keeper } = life;
  const tab = instance.tabs.active();
  if (assignment === undefined || tab === undefined) return;
  await setPasses(instance, assignment);
  await openPage(instance.driver, tab, assignment.entry);
  // A one-time link is used up now, so the cookies that it brought must outlive this browser. If the page is already
  // navigating elsewhere, the checkpoint follows a moment later.
  await keeper.take().catch(() => keeper.touch());
};
