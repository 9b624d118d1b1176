/**
 * Serves one viewer of the browser. The viewer sees the front tab as pictures, as fast as they can be taken, and acts
 * in it unless the view is read-only. Each viewer has a DevTools branch of its own, so viewers do not disturb one
 * another.
 */
import type { WebSocket } from 'ws';
import type { Log } from '#runtime/log.ts';
import {
  frameOf,
  readViewInput,
  type ViewInput,
  type ViewMessage,
} from '#wire/live-view/messages.ts';
import type { Connection } from '../cdp/connection.ts';
import { type Driver, openDriver } from '../cdp/driver.ts';
import type { Params } from '../cdp/message.ts';
import { type Closure, closeFor } from '../closures.ts';
import type { Origins } from '../policy/origins.ts';
import type { Tabs } from '../watch/tabs.ts';
import { act, copySelection } from './act.ts';
import { type Frame, Screencast } from './screencast.ts';
import { logFailure, type Stage } from './tab-pictures.ts';

export type ViewerOptions = {
  socket: WebSocket;
  connection: Connection;
  tabs: Tabs;
  origins: Pick<Origins, 'isPage' | 'list'>;
  isReadOnly: boolean;
  onActivity(): void;
  log: Log;
};

export type Viewer = { ended: Promise<void>; close(closure: Closure): void };

const picture = { quality: 60, maxWidth: 2_560, maxHeight: 1_600 };

/** State of a viewer. `acting` holds the actions that have not yet reached their page. */
type State = ViewerOptions & {
  driver: Driver;
  screencast: Screencast;
  acting: Set<Promise<void>>;
};

const sendNews = ({ socket }: Pick<ViewerOptions, 'socket'>, news: ViewMessage): void => {
  if (socket.readyState === socket.OPEN) socket.send(JSON.stringify(news));
};

const sendTabs = ({ socket, tabs }: ViewerOptions, stage: Stage | undefined): void => {
  const list = tabs.list().map(({ id, title, url }) => ({ id, title, url }));
  sendNews({ socket }, { type: 'tabs', tabs: list, shown: stage?.targetId ?? null });
};

/** Sends a frame, and requests the next once it is on its way. */
const sendFrame = (socket: WebSocket, { data, width, height }: Frame, more: () => void): void => {
  if (socket.readyState !== socket.OPEN) more();
  else socket.send(frameOf(width, height, Buffer.from(data, 'base64')), more);
};

const onDialog = (state: State, params: Params, sessionId: string | undefined): void => {
  if (state.screencast.stage()?.sessionId !== sessionId) return;
  const { type, message, defaultPrompt } = params;
  const initial = String(defaultPrompt ?? '');
  sendNews(state, { type: 'dialog', kind: String(type), message: String(message), initial });
};

const acted = async ({ acting }: State, done: Promise<void>): Promise<void> => {
  acting.add(done);
  await done.finally(() => acting.delete(done));
};

const carryOut = async (state: State, input: ViewInput): Promise<void> => {
  const { driver, tabs } = state;
  const stage = state.screencast.stage();
  if (input.type === 'open') {
    await driver.send('Target.createTarget', { url: 'about:blank' });
  } else if (input.type === 'show') {
    if (tabs.find(input.tab) === undefined) return;
    await driver.send('Target.activateTarget', { targetId: input.tab });
    tabs.setActive(input.tab);
  } else if (input.type === 'close') {
    if (tabs.find(input.tab) === undefined) return;
    // Chromium ends when its last tab closes.
    if (tabs.list().length === 1) await driver.send('Target.createTarget', { url: 'about:blank' });
    await driver.send('Target.closeTarget', { targetId: input.tab });
  } else if (stage !== undefined) {
    if (input.type === 'copy') {
      // Chromium reads from a page at once, even while keys are still on their way to it.
      await Promise.allSettled(state.acting);
      sendNews(state, { type: 'clipboard', text: await copySelection(stage, input.isCut) });
    } else {
      await acted(state, act(stage, input));
      // Chromium sometimes sends no picture after a change of size.
      if (input.type === 'resize') state.screencast.again();
    }
  }
};

const moves = new Set(['back', 'forward', 'reload']);
/** Inputs that change which tab is in view; the viewer performs them one after the other. */
const tabMoves = new Set(['open', 'show', 'close']);

/** Returns why the viewer may not do this; undefined if it may. */
const whyNot = ({ isReadOnly, origins }: State, input: ViewInput): string | undefined => {
  if (isReadOnly) return 'this view is read-only';
  if (input.type !== 'go' || moves.has(input.to) || origins.isPage(input.to)) return undefined;
  return `only pages of the session open here: ${origins.list().join(', ')}`;
};

const onInput = (state: State, text: string): void => {
  const input = readViewInput(text);
  if (input === undefined) {
    closeFor(state.socket, 'not_understood');
    return;
  }
  const why = whyNot(state, input);
  if (why !== undefined) {
    sendNews(state, { type: 'refused', why });
    return;
  }
  state.onActivity();
  if (tabMoves.has(input.type)) state.screencast.enqueue(() => carryOut(state, input));
  // Chromium keeps the order of actions in a page; waiting for each would only be slower.
  else carryOut(state, input).catch(logFailure(state.log));
};

/** Starts to show the browser to the viewer. */
const begin = (options: ViewerOptions, driver: Driver): State => {
  const { socket, tabs, isReadOnly, origins, log } = options;
  sendNews({ socket }, { type: 'hello', isReadOnly, origins: origins.list() });
  const screencast: Screencast = new Screencast({
    ...{ driver, tabs, picture, log },
    onFrame: (frame, more) => sendFrame(socket, frame, more),
    onTabs: () => sendTabs(options, screencast.stage()),
  });
  const state = { ...options, driver, screencast, acting: new Set<Promise<void>>() };
  driver.on('Page.javascriptDialogOpening', (params, sessionId) =>
    onDialog(state, params, sessionId),
  );
  driver.on('Page.javascriptDialogClosed', () => sendNews(state, { type: 'dialog_gone' }));
  return state;
};

/** Serves a viewer until it disconnects or is closed. */
export const serveViewer = (options: ViewerOptions): Viewer => {
  const { socket, connection } = options;
  const close = (closure: Closure): void => closeFor(socket, closure);
  socket.on('error', () => undefined); // a close follows
  socket.pause();
  const ended = openDriver(connection).then(
    async (driver) => {
      const state = begin(options, driver);
      const gone = new Promise<void>((resolve) => socket.once('close', () => resolve()));
      socket.on('message', (data) => onInput(state, data.toString()));
      socket.resume();
      await gone;
      state.screencast.stop();
      await driver.end();
    },
    () => {
      socket.resume();
      close('browser_lost');
    },
  );
  return { ended, close };
};
