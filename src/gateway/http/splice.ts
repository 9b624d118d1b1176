/**
 * Two connections made one, after both sides changed the protocol. What one side ends the other may go
 * on without for a while; what lies idle for too long is cut, and so is what is left of a broken one.
 */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { responseHeaders } from './forwarded-headers.ts';
import type { Limits } from './limits.ts';
import { linesOf } from './refuser.ts';

/** A peer that has silently gone is noticed after a few of these. */
const probeMs = 60_000;

const headOf = (answer: IncomingMessage): string => {
  const headers = responseHeaders(answer, { hasTrailers: false, isLast: false });
  const upgrade = ['connection', 'Upgrade', 'upgrade', answer.headers.upgrade ?? ''];
  return linesOf(answer.statusCode ?? 101, [...headers, ...upgrade]);
};

export type Splice = {
  /** Each with what it has sent already. */
  client: { socket: Socket; head: Buffer };
  host: { socket: Socket; head: Buffer };
  /** The host's answer that changed the protocol. */
  answer: IncomingMessage;
  limits: Pick<Limits, 'tunnelMs' | 'halfClosedMs'>;
};

/** Joins both until they end. Returns what cuts them. */
export const splice = ({ client, host, answer, limits }: Splice): (() => void) => {
  // A reset says that this is no end which either side has chosen.
  const cut = (): void => {
    client.socket.resetAndDestroy();
    host.socket.resetAndDestroy();
  };
  host.socket.allowHalfOpen = true;
  host.socket.setTimeout(0);
  // Whatever moves, moves through the client's connection, too: its silence is the tunnel's.
  client.socket.setTimeout(limits.tunnelMs).on('timeout', cut);
  for (const [near, far] of [
    [client.socket, host.socket],
    [host.socket, client.socket],
  ] as const) {
    near.setNoDelay(true).setKeepAlive(true, probeMs);
    near.on('error', cut);
    near.once('end', () => client.socket.setTimeout(limits.halfClosedMs));
    near.once('close', () => far.destroySoon());
  }
  client.socket.write(headOf(answer));
  if (host.head.length > 0) client.socket.write(host.head);
  if (client.head.length > 0) host.socket.write(client.head);
  client.socket.pipe(host.socket);
  host.socket.pipe(client.socket);
  return cut;
};
