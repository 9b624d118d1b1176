/**
 * One exchange of the client: a request with its body whole, and the answer read to its end. Redirects
 * are not followed, as none of the project's APIs sends any. Connections are kept for a few seconds.
 *
 * Every message between the programs goes through here, so it uses plain listeners and one timer: signals made
 * of signals, and streams read by iteration, cost as much as all the rest of an exchange.
 */
import type { Exchanged, Sent, Underway } from './exchanged.ts';
import { askPlainly } from './plain-exchange.ts';
import { askSecurely } from './secure-exchange.ts';

export type Exchange = Sent & {
  signal?: AbortSignal | undefined;
  /** How long the whole answer may take, in milliseconds; absent: as long as it likes. */
  answerMs?: number | undefined;
};

const givenUp = ({ reason }: AbortSignal): Error =>
  new Error('given up by its sender', { cause: reason });

/** What a request that was not answered in time fails with. */
const lateAnswer = (ms: number): Error =>
  Object.assign(new Error(`no whole answer in ${ms} ms`), { code: 'ETIMEDOUT' });

/** A timer, and what it ends; nothing while it waits to be set again. */
type Limit = { readonly timer: NodeJS.Timeout; underway: Underway | undefined };

/** Timers that wait to be set again, by their time: that costs a fraction of what a new one does. */
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
  // The connection of an exchange keeps its program from ending; a timer that waits must not.
  const limit: Limit = { timer: setTimeout(over, ms).unref(), underway: undefined };
  return limit;
};

/** Ends an exchange when so much time is over, unless what it returns is called before. */
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

/** Ends an exchange by its signal or when its time is over; what it returns gives both up. */
const bound = (underway: Underway, { signal, answerMs }: Exchange): (() => void) => {
  const abort = (): void => underway.cut(givenUp(signal as AbortSignal));
  signal?.addEventListener('abort', abort, { once: true });
  const unlimit = answerMs === undefined ? undefined : limitTime(underway, answerMs);
  return () => {
    unlimit?.();
    signal?.removeEventListener('abort', abort);
  };
};

/** Throws when no whole answer came: the system's own error, or that it was given up or took too long. */
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
