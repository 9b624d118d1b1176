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

/** Ends an exchange by its signal or when its time is over; what it returns gives both up. */
const bound = (underway: Underway, { signal, answerMs }: Exchange): (() => void) => {
  const abort = (): void => underway.cut(givenUp(signal as AbortSignal));
  signal?.addEventListener('abort', abort, { once: true });
  const timer =
    answerMs === undefined
      ? undefined
      : setTimeout(() => underway.cut(lateAnswer(answerMs)), answerMs);
  return () => {
    clearTimeout(timer);
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
