/**
 * Connects to a receiver: every address of its name is checked, and one of those that were checked is connected
 * to, by that address. No name is resolved again on the way, so an answer of the DNS that changes leads nowhere.
 * Who answers has to show a certificate for the name.
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

/** Begins a connection to an address, which has been checked, on port 443. */
export type Dial = (address: string) => Socket;

/** How receivers are reached. Tests lead names and addresses to themselves, and trust their own certificates. */
export type Network = {
  resolve: Resolve;
  dial: Dial;
  /** Certificates that are trusted; those that Node ships when left out. */
  ca?: string;
};

export const dialTcp: Dial = (host) =>
  connectTcp({ host, port: 443, noDelay: true, autoSelectFamily: false });

/** A failure on the way to an answer. */
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

/** Of one name, as many addresses are taken; each is checked, and a few are tried. */
const mostAddresses = 64;
const mostTried = 3;
/** What one of several addresses has to take up the connection. */
const connectMs = 3_000;

const wordsOf = (error: unknown): string =>
  error instanceof Error ? ('code' in error ? String(error.code) : error.message) : String(error);

/** The error for a deadline; it is not known what was waited for, only when it was over. */
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
    throw new PushError('dns', `the name "${host}" was not resolved: ${wordsOf(error)}`, error);
  }
};

/** The addresses of a receiver, all of them public; throws `PushError` where one is not. */
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

/** Resolves when the socket has told the event; throws what it fails with, or when the signal aborts. */
const told = (socket: Socket, event: string, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const end = (finish: () => void) => () => {
      signal.removeEventListener('abort', onAbort);
      socket.removeListener(event, onTold).removeListener('close', onClose);
      finish();
    };
    let failure: unknown = new Error('the connection was closed');
    const onTold = end(resolve);
    const onAbort = end(() => reject(signal.reason));
    const onClose = end(() => reject(failure));
    socket.once('error', (error) => {
      failure = error;
    });
    socket.once(event, onTold).once('close', onClose);
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
  });

const dialOne = async (address: string, dial: Dial, signal: AbortSignal): Promise<Socket> => {
  const socket = dial(address);
  // Whatever happens to it later is told by whoever uses it then.
  socket.on('error', () => undefined);
  try {
    await told(socket, 'connect', signal);
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  }
};

/** Tries the addresses in their order: nothing has been sent to one that takes up no connection. */
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
  throw new PushError('connect', `no connection was made: ${wordsOf(failure)}`, failure);
};

/** Whom a network trusts, read once: to read certificates anew takes longer than all else of a connection. */
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

/** A secure connection to a receiver. Throws `PushError`; the signal ends it with `timeout`. */
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
    await told(secure, 'secureConnect', signal);
    return secure;
  } catch (error) {
    secure.destroy();
    socket.destroy();
    if (signal.aborted) throw timeoutError();
    const words = error instanceof Error ? error.message : String(error);
    throw new PushError('tls', `no secure connection to ${url.host} was made: ${words}`, error);
  }
};
