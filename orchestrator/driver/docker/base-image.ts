/**
 * What the world-host image is built on: a stock Node image where one can be had, else an equivalent
 * one made from Debian packages by world-host-image/build-base-image.sh, for places that reach no
 * registry.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { AppError, describeError } from '#domain/error.ts';
import type { OnProgress } from '../driver.ts';
import { type Engine, isStatus } from './engine.ts';
import { followStream } from './streams.ts';

const script = 'world-host-image/build-base-image.sh';

export const isPresent = async ({ docker }: Engine, image: string): Promise<boolean> => {
  try {
    await docker.getImage(image).inspect();
    return true;
  } catch (error) {
    if (isStatus(error, 404)) return false;
    throw error;
  }
};

/** The base image that the Dockerfile names. */
const stockImage = async (root: string): Promise<string> => {
  const dockerfile = await readFile(join(root, 'world-host-image/Dockerfile'), 'utf8');
  const [, name] = /^ARG BASE_IMAGE=(\S+)$/m.exec(dockerfile) ?? [];
  if (name === undefined) throw new AppError('internal', 'the Dockerfile names no BASE_IMAGE');
  return name;
};

/** Pulls an image; answers why it cannot be had, or undefined when it is here now. */
const pull = async (
  { streams }: Engine,
  image: string,
  onProgress: OnProgress,
): Promise<string | undefined> => {
  onProgress(`pulling ${image}`);
  try {
    await followStream(await streams.pull(image), () => undefined);
    return undefined;
  } catch (error) {
    return describeError(error);
  }
};

/** The name of the image that the script makes, which depends on the version of Node. */
const builtName = async (root: string): Promise<string> =>
  (await promisify(execFile)(join(root, script), ['name'])).stdout.trim();

/** Runs the script and hands the root file system that it writes to the engine. */
const build = async (
  { streams }: Engine,
  root: string,
  name: string,
  onProgress: OnProgress,
): Promise<void> => {
  const child = spawn(join(root, script), ['tar'], { stdio: ['ignore', 'pipe', 'pipe'] });
  const exited = once(child, 'exit');
  let lastLine = '';
  createInterface({ input: child.stderr }).on('line', (line) => {
    lastLine = line;
    if (line.startsWith('== ')) onProgress(line.slice(3));
  });
  const [repo, tag] = name.split(':');
  const imported = streams
    .importImage(child.stdout, { repo, tag })
    .then((stream) => followStream(stream, () => undefined));
  const [[code]] = await Promise.all([exited, imported]);
  if (code !== 0) throw new AppError('unavailable', `${script} failed: ${lastLine}`);
};

/**
 * A base image that is here: the one asked for, or the first that can be had of the stock image, one
 * built before, the stock image pulled, one built now. Throws `unavailable` with each way's refusal.
 */
export const findBaseImage = async (
  engine: Engine,
  root: string,
  wanted: string | undefined,
  onProgress: OnProgress,
): Promise<string> => {
  const stock = wanted ?? (await stockImage(root));
  if (await isPresent(engine, stock)) return stock;
  const built = await builtName(root);
  if (wanted === undefined && (await isPresent(engine, built))) return built;
  const refusal = await pull(engine, stock, onProgress);
  if (refusal === undefined) return stock;
  if (wanted !== undefined) {
    throw new AppError('unavailable', `base image ${stock} cannot be pulled: ${refusal}`);
  }
  onProgress(`${stock} cannot be pulled; building ${built} from Debian packages`);
  try {
    await build(engine, root, built, onProgress);
  } catch (cause) {
    const message = `no base image: ${stock} cannot be pulled (${refusal}), nor one be built`;
    throw new AppError('unavailable', message, { cause });
  }
  return built;
};
