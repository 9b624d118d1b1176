/**
 * A vendor to be mirrored: a small board of cards behind an API of its own, with credentials, pages, limits and
 * failures like a real vendor's. It is a plain server and knows nothing of worlds.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
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
  /** Failures, by the number of the request from 1. */
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
  /**
   * Holds back the answer to a data request until the promise resolves. If it resolves with `false`, the request is
   * never answered.
   */
  gate?(response: ServerResponse): Promise<boolean>;
};

export type Asked = { method: string; path: string; headers: IncomingMessage['headers'] };

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

/** Returns the pieces of personal data that the vendor's answers can hold. */
const personalDataOf = (people: number): string[] => {
  const ids = Array.from({ length: people + 600 }, (_, at) => at + 1);
  return [
    ...ids.slice(0, people).map(emailOf),
    ...ids.map(phoneOf),
    ...ids.slice(0, people).map(nationalIdOf),
  ];
};

type Failure = NonNullable<VendorOptions['failures']>[number];

type Settings = Omit<Required<VendorOptions>, 'gate'>;

const defaults: Settings = {
  scheme: 'none',
  secret: '',
  clientId: '',
  tokenSeconds: 3_600,
  failures: {},
  boards: 3,
  cardsPerBoard: 25,
  people: 12,
  echo: false,
  paging: 'body',
  end: 'given',
};

const tokenIn = (authorization: string): string => authorization.replace(/^Bearer /, '');

/** Credentials that the vendor admits, and the tokens that it has issued. */
class Credentials {
  readonly #settings: Settings;
  readonly #tokens = new Map<string, { isGood: boolean; endsAtMs: number }>();

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  /** Number of tokens issued. */
  get issued(): number {
    return this.#tokens.size;
  }

  admit({ headers }: IncomingMessage, url: URL): boolean {
    const { scheme, secret } = this.#settings;
    const { authorization = '' } = headers;
    if (scheme === 'none') return true;
    if (scheme === 'bearer') return authorization === `Bearer ${secret}`;
    if (scheme === 'basic') {
      return authorization === `Basic ${Buffer.from(secret).toString('base64')}`;
    }
    if (scheme === 'header') return headers['x-api-key'] === secret;
    if (scheme === 'query') return url.searchParams.get('api_key') === secret;
    const token = this.#tokens.get(tokenIn(authorization));
    return token?.isGood === true && Date.now() < token.endsAtMs;
  }

  /** Returns the answer with a new token; undefined if the client's form does not authenticate it. */
  issue(form: URLSearchParams): Json | undefined {
    const { secret, clientId, tokenSeconds } = this.#settings;
    const isClient = form.get('client_id') === clientId && form.get('client_secret') === secret;
    const grant = form.get('grant_type');
    const isRefresh =
      grant === 'refresh_token' && form.get('refresh_token') === `refresh-${secret}`;
    // Clients authenticate only by the form, as some vendors require.
    if (!isClient || (grant !== 'client_credentials' && !isRefresh)) return undefined;
    const token = `tok-${this.issued + 1}-${secret}`;
    this.#tokens.set(token, { isGood: true, endsAtMs: Date.now() + tokenSeconds * 1_000 });
    return {
      access_token: token,
      token_type: 'bearer',
      expires_in: tokenSeconds,
      refresh_token: `refresh-${secret}`,
    };
  }

  expire(authorization: string): void {
    const token = this.#tokens.get(tokenIn(authorization));
    if (token !== undefined) token.isGood = false;
  }
}

/** Rows to send a page of, under the key of the answer that holds them. */
type List = { key: string; rows: Json[]; headers?: Json };

/** The vendor's server, which records the requests that it gets. */
export class StandInVendor {
  /** Data requests, in order, failed ones included. */
  readonly asked: Asked[] = [];
  readonly personal: string[];
  readonly #settings: Settings;
  readonly #gate: VendorOptions['gate'];
  readonly #credentials: Credentials;
  readonly #server: Server;
  #port = 0;

