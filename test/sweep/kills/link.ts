/**
 * A TCP link between two programs that a test can disturb: cut it, reset its connections, let it hang or slow it down.
 * It reads the HTTP requests that pass, so that a test can strike at one of them: when it arrives, when its answer
 * comes back, or when the answer has been passed on.
 *
 * The link changes no byte. It assumes that each request and each answer begins with a chunk of its own. That holds
 * between programs that wait for an answer before they send again on the same connection.
 */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
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

export type LinkOptions = {
  /** Address of the server to which the link connects. */
  to: { host: string; port: number } | { path: string };
  /** Address on which the link listens; loopback if absent. */
  host?: string | undefined;
};

/** Strike to run once a chunk has passed; undefined for most chunks. */
type AfterPass = (() => Promise<void>) | undefined;

type Armed = Target & { pattern: RegExp; strike: Strike };

/** Returns the pattern of an operation's request line, with any base address. */
const patternOf = ({ method, path }: OperationShape): RegExp => {
  const route = path.replace(/\{\w+\}/g, '[^/? ]+');
  return new RegExp(`^${method} (/api/\\w+${route})(?:\\?\\S*)? HTTP/1\\.1\r\n`);
};

/** Maximum number of bytes that are read from the beginning of a chunk. */
const readBytes = 4_096;

const textOf = (chunk: Buffer): string => chunk.toString('latin1', 0, readBytes);

/** A strike that waits for its request, and that happens once. */
class ArmedStrike {
  #armed: Armed | undefined;

  arm(target: Target, strike: Strike): void {
    this.#armed = { ...target, strike, pattern: patternOf(target.operation) };
  }

  disarm(): void {
    this.#armed = undefined;
  }

  /** Strikes if the chunk begins the target request. */
  async arrive(text: string): Promise<void> {
    if (this.#armed?.edge !== 'arriving') return;
    const { pattern, strike } = this.#armed;
    const path = pattern.exec(text)?.[1];
    if (path === undefined) return;
    this.disarm();
    await strike(path);
  }

  /**
   * Strikes if the chunk is the target answer, whose request may have come long before. Returns the function to run
   * once the chunk has passed.
   */
  async answer(asked: string, chunk: Buffer): Promise<AfterPass> {
    if (this.#armed === undefined || this.#armed.edge === 'arriving') return undefined;
    const { edge, saying, strike, pattern } = this.#armed;
    const path = pattern.exec(asked)?.[1];
    if (path === undefined || (saying !== undefined && !chunk.includes(saying))) return undefined;
    this.disarm();
    if (edge === 'passed') return () => strike(path);
    await strike(path);
    return undefined;
  }
}

/** A link that listens for connections, and passes them on. */
export class Link {
  readonly host: string;
  readonly #to: LinkOptions['to'];
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #strike = new ArmedStrike();
  #port = 0;
  #isCut = false;
  #delayMs = 0;
  #resumed = Promise.withResolvers<void>();

  constructor({ to, host = '127.0.0.1' }: LinkOptions) {
    this.host = host;
    this.#to = to;
    this.#server = createServer({ allowHalfOpen: true }, (asking) => this.#accept(asking));
    this.#resumed.resolve();
  }

  get port(): number {
    return this.#port;
  }

  async listen(): Promise<void> {
    this.#server.listen(0, this.host);
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  async stop(): Promise<void> {
    this.#resumed.resolve();
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await once(this.#server, 'close');
  }

  /** Strikes once, at the first request that matches the target. */
  strikeAt(target: Target, strike: Strike): void {
    this.#strike.arm(target, strike);
  }

  /** Cancels a strike that has not happened yet. */
  disarm(): void {
    this.#strike.disarm();
  }

  /** Ends every connection by a reset, which both sides receive. */
  reset(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  /** Cuts the link or restores it. While it is cut, existing connections are reset and new ones refused. */
  cut(isCut: boolean): void {
    this.#isCut = isCut;
    if (isCut) this.reset();
  }

  /** Stops passing data in both directions, or resumes; connections stay open. */
  hang(isHanging: boolean): void {
    this.#resumed.resolve();
    if (isHanging) this.#resumed = Promise.withResolvers<void>();
  }

  /** Delays each chunk by so many milliseconds. */
  slow(delayMs: number): void {
    this.#delayMs = delayMs;
  }

  #accept(asking: Socket): void {
    this.#keep(asking);
    if (this.#isCut) {
      asking.resetAndDestroy();
      return;
    }
    const answering = connect({ ...this.#to, allowHalfOpen: true });
    this.#keep(answering);
    asking.once('close', () => answering.destroySoon());
    answering.once('close', () => asking.destroySoon());
    let asked = '';
    void this.#pass(asking, answering, async (chunk) => {
      asked = textOf(chunk);
      await this.#strike.arrive(asked);
      return undefined;
    });
    void this.#pass(answering, asking, (chunk) => this.#strike.answer(asked, chunk));
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    socket.setNoDelay(true).once('close', () => this.#sockets.delete(socket));
    socket.on('error', () => undefined); // the event "close" follows
  }

  /** Passes chunks from one socket to the other, each after the one before. */
  async #pass(
    from: Socket,
    into: Socket,
    look: (chunk: Buffer) => Promise<AfterPass>,
  ): Promise<void> {
    try {
      for await (const chunk of from as AsyncIterable<Buffer>) {
        const after = await look(chunk);
        await this.#resumed.promise;
        if (this.#delayMs > 0) await pause(this.#delayMs);
        if (into.destroyed) break;
        into.write(chunk);
        await after?.();
      }
      await this.#resumed.promise;
      into.end();
    } catch {
      into.resetAndDestroy(); // one side reset the connection; the other side gets a reset, too
    }
  }
}

/** Starts a link on a free port. */
export const startLink = async (options: LinkOptions): Promise<Link> => {
  const link = new Link(options);
  await link.listen();
  return link;
};
