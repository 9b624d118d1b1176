/**
 * Chooses the base of an image: a stock Node image if it can be pulled or is present, else an equivalent one made from
 * Debian packages by images/build-base-image.sh, for installations that reach no registry.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError, describeError } from '#domain/error.ts';
import { type Engine, isStatus } from '../engine/engine.ts';
import { followStream } from '../engine/streams.ts';
import { buildDebianBase, debianBaseName } from './debian-base.ts';
import type { ImageRecipe } from './image-recipes.ts';
import type { MakeOptions } from './make-options.ts';

export const isPresent = async ({ docker }: Engine, image: string): Promise<boolean> => {
  try {
    await docker.getImage(image).inspect();
    return true;
  } catch (error) {
    if (isStatus(error, 404)) return false;
    throw error;
  }
};

/** Reads the base image that the Dockerfile names. */
const stockImage = async (root: string, { dockerfile }: ImageRecipe): Promise<string> => {
  const text = await readFile(join(root, dockerfile), 'utf8');
  const [, name] = /^ARG BASE_IMAGE=(\S+)$/m.exec(text) ?? [];
  if (name === undefined) throw new AppError('internal', `${dockerfile} names no BASE_IMAGE`);
  return name;
};

/** Pulls an image; returns why that failed, or undefined when the image is present. */
export const pull = async (
  { streams }: Engine,
  image: string,
  { onProgress, signal }: MakeOptions,
): Promise<string | undefined> => {
  onProgress(`pulling ${image}`);
  try {
    await followStream(await streams.pull(image, { abortSignal: signal }), () => undefined);
    return undefined;
  } catch (error) {
    signal.throwIfAborted();
    return describeError(error);
  }
};

/** Image of the tree at `root` that needs a base, and the base that the operator names. */
export type BaseWish = { root: string; recipe: ImageRecipe; wanted: string | undefined };

/**
 * Returns a base image, which is then present on the engine. If the operator names one, it is that image. Otherwise it
 * is the first of these that is available: the stock image if present, an image built before, the stock image pulled,
 * an image built now. Throws `unavailable` with the reason of each failure.
 */
export const findBaseImage = async (
  engine: Engine,
  { root, recipe, wanted }: BaseWish,
  preparing: MakeOptions,
): Promise<string> => {
  const stock = wanted ?? (await stockImage(root, recipe));
  if (await isPresent(engine, stock)) return stock;
  const { base } = recipe;
  const built = await debianBaseName(root, base);
  if (wanted === undefined && (await isPresent(engine, built))) return built;
  const refusal = await pull(engine, stock, preparing);
  if (refusal === undefined) return stock;
  if (wanted !== undefined) {
    throw new AppError('unavailable', `base image ${stock} cannot be pulled: ${refusal}`);
  }
  preparing.onProgress(`${stock} cannot be pulled; building ${built} from Debian packages`);
  try {
    await buildDebianBase(engine, root, { base, name: built }, preparing);
  } catch (cause) {
    preparing.signal.throwIfAborted();
    const message = `no base image: ${stock} cannot be pulled (${refusal}), nor one be built`;
    throw new AppError('unavailable', message, { cause });
  }
  return built;
};
