/** TCP ports: one that is free now, and whether a given one can be listened on. */
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

/** A port that nobody listened on a moment ago. */
export const findFreePort = (host = '127.0.0.1'): Promise<number> => listenOnce(0, host);

/** Why a port cannot be listened on, in the system's code (`EADDRINUSE`); undefined when it can. */
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
