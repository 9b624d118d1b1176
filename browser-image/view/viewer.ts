/**
 * One person who looks at the browser: sees the tab at the front as pictures, as fast as they can be taken, and acts in
 * it unless the view is read-only. Each viewer has a DevTools branch of its own, so none disturbs another.
 */
import type { WebSocket } from 'ws';
import type { Log } from '#runtime/log.ts';
import { frameOf, readViewInput, type ViewInput, type ViewNews } from '#wire/live-view/messages.ts';
import type { Connection } from '../cdp/connection.ts';
import { type Driver, openDriver } from '../cdp/driver.ts';
import type { Params } from '../cdp/message.ts';
import { type Closure, closeFor } from '../closures.ts';
import type { Origins } from '../fence/origins.ts';
import type { Tabs } from '../watch/tabs.ts';
import { act, copySelection } from './act.ts';
import { type Frame, logged, type Screencast, type Stage, startScreencast } from './screencast.ts';

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

/** `acting`: what was done in pages and has not arrived there yet. */
type State = ViewerOptions & {
  driver: Driver;
  screencast: Screencast;
  acting: Set<Promise<void>>;
};

const tell = ({ socket }: Pick<ViewerOptions, 'socket'>, news: ViewNews): void => {
  if (socket.readyState === socket.OPEN) socket.send(JSON.stringify(news));
};

const tellTabs = ({ socket, tabs }: ViewerOptions, stage: Stage | undefined): void => {
  const list = tabs.list().map(({ id, title, url }) => ({ id, title, url }));
  tell({ socket }, { type: 'tabs', tabs: list, shown: stage?.targetId ?? null });
};

/** Sends a frame, and asks for more once it is on its way. */
const sendFrame = (socket: WebSocket, { data, width, height }: Frame, more: () => void): void => {
  if (socket.readyState !== socket.OPEN) more();
  else socket.send(frameOf(width, height, Buffer.from(data, 'base64')), more);
};

const onDialog = (state: State, params: Params, sessionId: string | undefined): void => {
  if (state.screencast.stage()?.sessionId !== sessionId) return;
  const { type, message, defaultPrompt } = params;
  const initial = String(defaultPrompt ?? '');
  tell(state, { type: 'dialog', kind: String(type), message: String(message), initial });
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
    // Chromium ends with its last tab.
    if (tabs.list().length === 1) await driver.send('Target.createTarget', { url: 'about:blank' });
    await driver.send('Target.closeTarget', { targetId: input.tab });
  } else if (stage !== undefined) {
    if (input.type === 'copy') {
      // Chromium reads from a page at once, also where keys are still on their way to it.
      await Promise.allSettled(state.acting);
      tell(state, { type: 'clipboard', text: await copySelection(stage, input.isCut) });
    } else {
      await acted(state, act(stage, input));
      // Now and then Chromium gives no picture of the new size.
      if (input.type === 'resize') state.screencast.again();
    }
  }
};

const moves = new Set(['back', 'forward', 'reload']);
/** What changes which tab is shown, and so is done one after the other. */
const tabMoves = new Set(['open', 'show', 'close']);

/** Why the viewer may not do this; undefined when it may. */
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
    tell(state, { type: 'refused', why });
    return;
  }
  state.onActivity();
  if (tabMoves.has(input.type)) state.screencast.inTurn(() => carryOut(state, input));
  // Chromium keeps the order of what is done in a page; waiting for each would only make it slower.
  else carryOut(state, input).catch(logged(state.log));
};

/** Begins to show the browser. */
const begin = (options: ViewerOptions, driver: Driver): State => {
  const { socket, tabs, isReadOnly, origins, log } = options;
  tell({ socket }, { type: 'hello', isReadOnly, origins: origins.list() });
  const screencast: Screencast = startScreencast({
    ...{ driver, tabs, picture, log },
    onFrame: (frame, more) => sendFrame(socket, frame, more),
    onTabs: () => tellTabs(options, screencast.stage()),
  });
  const state = { ...options, driver, screencast, acting: new Set<Promise<void>>() };
  driver.on('Page.javascriptDialogOpening', (params, sessionId) =>
    onDialog(state, params, sessionId),
  );
  driver.on('Page.javascriptDialogClosed', () => tell(state, { type: 'dialog_gone' }));
  return state;
};

/** Serves a viewer until it goes or is closed. */
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
