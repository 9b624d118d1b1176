/**
 * One person who looks at the browser: sees the tab at the front as pictures, as fast as they can be taken, and acts in
 * it unless the view is read-only. Each viewer has a DevTools branch of its own, so none disturbs another.
 */
import type { WebSocket } from 'ws';
import { describeError } from '#domain/error.ts';
import type { Log } from '#runtime/log.ts';
import { frameOf, readViewInput, type ViewInput, type ViewNews } from '#wire/live-view/messages.ts';
import type { Connection } from '../cdp/connection.ts';
import { type Driver, openDriver } from '../cdp/driver.ts';
import type { Params } from '../cdp/message.ts';
import { type Closure, closeFor } from '../closures.ts';
import type { Origins } from '../fence/origins.ts';
import type { Tabs } from '../watch/tabs.ts';
import { act, copySelection, type Stage } from './act.ts';

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

const picture = {
  format: 'jpeg',
  quality: 60,
  maxWidth: 2_560,
  maxHeight: 1_600,
  everyNthFrame: 1,
};

type State = ViewerOptions & { driver: Driver; stage: Stage | undefined; turn: Promise<void> };

const tell = ({ socket }: Pick<State, 'socket'>, news: ViewNews): void => {
  if (socket.readyState === socket.OPEN) socket.send(JSON.stringify(news));
};

const tellTabs = (state: State): void => {
  const tabs = state.tabs.list().map(({ id, title, url }) => ({ id, title, url }));
  tell(state, { type: 'tabs', tabs, shown: state.stage?.targetId ?? null });
};

/** What fails because a tab went is told in the log and no more. */
const logged =
  ({ log }: Pick<State, 'log'>) =>
  (error: unknown): void =>
    log.debug({ error: describeError(error) }, 'a view could not do what was asked');

/** Does one thing after the other. */
const inTurn = (state: State, work: () => Promise<void>): void => {
  state.turn = state.turn.then(work).catch(logged(state));
};

/** Looks at the tab at the front, if it does not yet. */
const follow = async (state: State): Promise<void> => {
  const { driver, tabs, stage } = state;
  const active = tabs.active();
  if (active?.id !== stage?.targetId) {
    state.stage = undefined;
    if (stage !== undefined && tabs.find(stage.targetId) !== undefined) {
      await driver.send('Target.detachFromTarget', { sessionId: stage.sessionId });
    }
    if (active !== undefined) {
      const target = { targetId: active.id, flatten: true };
      const { sessionId } = await driver.send('Target.attachToTarget', target);
      state.stage = { driver, sessionId: String(sessionId), targetId: active.id };
      await driver.send('Page.enable', {}, String(sessionId));
      await driver.send('Page.startScreencast', picture, String(sessionId));
    }
  }
  tellTabs(state);
};

/** Sends a frame, and asks for more once it is on its way: a slow viewer gets fewer frames, not late ones. */
const onFrame = (state: State, params: Params, sessionId: string | undefined): void => {
  const { driver, socket, stage } = state;
  const { data, metadata, sessionId: frame } = params;
  const acknowledge = (): void => {
    driver.send('Page.screencastFrameAck', { sessionId: frame }, sessionId).catch(logged(state));
  };
  if (stage?.sessionId !== sessionId || socket.readyState !== socket.OPEN) {
    acknowledge();
    return;
  }
  const { deviceWidth, deviceHeight } = metadata as { deviceWidth: number; deviceHeight: number };
  const bytes = Buffer.from(String(data), 'base64');
  socket.send(frameOf(deviceWidth, deviceHeight, bytes), acknowledge);
};

const onDialog = (state: State, params: Params, sessionId: string | undefined): void => {
  if (state.stage?.sessionId !== sessionId) return;
  const { type, message, defaultPrompt } = params;
  const initial = String(defaultPrompt ?? '');
  tell(state, { type: 'dialog', kind: String(type), message: String(message), initial });
};

const carryOut = async (state: State, input: ViewInput): Promise<void> => {
  const { driver, stage, tabs } = state;
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
      tell(state, { type: 'clipboard', text: await copySelection(stage, input.isCut) });
    } else await act(stage, input);
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
  if (tabMoves.has(input.type)) inTurn(state, () => carryOut(state, input));
  // Chromium keeps the order of what is done in a page; waiting for each would only make it slower.
  else carryOut(state, input).catch(logged(state));
};

const look = async (state: State): Promise<void> => {
  const { driver, tabs, isReadOnly, origins } = state;
  tell(state, { type: 'hello', isReadOnly, origins: origins.list() });
  driver.on('Page.screencastFrame', (params, sessionId) => onFrame(state, params, sessionId));
  driver.on('Page.javascriptDialogOpening', (params, sessionId) =>
    onDialog(state, params, sessionId),
  );
  driver.on('Page.javascriptDialogClosed', () => tell(state, { type: 'dialog_gone' }));
  const stopFollowing = tabs.onChange(() => inTurn(state, () => follow(state)));
  inTurn(state, () => follow(state));
  await new Promise<void>((resolve) => state.socket.once('close', () => resolve()));
  stopFollowing();
};

/** Serves a viewer until it goes or is closed. */
export const serveViewer = (options: ViewerOptions): Viewer => {
  const { socket, connection } = options;
  const close = (closure: Closure): void => closeFor(socket, closure);
  socket.on('error', () => undefined); // a close follows
  socket.pause();
  const ended = openDriver(connection).then(
    async (driver) => {
      const state: State = { ...options, driver, stage: undefined, turn: Promise.resolve() };
      socket.on('message', (data) => onInput(state, data.toString()));
      socket.resume();
      await look(state);
      await driver.end();
    },
    () => {
      socket.resume();
      close('browser_lost');
    },
  );
  return { ended, close };
};
