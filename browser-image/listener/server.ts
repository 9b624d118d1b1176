/**
 * HTTP server of a browser program: `/cdp` for DevTools clients, `/view` for people. It checks access and hands
 * admitted connections on; it answers every other request with an error message.
 */
import { createServer, type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { AppError } from '#domain/error.ts';
import { isOtherSite } from '#runtime/fetch-site.ts';
import { type Bound, bindAll, keepAliveTimeouts, type ListenAddress } from '#runtime/listen.ts';
import type { Log } from '#runtime/log.ts';
import { apartHeaders, ownConnections } from '#runtime/page-headers.ts';
import { enterPath } from '#runtime/surface-pass.ts';
import { toErrorAnswer } from '#wire/errors.ts';
import type { ClientAccess } from './access.ts';
import { type PageFile, pageFile, viewPage } from './page-files.ts';

export type ListenerOptions = {
  listen: ListenAddress;
  access: ClientAccess;
  drive(socket: WebSocket): void;
  view(socket: WebSocket, options: { isReadOnly: boolean }): void;
  log: Log;
};

export type Listener = {
  /** `http://host:port`. */
  address: string;
  /**
   * Makes the server listen at one more address, until `leaveOthers`. Throws `unavailable` if the address cannot be
   * bound.
   */
  listenToo(address: ListenAddress): Promise<void>;
  leaveOthers(): Promise<void>;
  close(): Promise<void>;
};

/** Maximum size of a message; the bytes of an uploaded file are in one. */
const messageBytes = 64 * 2 ** 20;
/** Interval between pings of a connection, in milliseconds. */
const pingMs = 15_000;

const pageHeaders = {
  ...apartHeaders,
  ...ownConnections,
  'cache-control': 'no-store',
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
};

const partsOf = (request: IncomingMessage): { path: string; ticket: string } => {
  const [path = '', query = ''] = (request.url ?? '').split('?', 2);
  const asked = new URLSearchParams(query);
  const ticket = asked.get('ticket') ?? asked.get('token') ?? '';
  return { path: path.length > 1 ? path.replace(/\/$/, '') : path, ticket };
};

const notEntered = (): AppError =>
  new AppError(
    'unauthenticated',
    'this view is entered by a link, which works once; create a new one',
  );

const sendFile = (
  request: IncomingMessage,
  response: ServerResponse,
  { type, text }: PageFile,
  status = 200,
): void => {
  response.writeHead(status, { ...pageHeaders, 'content-type': type });
  response.end(request.method === 'HEAD' ? undefined : text);
};

/** Admits a viewer who has a valid ticket or a pass, and redirects to the view. */
const enter = async (
  { access }: ListenerOptions,
  request: IncomingMessage,
  response: ServerResponse,
  ticket: string,
): Promise<void> => {
  if (request.method !== 'GET') throw new AppError('invalid', 'a link is opened with GET');
  const hasPass = access.passOf(request.headers.cookie) !== undefined;
  const use = hasPass ? undefined : await access.redeem(ticket, 'view');
  if (!hasPass && use === undefined) throw notEntered();
  const cookie = use === undefined ? {} : { 'set-cookie': access.issuePass(use.isReadOnly) };
  response.writeHead(303, { ...pageHeaders, location: '/view', ...cookie });
  response.end();
};

const servePage = async (
  options: ListenerOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  const { path, ticket } = partsOf(request);
  if (path === enterPath) return enter(options, request, response, ticket);
  const file = path === '/view' ? viewPage() : await pageFile(path);
  if (file === undefined)
    throw new AppError('not_found', `nothing is served at ${path}; see /view`);
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    throw new AppError('invalid', `${path} only allows GET`);
  }
  if (path === '/view' && ticket !== '') return enter(options, request, response, ticket);
  if (path === '/view' && options.access.passOf(request.headers.cookie) === undefined)
    throw notEntered();
  sendFile(request, response, file);
};

