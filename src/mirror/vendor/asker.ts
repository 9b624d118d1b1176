/**
 * Sends requests to a vendor as slowly as its connector requires: one after another, at the connector's rate. If the
 * vendor is busy or fails, the request is retried after the time that the vendor names. The result is an answer, or the
 * reason why there is none. The whole capture ends only if the credential is refused, or if the vendor refuses requests
 * for long.
 */

import { AppError } from '#domain/error.ts';
import { withoutByteOrderMark } from '#domain/json.ts';
import type { VendorContract } from '#language/contract.ts';
import type { Secrets } from '../redact/secrets.ts';
import { type Admission, type Credentials, readCredentials } from './credentials.ts';
import { askPage, ExchangeError, type Incoming } from './exchange.ts';
import { createTokens } from './token.ts';

/** Answer as received, or the reason why there is none. The reason quotes nothing of an answer. */
export type Asked = { attempts: number } & (
  | { answer: Incoming & { json: unknown } }
  | { failure: string; status: number | null }
);

export type Asker = {
  ask(url: URL): Promise<Asked>;
};

/** Clock and delays; tests replace both. */
export type Time = {
  now(): number;
  /** Waits; ends early when the signal aborts. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
};

export type AskerOptions = {
  vendor: VendorContract;
  env: Readonly<Record<string, string | undefined>>;
  secrets: Secrets;
  time: Time;
  signal: AbortSignal;
  /** Maximum size of an answer's body, in bytes. */
  mostBytes: number;
  /** Called before a wait that precedes another attempt. */
  onWait?(reason: string, ms: number): void;
};

const mostAttempts = 5;
const firstBackoffMs = 1_000;
/**
 * Maximum wait for a vendor, in milliseconds. A longer wait would keep the user waiting, so the capture ends instead.
 */
const longestWaitMs = 300_000;

/**
 * Returns the delay that the header `Retry-After` requests, in milliseconds; undefined if there is none. The header
 * names seconds or a date.
 */
export const retryAfterMs = (header: string | undefined, nowMs: number): number | undefined => {
  if (header === undefined) return undefined;
  if (/^\d+(\.\d+)?$/.test(header.trim())) return Number(header) * 1_000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs);
};

const isPassing = (status: number): boolean =>
  status === 429 || status === 408 || status === 425 || (status >= 500 && status !== 501);

const parseBody = (text: string): { json: unknown } | undefined => {
  if (text.trim() === '') return { json: null };
  try {
    return { json: JSON.parse(withoutByteOrderMark(text)) as unknown };
  } catch {
    return undefined;
  }
};

const isJsonType = (type: string | undefined): boolean =>
  type === undefined || /^[^;]*[/+]json\s*(;|$)/i.test(type);

/**
 * Returns why a body is not JSON. If `again` is true, the body should have been JSON but is broken, so a retry may
 * help.
 */
const faultOfBody = ({ headers }: Incoming): { reason: string; again: boolean } => {
  const type = headers['content-type'];
  if (isJsonType(type)) return { reason: 'its body is broken JSON', again: true };
  const [name = ''] = (type ?? '').split(';', 1);
  return { reason: `its body is not JSON but ${name.trim().slice(0, 60)}`, again: false };
};

type Attempt =
  | { answer: Incoming & { json: unknown } }
  | { failure: string; status: number | null; again: boolean; afterMs?: number };

const judge = (answer: Incoming, nowMs: number): Attempt => {
  const { status, headers, text } = answer;
  if (isPassing(status)) {
    const afterMs = retryAfterMs(headers['retry-after'], nowMs);
    const failure = `status ${status}`;
    return { failure, status, again: true, ...(afterMs === undefined ? {} : { afterMs }) };
  }
  const parsed = parseBody(text);
  if (parsed !== undefined) return { answer: { ...answer, ...parsed } };
  const { reason, again } = faultOfBody(answer);
  return { failure: reason, status, again };
};

const refused = (status: number, { variables }: Credentials): AppError => {
  const which =
    variables.length === 0 ? 'no credential' : `the credential from ${variables.join(', ')}`;
  return new AppError('unauthenticated', `the vendor refuses ${which}: status ${status}`, {
    detail: {
      hint: 'see [auth] of connector.toml; the captures are kept, and the next capture continues from here',
    },
  });
};

/** Creates the client of a vendor. Throws `invalid` if the environment lacks variables that the connector names. */
export const createAsker = (options: AskerOptions): Asker => {
  const { vendor, env, secrets, time, signal, mostBytes, onWait } = options;
  const credentials = readCredentials(vendor, env, secrets);
  const { oauth } = credentials;
  const tokens = oauth === null ? undefined : createTokens(oauth, secrets, time.now);
  const paceMs = 60_000 / vendor.capture.requestsPerMinute;
  const limits = { timeoutMs: vendor.capture.timeoutSeconds * 1_000, mostBytes, signal };
  const isSecret = (text: string): boolean => secrets.scrub(text) !== text;
  let nextAtMs = 0;

  const keepPace = async (): Promise<void> => {
    const waitMs = nextAtMs - time.now();
    if (waitMs > 0) await time.wait(waitMs, signal);
    signal.throwIfAborted();
    nextAtMs = time.now() + paceMs;
  };
  const admission = async (): Promise<Admission> => {
    if (tokens === undefined) return credentials;
    const authorization = `Bearer ${await tokens.current(limits)}`;
    return { ...credentials, headers: { ...credentials.headers, authorization } };
  };
  const attempt = async (url: URL): Promise<Attempt> => {
    await keepPace();
    try {
      let answer = await askPage(url, await admission(), isSecret, limits);
      if (answer.status === 401 && tokens !== undefined) {
        tokens.giveUp();
        answer = await askPage(url, await admission(), isSecret, limits);
      }
      if (answer.status === 401) throw refused(401, credentials);
      return judge(answer, time.now());
    } catch (error) {
      if (!(error instanceof ExchangeError)) throw error;
      return { failure: error.message, status: null, again: error.again };
    }
  };
  const waitBefore = async (
    attempts: number,
    { failure, afterMs }: { failure: string; afterMs?: number },
  ): Promise<void> => {
    const ms = afterMs ?? firstBackoffMs * 2 ** (attempts - 1);
    if (ms > longestWaitMs) {
      const message = `the vendor asks for a pause of ${Math.ceil(ms / 1_000)} s (${failure})`;
      throw new AppError('unavailable', message, {
        detail: { hint: 'run the command again after the pause: it continues from here' },
      });
    }
    onWait?.(failure, ms);
    await time.wait(ms, signal);
    signal.throwIfAborted();
  };
  return {
    async ask(url) {
      for (let attempts = 1; ; attempts += 1) {
        const outcome = await attempt(url);
        if ('answer' in outcome) return { attempts, answer: outcome.answer };
        if (!outcome.again || attempts === mostAttempts) {
          return { attempts, failure: outcome.failure, status: outcome.status };
        }
        await waitBefore(attempts, outcome);
      }
    },
  };
};
