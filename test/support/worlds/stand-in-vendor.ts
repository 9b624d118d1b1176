/**
 * A vendor to be mirrored: a small board of cards behind an API of its own, with credentials, pages, limits and
 * failures like a real vendor's. It is a plain server and knows nothing of worlds.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';

type Json = Record<string, unknown>;

export type VendorOptions = {
  scheme?: 'none' | 'bearer' | 'basic' | 'header' | 'query' | 'oauth2';
  secret?: string;
  clientId?: string;
  /** Lifetime of a token, in seconds. */
  tokenSeconds?: number;
  /** Failure of the request of this number, from 1. */
  failures?: Record<number, 'busy' | 'down' | 'broken' | 'cut' | 'expired'>;
  boards?: number;
  cardsPerBoard?: number;
  people?: number;
  /** True to repeat the credential in answers, as some vendors do. */
  echo?: boolean;
  /** Form of the next page's cursor: a field of the body, a header of its own, or an address in `Link`. */
  paging?: 'body' | 'header' | 'link' | 'relative-link';
  /** Form of the last page: an explicit end in each list's own way, or no cursor at all. */
  end?: 'given' | 'absent';
  /** Holds a data request back until it resolves; `false`: it is never answered. */
  gate?(response: ServerResponse): Promise<boolean>;
};

export type Asked = { method: string; path: string; headers: IncomingMessage['headers'] };

export type StandInVendor = {
  url: string;
  /** Data requests, in order, failed ones included. */
  asked: Asked[];
  tokens: number;
  personal: string[];
  stop(): Promise<void>;
};

const pageSize = 10;

export const emailOf = (id: number): string => `person${id}.canary@private.example`;
export const phoneOf = (id: number): string => `+47 555 ${String(10_000 + id * 7)}`;
export const nationalIdOf = (id: number): string => `NID-${String(900_000 + id * 13)}-X`;

const personOf = (id: number): Json => ({
  id: `p${id}`,
  name: `Person ${id}`,
  email: emailOf(id),
  contact: { phone: phoneOf(id), backup: [phoneOf(id + 500)] },
  national_id: nationalIdOf(id),
  lat: 59.123_456 + id / 1_000,
  self: `/people/${encodeURIComponent(emailOf(id))}`,
});

const cardOf = (board: number, id: number): Json => ({
  id: board * 1_000 + id,
  title: `Card ${id} of board ${board}`,
  state: id % 3 === 0 ? 'done' : 'open',
  owner: { login: `p${(id % 5) + 1}`, email: emailOf((id % 5) + 1) },
  points: id / 2,
  due: id % 2 === 0 ? null : `2026-01-${String((id % 28) + 1).padStart(2, '0')}`,
  labels: Array.from({ length: id % 3 }, (_, at) => ({
    name: `l${at}`,
    color: `#${at}${at}${at}`,
  })),
  etag: `W/"${board}-${id}"`,
});

