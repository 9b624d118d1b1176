/**
 * Finding the Docker engine: `DOCKER_HOST` if it is set, else the sockets where engines usually listen.
 * Nothing answering is an ordinary case and gets one line that says where was looked.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import Docker from 'dockerode';
import { AppError, describeError } from '#domain/error.ts';

/** A request that the engine has not answered for so long has failed. */
const answerMs = 30_000;
const pingMs = 3_000;

export type Engine = {
  /** For requests with an answer of their own; they have a deadline. */
  docker: Docker;
  /** For streams, which may be silent for long: events, builds, pulls. */
  streams: Docker;
  /** Where it listens, for messages. */
  address: string;
  version: string;
  /** Processors of the machine that it runs on, which need not be this one. */
  cores: number;
};

/** Where to look: `DOCKER_HOST`, and the home folder for a user's own engine. */
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

/** The engine that answers. Throws `unavailable` when none does. */
export const findEngine = async ({ engine, home }: EngineLocation): Promise<Engine> => {
  const addresses =
    engine === undefined ? usualSockets(home).map((path) => `unix://${path}`) : [engine];
  if (addresses.length === 0) {
    throw new AppError('unavailable', 'no Docker engine: there is no socket at the usual places');
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

/** Whether the engine refused with this HTTP status. */
export const isStatus = (error: unknown, ...statuses: number[]): boolean =>
  error instanceof Error &&
  'statusCode' in error &&
  statuses.some((status) => error.statusCode === status);

/** Words for a refusal of the engine; what it was asked to do comes first. */
export const engineRefusal = (what: string, cause: unknown): AppError =>
  cause instanceof AppError ? cause : new AppError('unavailable', `Docker: ${what}`, { cause });
