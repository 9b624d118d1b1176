/**
 * One exchange of the client: a request with its complete body, and the answer read to its end. It follows no
 * redirects, as none of the project's APIs sends any. Connections are kept for a few seconds.
 *
 * Every message between the programs goes through here, so it uses plain listeners and one timer: combined abort
 * signals, and streams read by iteration, cost as much as all the rest of an exchange.
 */
import type { Exchanged, Sent, Underway } from './exchanged.ts';
import { askPlainly } from './plain-exchange.ts';
import { askSecurely } from './secure-exchange.ts';

export type Exchange = Sent & {
  signal?: AbortSignal | undefined;
  /** Time limit for the whole answer, in milliseconds; absent: no limit. */
  answerMs?: number | undefined;
};

const givenUp = ({ reason }: AbortSignal): Error =>
  new Error('the caller aborted the request', { cause: reason });

/** Builds the error of a request that was not answered in time. */
const lateAnswer = (ms: number): Error =>
  Object.assign(new Error(`no complete answer within ${ms} ms`), { code: 'ETIMEDOUT' });

/** A timer, and the exchange that it ends; `underway` is undefined while the timer is in the pool. */
type Limit = { readonly timer: NodeJS.Timeout; underway: Underway | undefined };

/** Pool of timers by their duration: restarting a timer costs a fraction of what creating one does. */
const spare = new Map<number, Limit[]>();
const mostSpare = 32;

const createLimit = (ms: number): Limit => {
  const over = (): void => {
    const { underway } = limit;
    if (underway !== undefined) underway.cut(lateAnswer(ms));
    else {
      const others = spare.get(ms)?.filter((one) => one !== limit) ?? [];
      if (others.length === 0) spare.delete(ms);
      else spare.set(ms, others);
    }
  };
  // The connection of an exchange keeps the process alive; a pooled timer must not.
  const limit: Limit = { timer: setTimeout(over, ms).unref(), underway: undefined };
  return limit;
};

/** Ends an exchange after the given time. The returned function cancels the timer. */
const limitTime = (underway: Underway, ms: number): (() => void) => {
  const waiting = spare.get(ms)?.pop();
  const limit = waiting ?? createLimit(ms);
  waiting?.timer.refresh();
  limit.underway = underway;
  return () => {
    limit.underway = undefined;
    const others = spare.get(ms);
    if (others === undefined) spare.set(ms, [limit]);
    else if (others.length < mostSpare) others.push(limit);
    else clearTimeout(limit.timer);
  };
};

/** Ends an exchange when its signal aborts or its time is over. The returned function cancels both conditions. */
const bound = (underway: Underway, { signal, answerMs }: Exchange): (() => void) => {
  const abort = (): void => underway.cut(givenUp(signal as AbortSignal));
  signal?.addEventListener('abort', abort, { once: true });
  const unlimit = answerMs === undefined ? undefined : limitTime(underway, answerMs);
  return () => {
    unlimit?.();
    signal?.removeEventListener('abort', abort);
  };
};

/**
 * Sends a request and resolves to the whole answer. Rejects if none arrived: with the system's error, the abort of the
 * signal, or a timeout.
 */
export const exchange = (url: string, sent: Exchange): Promise<Exchanged> =>
  new Promise((resolve, reject) => {
    if (sent.signal?.aborted) throw givenUp(sent.signal);
    const ask = url.startsWith('https:') ? askSecurely : askPlainly;
    const underway = ask(url, sent, {
      done(answer) {
        release();
        resolve(answer);
      },
      failed(error) {
        release();
        reject(error);
      },
    });
    const release = bound(underway, sent);
  });
