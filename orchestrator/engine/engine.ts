/**
 * Finds the Docker engine: `DOCKER_HOST` if it is set, else the sockets where engines usually listen. A missing engine
 * is an ordinary case; its error is one line that names the addresses tried.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import Docker from 'dockerode';
import { AppError, describeError } from '#domain/error.ts';

/** Deadline for an answer of the engine, in milliseconds. */
const answerMs = 30_000;
const pingMs = 3_000;

export type Engine = {
  /** Client for requests with a single answer; they have a deadline. */
  docker: Docker;
  /** Client for streams, which may be silent for long: events, builds, pulls. */
  streams: Docker;
  /** Address on which it listens, for messages. */
  address: string;
  version: string;
  /** Number of processors of the engine's machine, which may be another machine than this one. */
  cores: number;
};

/** Inputs for finding an engine: `DOCKER_HOST`, and the home folder for a user's own engine. */
export type EngineLocation = { engine: string | undefined; home: string | undefined };

const connectionTo = (address: string): Docker.DockerOptions => {
  if (address.startsWith('unix://')) return { socketPath: address.slice('unix://'.length) };
  const { protocol, hostname, port } = URL.parse(address) ?? { protocol: '' };
  if (protocol !== 'tcp:' && protocol !== 'http:') {
    throw new AppError('invalid', `DOCKER_HOST is "${address}", not unix://… or tcp://…`);
  }
  return { protocol: 'http', host: hostname ?? '', port: port || 2375 };
};

const usualSockets = (home: string | undefined): string[] =>
  [
    '/var/run/docker.sock',
    `/run/user/${process.getuid?.() ?? 0}/docker.sock`,
    ...(home === undefined ? [] : [join(home, '.docker/run/docker.sock')]),
  ].filter((path) => existsSync(path));

const connect = async (address: string): Promise<Engine> => {
  const options = connectionTo(address);
  const pinging = new Docker({ ...options, timeout: pingMs });
  const [{ Version: version }, { NCPU: cores }] = await Promise.all([
    pinging.version(),
    pinging.info(),
  ]);
  return {
    docker: new Docker({ ...options, timeout: answerMs }),
    streams: new Docker(options),
    address,
    version,
    cores,
  };
};

/** Returns the engine that answers. Throws `unavailable` when none does. */
export const findEngine = async ({ engine, home }: EngineLocation): Promise<Engine> => {
  const addresses =
    engine === undefined ? usualSockets(home).map((path) => `unix://${path}`) : [engine];
  if (addresses.length === 0) {
    throw new AppError(
      'unavailable',
      'no Docker engine: there is no socket in the usual places; start Docker, or set DOCKER_HOST',
    );
  }
  const refusals: string[] = [];
  for (const address of addresses) {
    try {
      return await connect(address);
    } catch (error) {
      if (error instanceof AppError) throw error;
      refusals.push(`${address} (${describeError(error)})`);
    }
  }
  throw new AppError('unavailable', `no Docker engine answers at ${refusals.join(' or ')}`);
};

/** Returns true if the engine refused with one of these HTTP statuses. */
export const isStatus = (error: unknown, ...statuses: number[]): boolean =>
  error instanceof Error &&
  'statusCode' in error &&
  statuses.some((status) => error.statusCode === status);

/** Builds the error for a refusal of the engine; its message begins with the action that was refused. */
export const engineRefusal = (what: string, cause: unknown): AppError =>
  cause instanceof AppError ? cause : new AppError('unavailable', `Docker: ${what}`, { cause });
