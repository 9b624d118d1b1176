/**
 * Access tokens of an OAuth vendor. They are fetched, used while they are valid, and refreshed if the vendor supports
 * that.
 */
import { AppError } from '#domain/error.ts';
import { isObject, withoutByteOrderMark } from '#domain/json.ts';
import type { Secrets } from '../redact/secrets.ts';
import type { OAuthClient } from './credentials.ts';
import { ExchangeError, type Incoming, type Limits, postForm } from './exchange.ts';

export type Tokens = {
  /** Returns a valid token. Throws `unauthenticated` if the vendor issues none. */
  current(limits: Limits): Promise<string>;
  /** Discards the current token, because the vendor refused it before it expired. */
  giveUp(): void;
};

type Held = { token: string; endsAtMs: number; refresh: string | undefined };

/** Time before the expiry of a token at which the token is replaced, in milliseconds. */
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

/**
 * Fetches a token with Basic authentication, as the standard requires. If the vendor refuses that, sends the client's
 * id and secret in the form.
 */
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
    // An error code is a word of the standard; any other text may repeat what was sent.
    const said = /^[a-z_]+$/.test(code) ? `, ${code}` : '';
    throw new AppError(
      'unauthenticated',
      `the token_url issued no token: status ${status}${said}`,
      {
        detail: { hint: 'check token_url, client_id_env, secret_env and scope of [auth]' },
      },
    );
  }
  const lasts = Number(seconds);
  const lastsMs = (Number.isFinite(lasts) && lasts > 0 ? lasts : usualSeconds) * 1_000;
  // A token that ends soon is used for half its time.
  const endsAtMs = nowMs + Math.max(lastsMs - marginMs, lastsMs / 2);
  return { token, endsAtMs, refresh: typeof refresh === 'string' ? refresh : undefined };
};

/** Creates the source of a client's tokens. Each token is registered as a secret. */
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
    // If a vendor sends no new refresh token, the previous one stays valid.
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
