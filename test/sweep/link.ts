/**
 * A TCP way between two programs that a test can disturb: cut it, reset what is on it, let it hang or be
 * slow. It reads the HTTP requests that pass, so that a test can strike at one of them: when it arrives,
 * when its answer comes back, or when the answer has been passed on.
 *
 * It changes no byte. It takes each request and each answer to begin with a chunk of its own, as they do
 * between programs that wait for an answer before they ask again on the same connection.
 */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { pause } from '#runtime/pause.ts';
import type { OperationShape } from '#wire/operation.ts';

/**
 * Where in the passing of a request. `arriving`: it is held until the strike is done. `answered`: it has
 * had its effect, and its answer is held. `passed`: the answer is on its way to who asked.
 */
export const edges = ['arriving', 'answered', 'passed'] as const;
export type Edge = (typeof edges)[number];

/** The request to strike at; `saying` has to be in the first bytes of its answer. */
export type Target = { operation: OperationShape; edge: Edge; saying?: string | undefined };

/** What a strike may go by: the path of the request that it was made at. */
export type Strike = (path: string) => Promise<void>;

export type Link = {
  host: string;
  port: number;
  /** Strikes once, at the first request that the target means. */
  strikeAt(target: Target, strike: Strike): void;
  /** Forgets a strike that has not come about. */
  disarm(): void;
  /** Ends every connection, the other side learning of it by a reset. */
  reset(): void;
  /** Takes no connections until told otherwise; those that stand are reset. */
  cut(isCut: boolean): void;
  /** Passes nothing on, either way, until told otherwise; connections stand. */
  hang(isHanging: boolean): void;
  /** Passes each chunk on so much later. */
  slow(delayMs: number): void;
  stop(): Promise<void>;
};

export type LinkOptions = {
  /** Where connections lead. */
  to: { host: string; port: number } | { path: string };
  /** Where it listens; loopback when not given. */
  host?: string | undefined;
};

type Armed = Target & { pattern: RegExp; strike: Strike };

/** The request line of an operation, whatever its base address. */
const patternOf = ({ method, path }: OperationShape): RegExp => {
  const route = path.replace(/\{\w+\}/g, '[^/? ]+');
  return new RegExp(`^${method} (/api/\\w+${route})(?:\\?\\S*)? HTTP/1\\.1\r\n`);
};

/** Longest part of a chunk that is read. */
const readBytes = 4_096;

export const startLink = async ({ to, host = '127.0.0.1' }: LinkOptions): Promise<Link> => {
  const sockets = new Set<Socket>();
  let armed: Armed | undefined;
  let isCut = false;
  let delayMs = 0;
  let resumed = Promise.withResolvers<void>();
  resumed.resolve();

  const take = (): void => {
    armed = undefined;
  };
  const textOf = (chunk: Buffer): string => chunk.toString('latin1', 0, readBytes);

  /** Strikes when the chunk begins the request meant. */
  const arrive = async (text: string): Promise<void> => {
    if (armed?.edge !== 'arriving') return;
    const { pattern, strike } = armed;
    const path = pattern.exec(text)?.[1];
    if (path === undefined) return;
    take();
    await strike(path);
  };

  /**
   * Strikes when the chunk is the answer meant, of a request that may have come long before; answers what
   * is to be done once it has passed.
   */
  const answer = async (asked: string, chunk: Buffer) => {
    if (armed === undefined || armed.edge === 'arriving') return undefined;
    const { edge, saying, strike, pattern } = armed;
    const path = pattern.exec(asked)?.[1];
    if (path === undefined || (saying !== undefined && !chunk.includes(saying))) return undefined;
    take();
    if (edge === 'passed') return () => strike(path);
    await strike(path);
    return undefined;
  };

  /** Passes chunks from one socket to the other, each when the one before has gone. */
  const pass = async (
    from: Socket,
    into: Socket,
    look: (chunk: Buffer) => Promise<(() => Promise<void>) | undefined>,
  ): Promise<void> => {
    try {
      for await (const chunk of from as AsyncIterable<Buffer>) {
        const after = await look(chunk);
        await resumed.promise;
        if (delayMs > 0) await pause(delayMs);
        if (into.destroyed) break;
        into.write(chunk);
        await after?.();
      }
      await resumed.promise;
      into.end();
    } catch {
      into.resetAndDestroy(); // one side broke off; the other is told the same way
    }
  };

  const keep = (socket: Socket): void => {
    sockets.add(socket);
    socket.setNoDelay(true).once('close', () => sockets.delete(socket));
    socket.on('error', () => undefined); // its end is what counts
  };

  const server = createServer({ allowHalfOpen: true }, (asking) => {
    keep(asking);
    if (isCut) {
      asking.resetAndDestroy();
      return;
    }
    const answering = connect({ ...to, allowHalfOpen: true });
    keep(answering);
    asking.once('close', () => answering.destroySoon());
    answering.once('close', () => asking.destroySoon());
    let asked = '';
    void pass(asking, answering, async (chunk) => {
      asked = textOf(chunk);
      await arrive(asked);
      return undefined;
    });
    void pass(answering, asking, (chunk) => answer(asked, chunk));
  });
  server.listen(0, host);
  await once(server, 'listening');

  const reset = (): void => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  return {
    host,
    port: (server.address() as AddressInfo).port,
    strikeAt(target, strike) {
      armed = { ...target, strike, pattern: patternOf(target.operation) };
    },
    disarm: take,
    reset,
    cut(nowCut) {
      isCut = nowCut;
      if (nowCut) reset();
    },
    hang(isHanging) {
      resumed.resolve();
      if (isHanging) resumed = Promise.withResolvers<void>();
    },
    slow(ms) {
      delayMs = ms;
    },
    async stop() {
      resumed.resolve();
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
};
