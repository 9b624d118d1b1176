/**
 * Asks a Docker engine over HTTP for its version and for the containers of an installation. All other work with
 * containers is done by the orchestrator.
 */
import { existsSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import type { Env } from '#runtime/env.ts';

export type EngineAnswer = { answers: true; version: string } | { answers: false; why: string };

type Target = { address: string; options: { socketPath: string } | { host: string; port: number } };

const askMs = 3_000;

/** Returns the address of the engine: `DOCKER_HOST`, or else one of the usual sockets. */
const findTarget = (env: Env): Target | { why: string } => {
  const address = env.DOCKER_HOST?.trim() || usualAddress(env);
  if (!URL.canParse(address)) return { why: `DOCKER_HOST is "${address}", not a URL` };
  const url = new URL(address);
  if (url.protocol === 'unix:') return { address, options: { socketPath: url.pathname } };
  if (url.protocol === 'tcp:' || url.protocol === 'http:') {
    return { address, options: { host: url.hostname, port: Number(url.port || 2375) } };
  }
  return { why: `DOCKER_HOST is "${address}"; only unix:// and tcp:// are supported` };
};

const usualAddress = (env: Env): string => {
  const system = '/var/run/docker.sock';
  const own = join(env.HOME ?? '/', '.docker', 'run', 'docker.sock');
  return `unix://${!existsSync(system) && existsSync(own) ? own : system}`;
};

const ask = (target: Target, path: string): Promise<unknown> =>
  new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(askMs);
    const asked = request({ ...target.options, path, signal }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        if (response.statusCode !== 200)
          reject(new Error(`it answers with status ${response.statusCode}`));
        else resolve(JSON.parse(Buffer.concat(chunks).toString('utf8')));
      });
    });
    asked.on('error', (error) =>
      reject(signal.aborted ? new Error('it did not answer within 3 s') : error),
    );
    asked.end();
  });

const reasonOf = (error: unknown): string => {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT') return 'its socket does not exist';
  if (code === 'ECONNREFUSED') return 'nothing listens at its address';
  if (code === 'EACCES') return 'this user may not use its socket';
  return message;
};

/** Returns the version of the engine, or the reason why it does not answer. Never throws. */
export const probeEngine = async (env: Env): Promise<EngineAnswer> => {
  const target = findTarget(env);
  if ('why' in target) return { answers: false, why: target.why };
  try {
    const { Version } = (await ask(target, '/version')) as { Version?: unknown };
    return { answers: true, version: String(Version ?? 'unknown') };
  } catch (error) {
    return { answers: false, why: `${target.address}: ${reasonOf(error)}` };
  }
};

const labelOf = (installation: string): string => `svc.installation=${installation}`;

/**
 * Returns the names of an installation's containers, running or ended; an empty list if the engine's address cannot be
 * used.
 */
export const listContainers = async (env: Env, installation: string): Promise<string[]> => {
  const target = findTarget(env);
  if ('why' in target) return [];
  const filters = JSON.stringify({ label: [labelOf(installation)] });
  const path = `/containers/json?all=1&filters=${encodeURIComponent(filters)}`;
  const found = (await ask(target, path)) as { Names: string[] }[];
  return found.map(({ Names }) => (Names[0] ?? '').replace(/^\//, ''));
};

/** Returns true if the network of an installation exists. */
const hasNetwork = async (env: Env, installation: string): Promise<boolean> => {
  const target = findTarget(env);
  if ('why' in target) return false;
  const filters = JSON.stringify({ label: [labelOf(installation)] });
  const path = `/networks?filters=${encodeURIComponent(filters)}`;
  return ((await ask(target, path)) as unknown[]).length > 0;
};

const removals = (installation: string): string => {
  const listed = `docker ps --all --quiet --filter label=${labelOf(installation)}`;
  return `  ${listed} | xargs -r docker rm --force --volumes\n  docker network rm svc-${installation}`;
};

/**
 * Describes what an engine still has of an ended installation, with the commands to remove it; undefined if it has
 * nothing. Never throws: if the engine does not answer, the text says that something may remain.
 */
export const describeLeftOnEngine = async (
  env: Env,
  installation: string,
): Promise<string | undefined> => {
  const remove = `the next svc up on this folder removes it; to remove it now, run\n${removals(installation)}`;
  try {
    const [names, isThere] = await Promise.all([
      listContainers(env, installation),
      hasNetwork(env, installation),
    ]);
    if (names.length === 0 && !isThere) return undefined;
    const containers = names.length === 1 ? '1 container' : `${names.length} containers`;
    const network = isThere ? ` and the network svc-${installation}` : '';
    return `remains on Docker: ${containers}${network}; ${remove}`;
  } catch (error) {
    return `Docker did not say what remains there (${reasonOf(error)}); ${remove}`;
  }
};