  constructor({ gate, ...options }: VendorOptions) {
    this.#settings = { ...defaults, ...options };
    this.#gate = gate;
    this.#credentials = new Credentials(this.#settings);
    this.#server = createServer((request, response) => void this.#handle(request, response));
    this.personal = personalDataOf(this.#settings.people);
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}/v1`;
  }

  /** Number of tokens issued. */
  get tokens(): number {
    return this.#credentials.issued;
  }

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://vendor');
    if (url.pathname === '/v1/oauth/token') return this.#issueToken(request, response);
    const { method = 'GET', headers } = request;
    const { authorization } = headers;
    this.asked.push({ method, path: url.pathname + url.search, headers });
    const failure = this.#settings.failures[this.asked.length];
    if (this.#gate !== undefined && !(await this.#gate(response))) return;
    if (failure !== undefined) this.#fail(failure, response, authorization ?? '');
    else if (this.#credentials.admit(request, url)) this.#answer(request, response, url);
    else this.#send(response, 401, { error: 'unauthorized', said: authorization });
  }

  async #issueToken(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const form = new URLSearchParams(await text(request));
    const token = this.#credentials.issue(form);
    const refusal = { error: 'invalid_client', client: form.get('client_secret') };
    if (token === undefined) this.#send(response, 401, refusal);
    else this.#send(response, 200, token);
  }

  #fail(kind: Failure, response: ServerResponse, authorization: string): void {
    if (kind === 'busy') this.#send(response, 429, { error: 'slow down' }, { 'retry-after': '3' });
    else if (kind === 'down') this.#send(response, 503, { error: 'down' });
    else if (kind === 'cut') response.destroy();
    else if (kind === 'expired') {
      this.#credentials.expire(authorization);
      this.#send(response, 401, { error: 'expired' });
    } else {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end('{"boards": [{"id": 1');
    }
  }

  #answer(request: IncomingMessage, response: ServerResponse, url: URL): void {
    const { boards, cardsPerBoard } = this.#settings;
    const parts = url.pathname.split('/').filter((part) => part !== '');
    const [, noun, id, inner] = parts.map(decodeURIComponent);
    if (noun === 'moved') {
      response.writeHead(302, { location: `${url.searchParams.get('to') ?? '/v1/boards'}` }).end();
    } else if (noun === 'boards' && id === undefined) {
      this.#sendPage(response, url, this.#boards(request, url));
    } else if (noun === 'boards' && inner === 'cards' && Number(id) <= boards) {
      this.#sendPage(response, url, this.#cards(Number(id), url));
    } else if (noun === 'cards' && Number(id) % 1_000 <= cardsPerBoard) {
      this.#send(response, 200, cardOf(Math.floor(Number(id) / 1_000), Number(id) % 1_000));
    } else if (noun === 'people' && id === undefined) {
      this.#sendPage(response, url, this.#people(url));
    } else {
      const error = { code: 'no_such_thing', path: url.pathname, hint: 'look again' };
      this.#send(response, 404, { error });
    }
  }

  #boards({ headers: { authorization } }: IncomingMessage, { search }: URL): List {
    const { boards, echo, secret } = this.#settings;
    const rows = Array.from({ length: boards }, (_, at) => ({
      id: at + 1,
      name: `Board ${at + 1}`,
      ...(echo ? { note: `asked with ${authorization ?? search}` } : {}),
    }));
    const link = `</v1/boards?email=${emailOf(1)}&access_token=${secret || 'none'}>; rel="self"`;
    return { key: 'boards', rows, headers: { link } };
  }

  #cards(board: number, { searchParams }: URL): List {
    const { cardsPerBoard } = this.#settings;
    const states = searchParams.getAll('state');
    const all = Array.from({ length: cardsPerBoard }, (_, at) => cardOf(board, at + 1));
    const isWanted = ({ state }: Json) => states.length === 0 || states.includes(String(state));
    return { key: 'cards', rows: all.filter(isWanted) };
  }

  #people({ searchParams }: URL): List {
    const wanted = searchParams.get('email');
    const all = Array.from({ length: this.#settings.people }, (_, at) => personOf(at + 1));
    return { key: 'people', rows: all.filter(({ email }) => wanted === null || email === wanted) };
  }

  /**
   * Sends rows under a key, with their count and the next page's cursor: first a number, then a text, then an end
   * marker.
   */
  #sendPage(response: ServerResponse, url: URL, { key, rows, headers = {} }: List): void {
    const { paging, end: ending } = this.#settings;
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
    this.#send(response, 200, body, { ...headers, ...this.#pagingHeaders(url, next) });
  }

  /** Returns the headers with the cursor of the next page, if this vendor uses headers. */
  #pagingHeaders(url: URL, next: number | string | null): Json {
    const { paging, end } = this.#settings;
    if (paging === 'body' || (end === 'absent' && !next)) return {};
    if (paging === 'header') return { 'X-Next-Cursor': next === null ? '' : String(next) };
    const to = (cursor: number | string): string => {
      const address = new URL(url);
      address.searchParams.set('cursor', String(cursor));
      address.host = `127.0.0.1:${this.#port}`;
      return paging === 'link' ? address.href : `${address.pathname}${address.search}`;
    };
    const first = `<${to('c0')}>; rel="first prev"`;
    return { link: next ? `${first}, <${to(next)}>; title="a, b"; rel=next` : first };
  }

  #send(response: ServerResponse, status: number, body: unknown, headers: Json = {}): void {
    const bytes = gzipSync(JSON.stringify(body));
    response.writeHead(status, {
      'content-type': 'application/json; charset=utf-8',
      'content-encoding': 'gzip',
      'set-cookie': `session=${this.#settings.secret || 'none'}`,
      'x-request-id': `r-${this.asked.length}`,
      ...(headers as Record<string, string>),
    });
    response.end(bytes);
  }
}

/** Starts the vendor on a free port of this machine. */
export const startStandInVendor = async (options: VendorOptions = {}): Promise<StandInVendor> => {
  const vendor = new StandInVendor(options);
  await vendor.start();
  return vendor;
};