/** Returns true if a person's browser will show the answer, so it must be a page. */
const isSeen = ({ headers }: IncomingMessage): boolean =>
  (headers.accept ?? '').includes('text/html');

const answerError = (
  { log }: ListenerOptions,
  request: IncomingMessage,
  response: ServerResponse,
  error: unknown,
): void => {
  const { status, body } = toErrorAnswer(error);
  if (status === 500) log.error({ err: error }, 'a page could not be served');
  if (response.headersSent) {
    response.destroy();
    return;
  }
  if (isSeen(request)) {
    const { message } = body;
    sendFile(
      request,
      response,
      viewPage(`${message[0]?.toUpperCase()}${message.slice(1)}.`),
      status,
    );
    return;
  }
  response.writeHead(status, { ...pageHeaders, 'content-type': 'application/json' });
  response.end(`${JSON.stringify(body)}\n`);
};

/** Returns the handler for a connection that upgrades to WebSocket. Throws the reason if it may not be opened. */
const admit = async ({ access, drive, view }: ListenerOptions, request: IncomingMessage) => {
  const { path, ticket } = partsOf(request);
  const { authorization, cookie, origin, host, 'sec-fetch-site': site } = request.headers;
  if (path === '/cdp') {
    const isIn =
      access.hasToken(authorization) ||
      (ticket !== '' && (await access.redeem(ticket, 'cdp')) !== undefined);
    if (isIn) return drive;
    throw new AppError(
      'unauthenticated',
      'DevTools requires the header "Authorization: Bearer <token>", or "?ticket=" with an unused ticket',
    );
  }
  if (path !== '/view/socket') throw new AppError('not_found', `no WebSocket is served at ${path}`);
  const pass = access.passOf(cookie);
  if (pass === undefined) throw notEntered();
  // Browsers send cookies with WebSockets of any page, so the page must be our own.
  const isOwn = URL.parse(origin ?? '')?.host === host && !isOtherSite(site);
  if (!isOwn) {
    throw new AppError('forbidden', 'only the page of the view may open its socket');
  }
  return (socket: WebSocket) => view(socket, pass);
};

const refuseUpgrade = (socket: Duplex, error: unknown): void => {
  const { status, body } = toErrorAnswer(error);
  const text = `${JSON.stringify(body)}\n`;
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\nconnection: close\r\n` +
      `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
  );
};

/** Terminates a connection whose peer no longer answers pings. */
const keepAlive = (socket: WebSocket): void => {
  let isThere = true;
  const timer = setInterval(() => {
    if (!isThere && !socket.isPaused) socket.terminate();
    isThere = false;
    if (socket.readyState === socket.OPEN) socket.ping();
  }, pingMs);
  socket.on('pong', () => {
    isThere = true;
  });
  socket.once('close', () => clearInterval(timer));
};

/** Starts the server. */
export const openListener = async (options: ListenerOptions): Promise<Listener> => {
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: messageBytes,
    perMessageDeflate: false,
  });
  const onUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    socket.on('error', () => undefined); // a close follows
    admit(options, request).then(
      (serve) =>
        sockets.handleUpgrade(request, socket, head, (opened) => {
          keepAlive(opened);
          serve(opened);
        }),
      (error: unknown) => refuseUpgrade(socket, error),
    );
  };
  const makeServer = () =>
    createServer(keepAliveTimeouts, (request, response) => {
      servePage(options, request, response).catch((error: unknown) =>
        answerError(options, request, response, error),
      );
    }).on('upgrade', onUpgrade);
  const bound = await bindAll(makeServer, [options.listen]);
  let besides: Bound | undefined;
  return {
    address: bound.addresses[0] as string,
    async listenToo(address) {
      besides = await bindAll(makeServer, [address]);
    },
    async leaveOthers() {
      await besides?.stop(0);
      besides = undefined;
    },
    async close() {
      for (const socket of sockets.clients) socket.terminate();
      await Promise.all([bound.stop(1_000), besides?.stop(1_000)]);
    },
  };
};
