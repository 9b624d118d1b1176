/**
 * Tunnels for browsers whose network reaches only the control plane. A browser's host sends a CONNECT request with its
 * token, for one of the origins that its assignment allows. The tunnel leads only to the surfaces of the session that
 * the browser serves at that moment, whatever the code in the browser's container requests.
 */

import type { IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { AppError } from '#domain/error.ts';
import { plainIp } from '#domain/host-address.ts';
import { own } from '#domain/json.ts';
import { toErrorAnswer } from '#wire/errors.ts';
import type { BrowserAssignment } from '#wire/host-api/browser-operations.ts';
import type { ControlConfig } from '../../config.ts';
import type { Parts } from '../../parts.ts';
import { findAssignment } from '../../sessions/browsers/serve.ts';
import type { Authenticate } from '../server/auth.ts';

export type Tunnels = {
  /** Serves a CONNECT request. */
  onConnect(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Destroys the sockets of all open tunnels. */
  close(): void;
};

/**
 * Maximum number of open tunnels of one browser; a page opens six connections to an origin, and WebSockets in addition.
 */
const mostOfOne = 64;
const connectMs = 10_000;
/** Time without traffic after which a tunnel is closed, in milliseconds: its two ends are presumed gone. */
const idleMs = 30 * 60_000;

type Place = { host: string; port: number };

const defaultPorts: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };

/**
 * Returns the address to connect to for a CONNECT authority; undefined if the authority is no surface that the browser
 * may connect to.
 */
export const placeOf = (
  { reach }: Pick<BrowserAssignment, 'reach'>,
  authority: string,
  { gateway, surfacesAt }: Pick<ControlConfig, 'gateway' | 'surfacesAt'>,
): Place | undefined => {
  for (const { origin, connectTo } of reach) {
    const { protocol, hostname, port: named } = new URL(origin);
    const port = Number(named) || (own(defaultPorts, protocol) ?? 0);
    if (`${hostname}:${port}` !== authority.toLowerCase()) continue;
    const host = hostname.replace(/^\[|\]$/g, '');
    // Names below `localhost` mean this machine, whatever a resolver answers (RFC 6761).
    const given = connectTo ?? (gateway === null ? null : surfacesAt);
    return given ?? { host: /(^|\.)localhost$/.test(host) ? '127.0.0.1' : host, port };
  }
  return undefined;
};

const dial = (place: Place): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = connect({ ...place, timeout: connectMs });
    const fail = (cause?: unknown): void => {
      socket.destroy();
      reject(new AppError('unavailable', 'the session’s surface does not answer', { cause }));
    };
    socket.once('timeout', fail);
    socket.once('error', fail);
    socket.once('connect', () => {
      socket.off('timeout', fail);
      socket.off('error', fail);
      resolve(socket);
    });
  });

const refuse = (socket: Duplex, error: unknown): void => {
  const { status, body } = toErrorAnswer(error);
  const text = `${JSON.stringify(body)}\n`;
  socket.end(
    `HTTP/1.1 ${status} Refused\r\nconnection: close\r\ncontent-type: application/json\r\n` +
      `content-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
  );
};

/** Creates the tunnels of a control plane. */
export const createTunnels = (
  parts: Parts,
  authenticate: Authenticate,
): Tunnels & { count(): number } => {
  const open = new Map<string, Set<Duplex>>();

  const admit = async ({ headers, socket, url = '' }: IncomingMessage) => {
    const from = plainIp(socket.remoteAddress ?? '');
    const token = headers['proxy-authorization'];
    const named = { project: undefined, session: undefined };
    const caller = await authenticate(token, 'host', from, named);
    if (!('hostId' in caller)) throw new AppError('forbidden', 'only hosts may open tunnels');
    const { hostId } = caller;
    const assignment = await findAssignment(parts, hostId);
    const place =
      typeof assignment === 'string' ? undefined : placeOf(assignment, url, parts.config);
    if (place === undefined) {
      throw new AppError('forbidden', `${hostId} serves no session with a surface at this address`);
    }
    if ((open.get(hostId)?.size ?? 0) >= mostOfOne) {
      throw new AppError('exhausted', `the browser has ${mostOfOne} open tunnels, the maximum`);
    }
    return { hostId, place };
  };

  const join = async (hostId: string, near: Duplex, far: Socket): Promise<void> => {
    const tunnels = open.get(hostId) ?? new Set();
    open.set(hostId, tunnels.add(near));
    far.setTimeout(idleMs, () => far.destroy());
    try {
      await Promise.all([pipeline(near, far), pipeline(far, near)]);
    } finally {
      far.destroy();
      near.destroy();
      tunnels.delete(near);
      if (tunnels.size === 0) open.delete(hostId);
    }
  };

  const serve = async (request: IncomingMessage, near: Duplex, head: Buffer): Promise<void> => {
    const { hostId, place } = await admit(request);
    const far = await dial(place);
    if (near.destroyed) return void far.destroy();
    near.write('HTTP/1.1 200 Connection Established\r\n\r\n');
    far.write(head);
    // If either end breaks off, both are destroyed; there is no request left to answer with the error.
    join(hostId, near, far).catch(() => undefined);
  };

  return {
    onConnect(request, socket, head) {
      socket.on('error', () => undefined); // a close follows
      serve(request, socket, head).catch((error: unknown) => {
        const { status } = toErrorAnswer(error);
        if (status === 500) parts.log.error({ err: error }, 'a tunnel could not be made');
        refuse(socket, error);
      });
    },
    close() {
      for (const tunnels of open.values()) for (const socket of tunnels) socket.destroy();
    },
    count: () => [...open.values()].reduce((sum, { size }) => sum + size, 0),
  };
};
