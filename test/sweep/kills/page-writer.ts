/**
 * Acts as a user in a session's page by DevTools: signs in, adds notes one after another, and reconnects by itself
 * whenever the connection breaks.
 */
import { once } from 'node:events';
import { WebSocket } from 'ws';
import { pause } from '#runtime/pause.ts';
import type { SessionView } from '#wire/public-api/sessions/session.ts';
import { browserOf } from '../../support/browser/browser-session.ts';

const handshakeMs = 3_000;
/** Deadline of an answer in milliseconds: longer than any answer takes while all programs run. */
const answerMs = 5_000;
const againMs = 20;

type Message = { id?: number; result?: Record<string, unknown>; error?: unknown };

/** Connects to the DevTools of the session’s page, through the gateway at that port of this machine. */
export const connectToPage = async (session: SessionView, gatewayPort: number) => {
  const { cdpUrl, headers } = browserOf(session);
  const { host, pathname } = new URL(cdpUrl);
  // Names below localhost mean this machine, but Node does not resolve them by itself.
  const url = `ws://127.0.0.1:${gatewayPort}${pathname}`;
  const socket = new WebSocket(url, {
    headers: { ...headers, host },
    handshakeTimeout: handshakeMs,
  });
  const waiting = new Map<number, PromiseWithResolvers<Record<string, unknown>>>();
  socket.on('message', (data) => {
    const { id = 0, result, error } = JSON.parse(String(data)) as Message;
    const asked = waiting.get(id);
    if (result === undefined) asked?.reject(new Error(JSON.stringify(error)));
    else asked?.resolve(result);
    waiting.delete(id);
  });
  socket.on('error', () => undefined);
  socket.on('close', () => {
    for (const asked of waiting.values()) asked.reject(new Error('the connection was closed'));
  });
  await once(socket, 'open', { signal: AbortSignal.timeout(2 * handshakeMs) });
  let lastId = 0;
  const send = async (method: string, params: object = {}, sessionId?: string) => {
    lastId += 1;
    const id = lastId;
    const asked = Promise.withResolvers<Record<string, unknown>>();
    waiting.set(id, asked);
    const late = setTimeout(() => asked.reject(new Error(`no answer to ${method}`)), answerMs);
    const ofPage = sessionId === undefined ? {} : { sessionId };
    socket.send(JSON.stringify({ id, method, params, ...ofPage }));
    return asked.promise.finally(() => clearTimeout(late));
  };
  const attach = async (): Promise<string> => {
    const { targetInfos } = await send('Target.getTargets');
    const pages = targetInfos as { type: string; targetId: string; url: string }[];
    const page = pages.find(({ type, url: at }) => type === 'page' && at.includes('--ui.'));
    const input = { targetId: page?.targetId, flatten: true };
    return String((await send('Target.attachToTarget', input)).sessionId);
  };
  const attached = await attach().catch((error: unknown) => {
    socket.terminate();
    throw error;
  });
  return {
    /** Returns the awaited value of an expression in the page. */
    async run(expression: string): Promise<unknown> {
      const params = { expression, awaitPromise: true, returnByValue: true };
      const { result } = await send('Runtime.evaluate', params, attached);
      return (result as { value?: unknown }).value;
    },
    end: () => socket.terminate(),
  };
};

/** Data that a page stores for a signed-in user, in a cookie and in local storage. */
const signing = `document.cookie = 'account=mara; max-age=3600'; localStorage.setItem('account', 'mara')`;
const signedIn = `[document.cookie.includes('account=mara'), localStorage.getItem('account')]`;

/** Signs in to the page. */
export const signIn = async (session: SessionView, gatewayPort: number): Promise<void> => {
  const page = await connectToPage(session, gatewayPort);
  await page.run(signing);
  page.end();
};

/**
 * Returns whether the page's cookie and storage still have the signed-in user, and the status with which the service
 * answers the page.
 */
export const isSignedIn = async (session: SessionView, gatewayPort: number) => {
  const page = await connectToPage(session, gatewayPort);
  const [cookie, stored] = (await page.run(signedIn)) as [boolean, string | null];
  const status = await page.run(`fetch('/').then(({ status }) => status)`);
  page.end();
  return { cookie, stored, status };
};

const addNote = (title: string) =>
  `fetch('/__world-api/notes', {method: 'POST', headers: {'content-type': 'application/json'}, body: JSON.stringify({title: '${title}'})}).then(({ status }) => status, () => 0)`;

export type Writing = {
  /** Titles of the notes that the world has acknowledged. */
  acknowledged: readonly string[];
  /** Returns when the last note was acknowledged and its connection was opened, by the clock of `performance`. */
  last(): { at: number; connectedAt: number };
  /** Returns the longest time between two notes, from the last one before that moment on, in milliseconds. */
  outageMs(since: number): number;
  stop(): Promise<void>;
};

/** Adds notes one after another until it is stopped. Unacknowledged notes do not count. */
export const writeOn = (session: SessionView, gatewayPort: number): Writing => {
  const acknowledged: string[] = [];
  const times: number[] = [];
  let isOver = false;
  let connectedAt = 0;
  let number = 0;
  const writeBy = async (page: Awaited<ReturnType<typeof connectToPage>>): Promise<void> => {
    while (!isOver) {
      const title = `note ${number}`;
      number += 1;
      if ((await page.run(addNote(title))) !== 201) return;
      acknowledged.push(title);
      times.push(performance.now());
    }
  };
  const write = async (): Promise<void> => {
    while (!isOver) {
      const began = performance.now();
      const page = await connectToPage(session, gatewayPort).catch(() => undefined);
      if (page !== undefined) {
        connectedAt = began;
        await writeBy(page).catch(() => undefined);
        page.end();
      }
      await pause(againMs);
    }
  };
  const done = write();
  return {
    acknowledged,
    last: () => ({ at: times.at(-1) ?? 0, connectedAt }),
    outageMs(since) {
      const all = [
        ...times.filter((at) => at <= since).slice(-1),
        ...times.filter((at) => at > since),
      ];
      return Math.max(...all.slice(1).map((at, index) => at - (all[index] ?? at)));
    },
    async stop() {
      isOver = true;
      await done;
    },
  };
};
