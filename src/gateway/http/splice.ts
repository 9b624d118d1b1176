/**
 * Joins the connections of a client and a host after the protocol was switched. If one of them ends its half, the other
 * may go on sending for a limited time. Tunnels without traffic are closed.
 */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { responseHeaders } from './forwarded-headers.ts';
import type { Limits } from './limits.ts';
import { linesOf } from './refuser.ts';

/** Interval of TCP keep-alive probes. A peer that vanished is detected after a few of them. */
const probeMs = 60_000;

const headOf = (answer: IncomingMessage): string => {
  const headers = responseHeaders(answer, { hasTrailers: false, isLast: false });
  const upgrade = ['connection', 'Upgrade', 'upgrade', answer.headers.upgrade ?? ''];
  return linesOf(answer.statusCode ?? 101, [...headers, ...upgrade]);
};

export type Splice = {
  /** Both ends of the tunnel, each with the bytes that it has already sent. */
  client: { socket: Socket; head: Buffer };
  host: { socket: Socket; head: Buffer };
  /** Answer of the host that switched the protocol. */
  answer: IncomingMessage;
  limits: Pick<Limits, 'tunnelMs' | 'halfClosedMs'>;
};

/** Joins both connections until they end. Returns a function that closes them. */
export const splice = ({ client, host, answer, limits }: Splice): (() => void) => {
  // A reset shows both sides that the connection was cut; a normal end would look intended.
  const cut = (): void => {
    client.socket.resetAndDestroy();
    host.socket.resetAndDestroy();
  };
  host.socket.allowHalfOpen = true;
  host.socket.setTimeout(0);
  // All traffic passes the client's connection, in one direction or the other, so its idle timeout is that of the
  // tunnel.
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
