/**
 * Connects to a receiver. It checks every address of the receiver's name and connects to one of those addresses. The
 * name is not resolved again, so a DNS answer that changes in between (DNS rebinding) has no effect. The receiver has
 * to present a certificate for the name.
 */
import { connect as connectTcp, type Socket } from 'node:net';
import {
  connect as connectTls,
  createSecureContext,
  type SecureContext,
  type TLSSocket,
} from 'node:tls';
import { type PushFailure, type PushProblem, pushAnswerMs } from '#domain/push.ts';
import { refusalOfAddress } from './public-address.ts';
import type { ReceiverUrl } from './receiver-url.ts';
import type { Resolve } from './resolve.ts';

/** Opens a connection to a checked address, on port 443. */
export type Dial = (address: string) => Socket;

/**
 * Names and connections used to reach receivers. Tests replace them, so that names resolve to addresses on this machine
 * and the certificates of the tests are trusted.
 */
export type Network = {
  resolve: Resolve;
  dial: Dial;
  /** Trusted certificates; if absent, the certificates that ship with Node are trusted. */
  ca?: string;
};

export const dialTcp: Dial = (host) =>
  connectTcp({ host, port: 443, noDelay: true, autoSelectFamily: false });

/** Failure of a delivery before an answer arrived. */
export class PushError extends Error {
  readonly code: PushFailure;
  constructor(code: PushFailure, message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }

  get problem(): PushProblem {
    return { code: this.code, message: this.message };
  }
}

/**
 * Limits for one name. A name with more than `mostAddresses` addresses is refused, because each address must be
 * checked. Connections to at most `mostTries` of the addresses are tried.
 */
const mostAddresses = 64;
const mostTried = 3;
/** Timeout for a connection to one of several addresses, in milliseconds. */
const connectMs = 3_000;

const wordsOf = (error: unknown): string =>
  error instanceof Error ? ('code' in error ? String(error.code) : error.message) : String(error);

/**
 * Builds the error for a missed deadline. It does not name the step that was waited for, because only the time is
 * known.
 */
export const timeoutError = (): PushError =>
  new PushError('timeout', `no answer within ${pushAnswerMs / 1_000} s`);

const resolveName = async (
  host: string,
  resolve: Resolve,
  signal: AbortSignal,
): Promise<string[]> => {
  try {
    return await resolve(host, signal);
  } catch (error) {
    if (signal.aborted) throw timeoutError();
    throw new PushError(
      'dns',
      `the name "${host}" could not be resolved: ${wordsOf(error)}`,
      error,
    );
  }
};

/** Returns the addresses of a receiver, all of them public. Throws `PushError` if one is not. */
export const findAddresses = async (
  { host, isAddress }: ReceiverUrl,
  resolve: Resolve,
  signal: AbortSignal,
): Promise<string[]> => {
  const addresses = isAddress ? [host] : await resolveName(host, resolve, signal);
  if (addresses.length === 0) throw new PushError('dns', `the name "${host}" has no address`);
  if (addresses.length > mostAddresses) {
    throw new PushError('dns', `the name "${host}" has more than ${mostAddresses} addresses`);
  }
  for (const address of addresses) {
    const what = refusalOfAddress(address);
    if (what === undefined) continue;
    const leads = isAddress ? address : `"${host}" leads to ${address}, which`;
    throw new PushError('address', `${leads} is not public: it is ${what}`);
  }
  return addresses;
};

/** Waits for an event of the socket. Rejects with the socket's error, or when the signal aborts. */
const occurred = (socket: Socket, event: string, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const end = (finish: () => void) => () => {
      signal.removeEventListener('abort', onAbort);
      socket.removeListener(event, onEvent).removeListener('close', onClose);
      finish();
    };
    let failure: unknown = new Error('the connection was closed');
    const onEvent = end(resolve);
    const onAbort = end(() => reject(signal.reason));
    const onClose = end(() => reject(failure));
    socket.once('error', (error) => {
      failure = error;
    });
    socket.once(event, onEvent).once('close', onClose);
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
  });

const dialOne = async (address: string, dial: Dial, signal: AbortSignal): Promise<Socket> => {
  const socket = dial(address);
  // Later errors of the socket are handled by the code that then uses it.
  socket.on('error', () => undefined);
  try {
    await occurred(socket, 'connect', signal);
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  }
};

/**
 * Tries to connect to the addresses in order. Trying several is safe: nothing was sent to an address that accepted no
 * connection.
 */
const dialFirst = async (
  addresses: readonly string[],
  dial: Dial,
  signal: AbortSignal,
): Promise<Socket> => {
  let failure: unknown;
  for (const address of addresses.slice(0, mostTried)) {
    try {
      return await dialOne(
        address,
        dial,
        AbortSignal.any([signal, AbortSignal.timeout(connectMs)]),
      );
    } catch (error) {
      if (signal.aborted) throw timeoutError();
      failure = error;
    }
  }
  throw new PushError('connect', `no address accepted a connection: ${wordsOf(failure)}`, failure);
};

/**
 * Secure context of each network. It is created once, because parsing certificates takes longer than the rest of a
 * connection.
 */
const trust = new WeakMap<Network, SecureContext>();

const trustOf = (network: Network): SecureContext => {
  const known = trust.get(network);
  if (known !== undefined) return known;
  const { ca } = network;
  const made = createSecureContext({
    minVersion: 'TLSv1.2',
    ...(ca === undefined ? {} : { ca }),
  });
  trust.set(network, made);
  return made;
};

/** Opens a TLS connection to a receiver. Throws `PushError`; an aborted signal ends it with `timeout`. */
export const connectChecked = async (
  url: ReceiverUrl,
  network: Network,
  signal: AbortSignal,
): Promise<TLSSocket> => {
  const addresses = await findAddresses(url, network.resolve, signal);
  const socket = await dialFirst(addresses, network.dial, signal);
  const secure = connectTls({
    socket,
    host: url.host,
    ...(url.isAddress ? {} : { servername: url.host }),
    ALPNProtocols: ['http/1.1'],
    secureContext: trustOf(network),
  });
  secure.on('error', () => undefined);
  try {
    await occurred(secure, 'secureConnect', signal);
    return secure;
  } catch (error) {
    secure.destroy();
    socket.destroy();
    if (signal.aborted) throw timeoutError();
    const words = error instanceof Error ? error.message : String(error);
    throw new PushError('tls', `the TLS connection to ${url.host} failed: ${words}`, error);
  }
};
