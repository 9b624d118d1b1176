/** Finds a free TCP port, and checks that a given one can be listened on. */
import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

const listenOnce = (port: number, host: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen({ port, host, exclusive: true }, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' ? (address?.port ?? 0) : 0));
    });
  });

/** Returns why a port cannot be listened on, as the system's code (`EADDRINUSE`); undefined if it can. */
export const portProblem = async (
  port: number,
  host = '127.0.0.1',
): Promise<string | undefined> => {
  try {
    await listenOnce(port, host);
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error);
  }
};

/** Range below the ephemeral ports: one of those could be taken by a connection before the program listens on it. */
const quietPorts = { least: 15_000, beyond: 32_000 };
const mostTries = 50;

/** Returns a port that was free a moment ago. */
export const findFreePort = async (host = '127.0.0.1'): Promise<number> => {
  for (let tries = 0; tries < mostTries; tries += 1) {
    const port = randomInt(quietPorts.least, quietPorts.beyond);
    if ((await portProblem(port, host)) === undefined) return port;
  }
  return listenOnce(0, host);
};
