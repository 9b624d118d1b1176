/**
 * A TCP link between two programs that a test can disturb: cut it, reset its connections, let it hang or slow it down.
 * It reads the HTTP requests that pass, so that a test can strike at one of them: when it arrives, when its answer
 * comes back, or when the answer has been passed on.
 *
 * It changes no byte. It assumes that each request and each answer begins with a chunk of its own. That holds between
 * programs that wait for an answer before they send again on the same connection.
 */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { pause } from '#runtime/pause.ts';
import type { OperationShape } from '#wire/operation.ts';

/**
 * Point in the passing of a request at which a strike happens. `arriving`: the request is held until the strike is
 * done. `answered`: it has had its effect, and its answer is held. `passed`: the answer is on its way to the client.
 */
export const edges = ['arriving', 'answered', 'passed'] as const;
export type Edge = (typeof edges)[number];

/** Request to strike at; `saying` must occur in the first bytes of its answer. */
export type Target = { operation: OperationShape; edge: Edge; saying?: string | undefined };

/** A strike; it gets the path of the request at which it happens. */
export type Strike = (path: string) => Promise<void>;

export type Link = {
  host: string;
  port: number;
  /** Strikes once, at the first request that matches the target. */
  strikeAt(target: Target, strike: Strike): void;
  /** Cancels a strike that has not happened yet. */
  disarm(): void;
  /** Ends every connection by a reset, which both sides receive. */
  reset(): void;
  /** Cuts the link or restores it. While it is cut, existing connections are reset and new ones refused. */
  cut(isCut: boolean): void;
  /** Stops passing data in both directions, or resumes; connections stay open. */
  hang(isHanging: boolean): void;
  /** Delays each chunk by so many milliseconds. */
  slow(delayMs: number): void;
  stop(): Promise<void>;
};

export type LinkOptions = {
  /** Target of the connections. */
  to: { host: string; port: number } | { path: string };
  /** Address on which it listens; loopback when not given. */
  host?: string | undefined;
};

type Armed = Target & { pattern: RegExp; strike: Strike };

/** Returns the pattern of an operation's request line, with any base address. */
const patternOf = ({ method, path }: OperationShape): RegExp => {
  const route = path.replace(/\{\w+\}/g, '[^/? ]+');
  return new RegExp(`^${method} (/api/\\w+${route})(?:\\?\\S*)? HTTP/1\\.1\r\n`);
};

/** Number of bytes of a chunk that are read at most. */
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

  /** Strikes if the chunk begins the target request. */
  const arrive = async (text: string): Promise<void> => {
    if (armed?.edge !== 'arriving') return;
    const { pattern, strike } = armed;
    const path = pattern.exec(text)?.[1];
    if (path === undefined) return;
    take();
    await strike(path);
  };

  /**
   * Strikes if the chunk is the target answer, whose request may have come long before. Returns the function to run
   * once the chunk has passed.
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

  /** Passes chunks from one socket to the other, each after the one before. */
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
      into.resetAndDestroy(); // one side reset the connection; the other side gets a reset, too
    }
  };

  const keep = (socket: Socket): void => {
    sockets.add(socket);
    socket.setNoDelay(true).once('close', () => sockets.delete(socket));
    socket.on('error', () => undefined); // the event "close" follows
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
