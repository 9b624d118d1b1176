/** Access tokens of an OAuth vendor: fetched, kept while they last, refreshed where the vendor offers that. */
import { AppError } from '#domain/error.ts';
import { isObject, withoutByteOrderMark } from '#domain/json.ts';
import type { Secrets } from '../redact/secrets.ts';
import type { OAuthClient } from './credentials.ts';
import { ExchangeError, type Incoming, type Limits, postForm } from './exchange.ts';

export type Tokens = {
  /** One that is good by now. Throws `unauthenticated` where the vendor gives none. */
  current(limits: Limits): Promise<string>;
  /** The vendor refused the current one before its time. */
  giveUp(): void;
};

type Held = { token: string; endsAtMs: number; refresh: string | undefined };

/** A token is given up so long before its end. */
const marginMs = 10_000;
const usualSeconds = 3_600;

const parse = (text: string): Record<string, unknown> => {
  try {
    const value: unknown = JSON.parse(withoutByteOrderMark(text));
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
};

/** As the standard has it, by Basic; vendors that do not take that want the pair in the form. */
const askFor = async (
  client: OAuthClient,
  form: Record<string, string>,
  limits: Limits,
): Promise<Incoming> => {
  const url = new URL(client.tokenUrl);
  const pair = `${encodeURIComponent(client.clientId)}:${encodeURIComponent(client.clientSecret)}`;
  const authorization = `Basic ${Buffer.from(pair).toString('base64')}`;
  const first = await postForm(url, form, { authorization }, limits);
  if (first.status !== 400 && first.status !== 401) return first;
  const inForm = { ...form, client_id: client.clientId, client_secret: client.clientSecret };
  return postForm(url, inForm, {}, limits);
};

const readToken = ({ status, text }: Incoming, nowMs: number): Held => {
  const answer = parse(text);
  const { access_token: token, expires_in: seconds, refresh_token: refresh } = answer;
  if (status < 200 || status > 299 || typeof token !== 'string' || token === '') {
    const code = typeof answer.error === 'string' ? answer.error.slice(0, 60) : '';
    // An error code is a word of the standard; anything else may hold what was sent.
    const said = /^[a-z_]+$/.test(code) ? `, ${code}` : '';
    throw new AppError('unauthenticated', `the token_url gave no token: status ${status}${said}`, {
      detail: { hint: 'look at token_url, client_id_env, secret_env and scope of [auth]' },
    });
  }
  const lasts = Number(seconds);
  const lastsMs = (Number.isFinite(lasts) && lasts > 0 ? lasts : usualSeconds) * 1_000;
  // Of a token that ends soon, half its time is used.
  const endsAtMs = nowMs + Math.max(lastsMs - marginMs, lastsMs / 2);
  return { token, endsAtMs, refresh: typeof refresh === 'string' ? refresh : undefined };
};

/** Tokens of a client; each becomes a secret. */
export const createTokens = (client: OAuthClient, secrets: Secrets, now: () => number): Tokens => {
  let held: Held | undefined;
  const scope = client.scope === null ? {} : { scope: client.scope };

  const refresh = async (token: string, limits: Limits): Promise<Incoming | undefined> => {
    const form = { grant_type: 'refresh_token', refresh_token: token };
    const answer = await askFor(client, form, limits);
    return answer.status >= 200 && answer.status <= 299 ? answer : undefined;
  };
  const fetchToken = async (limits: Limits): Promise<Held> => {
    const refreshed = held?.refresh === undefined ? undefined : await refresh(held.refresh, limits);
    const form = { grant_type: 'client_credentials', ...scope };
    const got = readToken(refreshed ?? (await askFor(client, form, limits)), now());
    // A vendor that sends no other refresh token means the one before.
    return { ...got, refresh: got.refresh ?? (refreshed && held?.refresh) };
  };
  return {
    async current(limits) {
      if (held !== undefined && now() < held.endsAtMs) return held.token;
      try {
        held = await fetchToken(limits);
      } catch (error) {
        if (!(error instanceof ExchangeError)) throw error;
        throw new ExchangeError(`no token: ${error.message}`, error.again);
      }
      secrets.add(held.token);
      if (held.refresh !== undefined) secrets.add(held.refresh);
      return held.token;
    },
    giveUp() {
      if (held !== undefined) held = { ...held, endsAtMs: 0 };
    },
  };
};
