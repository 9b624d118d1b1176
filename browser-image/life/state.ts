/** What is known of a program's browser, and the small steps that all of its life is made of. */
import { join } from 'node:path';
import { AppError } from '#domain/error.ts';
import type { RecordingMark } from '#domain/recording.ts';
import type { Log } from '#runtime/log.ts';
import type { Closure } from '../closures.ts';
import type { Origins, Reach } from '../fence/origins.ts';
import type { ForwardProxy } from '../fence/proxy.ts';
import type { Way } from '../fence/way.ts';
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
  /** The page that the browser opens with; it may be a one-time link. */
  entry: string;
  /** All that the browser may reach. */
  reach: readonly Reach[];
  /** Goes on from here instead of opening the entry page. */
  checkpoint?: Checkpoint;
  /** With which the page lets it in, whatever profile it has. */
  cookies?: readonly EntryCookie[];
  /** Takes the pictures of what it shows; absent: it is not recorded. */
  recording?: {
    /** What the first of them is. */
    mark: RecordingMark;
    onPicture(picture: RecordedPicture): void;
  };
};

/** A pass: for one origin, out of reach of its pages' scripts. */
export type EntryCookie = { url: string; name: string; value: string };

export type BrowserOptions = {
  /** The program of Chromium. */
  chromium: string;
  /** A folder that is made, filled and removed. */
  workDir: string;
  window: { width: number; height: number };
  /** The certificate of an authority that pages' addresses are vouched for by, besides those that all know. */
  authority: string | undefined;
  /** Whether pages run in Chromium's own sandbox; `auto`: where the machine lets them. */
  sandbox: SandboxChoice;
  /** How the session's surfaces are reached. */
  way: Way;
  /** Whether another Chromium stands ready while one serves a session. */
  hasSpare: boolean;
  /** How long after a change a checkpoint is taken. */
  checkpointMs: number;
  /** Clients and viewers that may be connected at once. */
  mostConnections: number;
  onEvent(event: BrowserEvent): void;
  onCheckpoint(checkpoint: Checkpoint): void;
  log: Log;
};

export const sandboxChoices = ['auto', 'require', 'off'] as const;
export type SandboxChoice = (typeof sandboxChoices)[number];

/**
 * `warm`: waits for a session. `serving`: has one. `lost`: has one, and is being started again. `failed`: is not
 * started again by itself. `stopped`: for good.
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
  /** Whether Chromium is started with its own sandbox. */
  isSandboxed: boolean;
  assignment: Assignment | undefined;
  recorder: Recorder | undefined;
  /** What is done one after the other ends with this. */
  turn: Promise<unknown>;
  /** Chromiums started so far. */
  started: number;
  /** When the last losses were, in milliseconds of the monotonic clock. */
  losses: number[];
};

/** Does this after everything that was begun before. */
export const inTurn = <Value>(life: Life, work: () => Promise<Value>): Promise<Value> => {
  const done = life.turn.then(() => {
    if (life.condition !== 'stopped') return work();
    throw new AppError('unavailable', 'the browser program is stopping');
  });
  life.turn = done.catch(() => undefined); // whoever asked for it hears of its failure
  return done;
};

export const tell = ({ options }: Pick<Life, 'options'>, event: NewEvent): void =>
  options.onEvent({ at: new Date().toISOString(), ...event });

export const downloadsOf = ({ workDir }: Pick<BrowserOptions, 'workDir'>): string =>
  join(workDir, 'downloads');

/** Closes whoever is connected and waits until nothing of them is left in the browser. */
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
    tell: (event) => tell(life, event),
    isAlone: () => [...life.connected].every(({ isDriving }) => !isDriving),
    onChange: () => keeper.touch(),
    log: options.log,
  });
};

/** A Chromium with a fresh profile, the spare one if it stands, which is the browser from now on. */
export const startFresh = async (life: Life, onLoss: () => void): Promise<Instance> => {
  const instance = life.spare.take() ?? (await startOne(life));
  life.instance = instance;
  void instance.ended.then((signal) => {
    if (life.instance !== instance) return;
    tell(life, { kind: 'crashed', signal });
    life.condition = 'lost';
    onLoss();
  });
  return instance;
};

/** Says how it stands after what was done, unless the browser was lost meanwhile and is started again anyway. */
export const settle = (life: Life, condition: Condition): void => {
  life.condition = life.instance?.isGone() === true ? 'lost' : condition;
  if (condition === 'serving') life.spare.want();
  life.keeper.touch();
};

/** Has the present browser seen by a recording, if the session has one. */
export const record = (life: Life, mark: RecordingMark): void => {
  const { assignment, instance, options } = life;
  if (assignment?.recording === undefined || instance === undefined) return;
  const { onPicture } = assignment.recording;
  life.recorder ??= createRecorder({ onPicture, log: options.log });
  life.recorder.follow(instance, mark);
};

/** Ends the recording, once what it has seen is handed on. */
export const endRecording = async (life: Life): Promise<void> => {
  const { recorder } = life;
  life.recorder = undefined;
  await recorder?.stop();
};

/** Takes the present Chromium away with all that it holds. */
export const discard = async (life: Life): Promise<void> => {
  const { instance } = life;
  life.instance = undefined;
  await instance?.stop();
};

/** Empties what a session left in the folder. */
export const clearSession = async ({ options, keeper }: Life): Promise<void> => {
  keeper.set(undefined);
  await clearDownloads(downloadsOf(options));
};

/** Gives a fresh profile the passes of its session, or a context that a client made. */
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

/** Opens the entry page in the tab that a fresh browser has, and keeps what came of it. */
export const openEntry = async (life: Life, instance: Instance): Promise<void> => {
  const { assignment, keeper } = life;
  const tab = instance.tabs.active();
  if (assignment === undefined || tab === undefined) return;
  await setPasses(instance, assignment);
  await openPage(instance.driver, tab, assignment.entry);
  // A one-time link is used up: what it brought has to outlive the browser from now on. A page that is on its way
  // elsewhere already is kept a moment later.
  await keeper.take().catch(() => keeper.touch());
};
