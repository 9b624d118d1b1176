/**
 * Builds an image from the source tree unless one with its tag exists. After a build, images of earlier source trees
 * are removed. The removal spares images that a container uses, and new ones that another checkout may be about to use.
 */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { AppError, describeError } from '#domain/error.ts';
import { type Engine, isStatus } from '../engine/engine.ts';
import { followStream } from '../engine/streams.ts';
import { findBaseImage, isPresent, pull } from './base-image.ts';
import { layOutImage } from './image-context.ts';
import { type ImageInputs, isHashTag } from './image-inputs.ts';
import type { MakeOptions } from './make-options.ts';

export type ImageOptions = {
  /** Root of the source tree. */
  root: string;
  inputs: ImageInputs;
  /** Base image that the operator names; if undefined, the first base that can be pulled or made. */
  baseImage: string | undefined;
};

const shownLines = 5;
const keptMs = 60 * 60_000;
const stepPattern = /^Step (\d+)\/(\d+) : (\w+)/;

const oneLine = (text: string): string =>
  stripVTControlCharacters(text).replaceAll(/\s+/g, ' ').trim();

const removeOld = async ({ docker }: Engine, repository: string): Promise<void> => {
  const images = await docker.listImages({ filters: { reference: [repository] } });
  const old = images.filter(({ Created }) => Date.now() - Created * 1000 > keptMs);
  for (const tag of old.flatMap(({ RepoTags }) => RepoTags ?? []).filter(isHashTag)) {
    try {
      await docker.getImage(tag).remove();
    } catch (error) {
      if (!isStatus(error, 404, 409)) throw error; // gone already, or in use
    }
  }
};

const build = async (
  { streams }: Engine,
  { root, inputs }: ImageOptions,
  base: string,
  { onProgress, signal }: MakeOptions,
): Promise<void> => {
  const output: string[] = [];
  const folder = await mkdtemp(join(tmpdir(), 'svc-image-'));
  try {
    await layOutImage(root, inputs, folder);
    const stream = await streams.buildImage(
      { context: folder, src: await readdir(folder) },
      {
        t: inputs.image,
        dockerfile: inputs.recipe.dockerfile,
        buildargs: { BASE_IMAGE: base },
        rm: true,
        forcerm: true,
        abortSignal: signal,
      },
    );
    await followStream(stream, (text) => {
      output.push(text);
      const [, step, steps, instruction] = stepPattern.exec(text) ?? [];
      if (step !== undefined) onProgress(`image step ${step} of ${steps}: ${instruction}`);
    });
  } catch (error) {
    signal.throwIfAborted();
    const last = oneLine(output.slice(-shownLines).join(' '));
    const reason = `${oneLine(describeError(error))}; before that: ${last}`;
    throw new AppError('unavailable', `${inputs.image} cannot be built: ${reason}`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

/** Builds the image unless it exists. */
export const ensureImage = async (
  engine: Engine,
  options: ImageOptions,
  preparing: MakeOptions,
): Promise<void> => {
  const { root, baseImage } = options;
  const { image, recipe } = options.inputs;
  if (await isPresent(engine, image)) return;
  const base = await findBaseImage(engine, { root, recipe, wanted: baseImage }, preparing);
  preparing.onProgress(`building ${image} on ${base}`);
  await build(engine, options, base, preparing);
  await removeOld(engine, recipe.repository);
};

/** Adds a name to an image. */
export const tagImage = async ({ docker }: Engine, image: string, name: string): Promise<void> => {
  const split = name.lastIndexOf(':');
  await docker.getImage(image).tag({ repo: name.slice(0, split), tag: name.slice(split + 1) });
};

/** Pulls an image that an operator names unless it exists. Throws `unavailable` with the reason. */
export const pullImage = async (
  engine: Engine,
  image: string,
  preparing: MakeOptions,
): Promise<void> => {
  if (await isPresent(engine, image)) return;
  const refusal = await pull(engine, image, preparing);
  if (refusal === undefined) return;
  const message = `the image ${image} is not on the Docker engine and cannot be pulled: ${refusal}`;
  throw new AppError('unavailable', message);
};
