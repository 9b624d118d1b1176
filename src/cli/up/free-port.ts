/** Finds a free TCP port, and checks whether a program can listen on a given port. */
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

/** Returns why no program can listen on a port, as the system's code (`EADDRINUSE`); undefined if one can. */
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

/**
 * Range of ports below the ephemeral ones. An ephemeral port could be taken by a connection before the program listens
 * on it.
 */
const quietPorts = { least: 15_000, beyond: 32_000 };
const mostTries = 50;

/** Returns a port that was free when it was checked. */
export const findFreePort = async (host = '127.0.0.1'): Promise<number> => {
  for (let tries = 0; tries < mostTries; tries += 1) {
    const port = randomInt(quietPorts.least, quietPorts.beyond);
    if ((await portProblem(port, host)) === undefined) return port;
  }
  return listenOnce(0, host);
};