/** Starts the vendor on a free port of this machine. */
export const startStandInVendor = async (options: VendorOptions = {}): Promise<StandInVendor> => {
  const { scheme = 'none', secret = '', clientId = '', tokenSeconds = 3_600 } = options;
  const { failures = {}, boards = 3, cardsPerBoard = 25, people = 12, echo = false } = options;
  const { paging = 'body', end: ending = 'given', gate } = options;
  const asked: Asked[] = [];
  const tokens = new Map<string, { isGood: boolean; endsAtMs: number }>();
  let given = 0;

  const send = (response: ServerResponse, status: number, body: unknown, headers: Json = {}) => {
    const bytes = gzipSync(JSON.stringify(body));
    response.writeHead(status, {
      'content-type': 'application/json; charset=utf-8',
      'content-encoding': 'gzip',
      'set-cookie': `session=${secret || 'none'}`,
      'x-request-id': `r-${asked.length}`,
      ...(headers as Record<string, string>),
    });
    response.end(bytes);
  };

  const isAdmitted = (request: IncomingMessage, url: URL): boolean => {
    const { authorization = '' } = request.headers;
    if (scheme === 'none') return true;
    if (scheme === 'bearer') return authorization === `Bearer ${secret}`;
    if (scheme === 'basic') {
      return authorization === `Basic ${Buffer.from(secret).toString('base64')}`;
    }
    if (scheme === 'header') return request.headers['x-api-key'] === secret;
    if (scheme === 'query') return url.searchParams.get('api_key') === secret;
    const token = tokens.get(authorization.replace(/^Bearer /, ''));
    return token?.isGood === true && Date.now() < token.endsAtMs;
  };

  const mint = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const form = new URLSearchParams(await text(request));
    const isClient = form.get('client_id') === clientId && form.get('client_secret') === secret;
    const grant = form.get('grant_type');
    const isRefresh =
      grant === 'refresh_token' && form.get('refresh_token') === `refresh-${secret}`;
    // Clients authenticate only by the form, as some vendors require.
    if (!isClient || (grant !== 'client_credentials' && !isRefresh)) {
      send(response, 401, { error: 'invalid_client', client: form.get('client_secret') });
      return;
    }
    given += 1;
    const token = `tok-${given}-${secret}`;
    tokens.set(token, { isGood: true, endsAtMs: Date.now() + tokenSeconds * 1_000 });
    send(response, 200, {
      access_token: token,
      token_type: 'bearer',
      expires_in: tokenSeconds,
      refresh_token: `refresh-${secret}`,
    });
  };

  /** Returns the headers with the cursor of the next page, if this vendor uses headers. */
  const pagingHeaders = (url: URL, next: number | string | null): Json => {
    if (paging === 'body' || (ending === 'absent' && !next)) return {};
    if (paging === 'header') return { 'X-Next-Cursor': next === null ? '' : String(next) };
    const to = (cursor: number | string): string => {
      const address = new URL(url);
      address.searchParams.set('cursor', String(cursor));
      address.host = `127.0.0.1:${port()}`;
      return paging === 'link' ? address.href : `${address.pathname}${address.search}`;
    };
    const first = `<${to('c0')}>; rel="first prev"`;
    return { link: next ? `${first}, <${to(next)}>; title="a, b"; rel=next` : first };
  };

  /**
   * Sends rows under a key, with their count and the next page's cursor: first a number, then a text, then an end
   * marker.
   */
  const sendPage = (
    response: ServerResponse,
    url: URL,
    list: { key: string; rows: Json[]; headers?: Json },
  ): void => {
    const { key, rows, headers = {} } = list;
    const start = Number((url.searchParams.get('cursor') ?? '0').replace(/^c/, ''));
    const end = start + pageSize;
    const further = end % (2 * pageSize) === 0 ? `c${end}` : end;
    const next = end < rows.length ? further : key === 'boards' ? null : '';
    const isGiven = paging === 'body' && !(ending === 'absent' && !next);
    const body = {
      [key]: rows.slice(start, end),
      total: rows.length,
      ...(isGiven ? { next } : {}),
    };
    send(response, 200, body, { ...headers, ...pagingHeaders(url, next) });
  };

  const answer = (request: IncomingMessage, response: ServerResponse, url: URL): void => {
    const parts = url.pathname.split('/').filter((part) => part !== '');
    const notFound = { error: { code: 'no_such_thing', path: url.pathname, hint: 'look again' } };
    const [, noun, id, inner] = parts.map(decodeURIComponent);
    const all = (board: number) =>
      Array.from({ length: cardsPerBoard }, (_, at) => cardOf(board, at + 1));
    if (noun === 'moved') {
      response.writeHead(302, { location: `${url.searchParams.get('to') ?? '/v1/boards'}` }).end();
    } else if (noun === 'boards' && id === undefined) {
      const rows = Array.from({ length: boards }, (_, at) => ({
        id: at + 1,
        name: `Board ${at + 1}`,
        ...(echo ? { note: `asked with ${request.headers.authorization ?? url.search}` } : {}),
      }));
      const link = `</v1/boards?email=${emailOf(1)}&access_token=${secret || 'none'}>; rel="self"`;
      sendPage(response, url, { key: 'boards', rows, headers: { link } });
    } else if (noun === 'boards' && inner === 'cards' && Number(id) <= boards) {
      const states = url.searchParams.getAll('state');
      const rows = all(Number(id)).filter(
        ({ state }) => states.length === 0 || states.includes(String(state)),
      );
      sendPage(response, url, { key: 'cards', rows });
    } else if (noun === 'cards' && Number(id) % 1_000 <= cardsPerBoard) {
      send(response, 200, cardOf(Math.floor(Number(id) / 1_000), Number(id) % 1_000));
    } else if (noun === 'people' && id === undefined) {
      const wanted = url.searchParams.get('email');
      const rows = Array.from({ length: people }, (_, at) => personOf(at + 1)).filter(
        ({ email }) => wanted === null || email === wanted,
      );
      sendPage(response, url, { key: 'people', rows });
    } else send(response, 404, notFound);
  };

  const failNow = (kind: string, response: ServerResponse, token: string): void => {
    if (kind === 'busy') send(response, 429, { error: 'slow down' }, { 'retry-after': '3' });
    else if (kind === 'down') send(response, 503, { error: 'down' });
    else if (kind === 'cut') response.destroy();
    else if (kind === 'expired') {
      const known = tokens.get(token);
      if (known !== undefined) known.isGood = false;
      send(response, 401, { error: 'expired' });
    } else {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end('{"boards": [{"id": 1');
    }
  };

  const port = (): number => (server.address() as AddressInfo).port;
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '/', 'http://vendor');
    if (url.pathname === '/v1/oauth/token') {
      void mint(request, response);
      return;
    }
    const { method = 'GET', headers } = request;
    asked.push({ method, path: url.pathname + url.search, headers });
    const failure = failures[asked.length];
    if (gate !== undefined && !(await gate(response))) return;
    const token = (headers.authorization ?? '').replace(/^Bearer /, '');
    if (failure !== undefined) failNow(failure, response, token);
    else if (isAdmitted(request, url)) answer(request, response, url);
    else send(response, 401, { error: 'unauthorized', said: headers.authorization });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const ids = Array.from({ length: people + 600 }, (_, at) => at + 1);
  return {
    url: `http://127.0.0.1:${port()}/v1`,
    asked,
    get tokens() {
      return given;
    },
    personal: [
      ...ids.slice(0, people).map(emailOf),
      ...ids.map(phoneOf),
      ...ids.slice(0, people).map(nationalIdOf),
    ],
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};
