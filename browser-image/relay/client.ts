/**
 * Serves one client that drives the browser by DevTools. Each command is judged by the rules (policy/rules.ts) and
 * forwarded over the client's own branch; answers and events go back. A client that stops reading, or that does not
 * speak DevTools, is disconnected.
 */
import type { WebSocket } from 'ws';
import type { Branch, Connection } from '../cdp/connection.ts';
import { type CdpMessage, type Command, type Params, readCommand } from '../cdp/message.ts';
import { type Closure, closeFor, closeSocket } from '../closures.ts';
import { isOpen, judge, type RuleContext } from '../policy/rules.ts';

export type ClientOptions = {
  socket: WebSocket;
  connection: Connection;
  rules: RuleContext;
  /** Called for each command that passes, as it may have changed something in the browser. */
  onActivity(): void;
  /** Called with each refused command. */
  onRefused(method: string, reason: string): void;
  /** Called with each context that the client makes, before the client receives the answer; never rejects. */
  onContext(browserContextId: string): Promise<void>;
};

export type Client = {
  /** Resolves when the connection has ended and nothing of it is left in the browser. */
  ended: Promise<void>;
  close(closure: Closure): void;
};

/** Limits for data waiting to be sent to a client, in bytes, and for its commands without an answer yet. */
export const limits = { waitingBytes: 64 * 2 ** 20, pendingCommands: 2_000 } as const;

const refusedCode = -32_000;

type State = {
  socket: WebSocket;
  branch: Branch;
  options: ClientOptions;
  /**
   * Sessions attached to targets other than the session's pages, such as Chromium's own; they may only be resumed and
   * detached.
   */
  shut: Set<string>;
  pending: number;
};

const send = (socket: WebSocket, message: CdpMessage): void => {
  if (socket.readyState !== socket.OPEN) return;
  if (socket.bufferedAmount > limits.waitingBytes) {
    closeFor(socket, 'too_slow');
    return;
  }
  socket.send(JSON.stringify(message));
};

const refuse = ({ socket, options }: State, { id, method, sessionId }: Command, reason: string) => {
  options.onRefused(method, reason);
  const error = { code: refusedCode, message: reason, data: { error: 'forbidden', method } };
  send(socket, { id, error, ...(sessionId === undefined ? {} : { sessionId }) });
};

/** Commands that a client may send to a target that is not one of the session's pages. */
const toShut = new Set(['Runtime.runIfWaitingForDebugger', 'Target.detachFromTarget']);

const whyNot = (state: State, { method, sessionId = '' }: Command): string | undefined => {
  if (state.shut.has(sessionId) && !toShut.has(method)) return "this target is the browser's own";
  if (state.pending >= limits.pendingCommands) {
    return `${limits.pendingCommands} commands wait for their answer; wait for some of them first`;
  }
  return undefined;
};

/** Forwards the command, and sends its answer in the right order among the events. */
const carryOut = (state: State, command: Command, params: Params): void => {
  const { socket, branch, options } = state;
  const { id, method, sessionId } = command;
  const within = sessionId === undefined ? {} : { sessionId };
  options.onActivity();
  state.pending += 1;
  branch.ask({ method, params, ...within }, (answer) => {
    state.pending -= 1;
    options.onActivity();
    const pass = (): void => send(socket, { id, ...answer, ...within });
    if (method !== 'Target.createBrowserContext' || 'error' in answer) pass();
    else void options.onContext(String(answer.result.browserContextId)).then(pass);
  });
};

const onCommand = (state: State, command: Command): void => {
  const { socket, options } = state;
  if (command.method === 'Browser.close') {
    // The browser belongs to the session, so a client that closes it only disconnects.
    send(socket, { id: command.id, result: {} });
    closeSocket(socket, 1_000, 'the browser stays with its session');
    return;
  }
  const why = whyNot(state, command);
  const verdict =
    why === undefined ? judge(command.method, command.params, options.rules) : { refused: why };
  if ('refused' in verdict) refuse(state, command, verdict.refused);
  else carryOut(state, command, verdict.params);
};

/** Returns an event as clients see it, without file paths of the machine. */
const shown = (event: CdpMessage & { method: string }): CdpMessage => {
  if (event.method !== 'Browser.downloadProgress') return event;
  const { filePath: _, ...params } = event.params ?? {};
  return { ...event, params };
};

/** Serves a client until it disconnects or is closed. Reads nothing from it before its branch is open. */
export const serveClient = (options: ClientOptions): Client => {
  const { socket, connection } = options;
  const shut = new Set<string>();
  socket.on('error', () => undefined); // a close follows
  socket.pause();
  const close = (closure: Closure): void => closeFor(socket, closure);
  const opened = connection.branch((event) => {
    const { method, params = {} } = event;
    if (method === 'Target.attachedToTarget' && !isOpen(params.targetInfo as Params)) {
      shut.add(String(params.sessionId));
    }
    send(socket, shown(event));
  });
  const serve = async (branch: Branch): Promise<void> => {
    const state: State = { socket, branch, options, shut, pending: 0 };
    socket.on('message', (data) => {
      const command = readCommand(data.toString());
      if (command === undefined) close('not_understood');
      else onCommand(state, command);
    });
    const gone = new Promise<void>((resolve) => socket.once('close', () => resolve()));
    socket.resume();
    await gone;
    await branch.end();
  };
  const ended = opened.then(serve, () => {
    socket.resume();
    close('browser_lost');
  });
  return { ended, close };
};
