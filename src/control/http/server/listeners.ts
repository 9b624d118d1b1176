/** The listeners of a program. Each has the application that serves it, and all of them drain and stop together. */
import type { FastifyInstance } from 'fastify';
import type { ListenAddress } from '#runtime/listen.ts';
import type { ListenerName } from '../../config.ts';
import { type Listening, listen } from './listen.ts';

type Listener = { serves: readonly ListenerName[]; app: FastifyInstance; listening: Listening };

/** Listeners that have started. */
export class Listeners {
  readonly #started: Listener[] = [];

  /** Starts to listen on the addresses. The application serves the APIs of the listeners in `serves`. */
  async start(
    { serves, addresses }: { serves: readonly ListenerName[]; addresses: readonly ListenAddress[] },
    app: FastifyInstance,
    options: Parameters<typeof listen>[2],
  ): Promise<void> {
    this.#started.push({ serves, app, listening: await listen(app, addresses, options) });
  }

  /** Returns the bound addresses of a listener, as `http://host:port`. */
  addressesOf(name: ListenerName): string[] {
    return this.#started.flatMap(({ serves, listening }) =>
      serves.includes(name) ? listening.addresses : [],
    );
  }

  addresses(): Record<ListenerName, string[]> {
    return {
      public: this.addressesOf('public'),
      host: this.addressesOf('host'),
      internal: this.addressesOf('internal'),
    };
  }

  /** Closes each connection after its next answer, from now on. */
  drain(): void {
    for (const { listening } of this.#started) listening.drain();
  }

  /** Stops all listeners at once, so that each gets the whole deadline. */
  async stop(deadlineMs: number): Promise<void> {
    await Promise.all(this.#started.map(({ listening }) => listening.stop(deadlineMs)));
    await Promise.all(this.#started.map(({ app }) => app.close()));
  }
}
