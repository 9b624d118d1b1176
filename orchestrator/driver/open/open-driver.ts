/** Opens the driver that the configuration names. */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findEngine } from '../../engine/engine.ts';
import { ensureImage, tagImage } from '../../images/image.ts';
import { readImageInputs } from '../../images/image-inputs.ts';
import {
  browserImage,
  type ImageRecipe,
  imageRecipes,
  worldHostImage,
} from '../../images/image-recipes.ts';
import { DockerDriver } from '../docker/docker-driver.ts';
import type { Driver, PrepareOptions } from '../driver.ts';
import { compileHost, layOutHost } from '../process/laid-out-host.ts';
import { ProcessDriver } from '../process/process-driver.ts';
import { findPython } from '../process/python.ts';
import { findSandbox } from '../process/sandbox.ts';
import type {
  DockerConfig,
  DriverOptions,
  ImageBuild,
  ProcessConfig,
  RuntimeConfig,
} from './runtime-config.ts';

const root = join(import.meta.dirname, '../../..');

const openDocker = async (config: DockerConfig, options: DriverOptions): Promise<Driver> => {
  const { baseImage } = config;
  const engine = await findEngine(config);
  /** Returns the image of a kind of host, with its builder unless the operator names an image. */
  const sourceOf = async (named: string | undefined, recipe: ImageRecipe) => {
    if (named !== undefined) return { image: named, makers: {} };
    const inputs = await readImageInputs(root, baseImage, recipe);
    const make = (preparing: PrepareOptions) =>
      ensureImage(engine, { root, inputs, baseImage }, preparing);
    return { image: inputs.image, makers: { [inputs.image]: make } };
  };
  const world = await sourceOf(config.image, worldHostImage);
  const browser = await sourceOf(config.browserImage, browserImage);
  return new DockerDriver({
    ...options,
    engine,
    images: { world: world.image, browser: browser.image },
    makers: { ...world.makers, ...browser.makers },
  });
};

const openProcess = async (config: ProcessConfig, options: DriverOptions): Promise<Driver> => {
  const { python, path, sandbox, chromium } = config;
  const inputs = await readImageInputs(root, undefined);
  const temporaryDir = tmpdir();
  const there = await findPython(python, path);
  const program = there?.executable;
  const makeProgram = () => layOutHost({ root, inputs, temporaryDir, python: program, path });
  const laidOut = await makeProgram();
  const visible = { root: laidOut.folder, code: ['.'], python: there, path };
  const found = await findSandbox(sandbox, visible);
  return new ProcessDriver({
    ...options,
    python,
    path,
    release: inputs.image,
    sandbox: found,
    compiled: await compileHost(laidOut, found, path),
    temporaryDir,
    command: [laidOut.main],
    browser: { command: [join(root, 'browser-image/main.ts')], chromium },
    makeProgram,
  });
};

/** Opens the driver of a runtime. Throws `unavailable` when its engine does not answer. */
export const openDriver = async (
  config: RuntimeConfig,
  options: DriverOptions,
): Promise<Driver> => {
  if (config.runtime === 'kubernetes') {
    // Imported only here, on demand: its client library takes half a second and 90 MB of memory.
    const { openKubernetes } = await import('./open-kubernetes.ts');
    return openKubernetes(config, options);
  }
  return config.runtime === 'docker' ? openDocker(config, options) : openProcess(config, options);
};

const build = async (
  { baseImage, names, ...choice }: ImageBuild,
  recipe: ImageRecipe,
  preparing: PrepareOptions,
): Promise<string> => {
  const engine = await findEngine(choice);
  const inputs = await readImageInputs(root, baseImage, recipe);
  await ensureImage(engine, { root, inputs, baseImage }, preparing);
  if (names === undefined) return inputs.image;
  const name = names(recipe.repository);
  await tagImage(engine, inputs.image, name);
  return name;
};

/** Builds the world-host image from the source tree and returns its name. */
export const buildImage = (config: ImageBuild, preparing: PrepareOptions): Promise<string> =>
  build(config, worldHostImage, preparing);

/** Builds every image from the source tree and returns their names. */
export const buildImages = async (
  config: ImageBuild,
  preparing: PrepareOptions,
): Promise<string[]> => {
  const images: string[] = [];
  for (const recipe of imageRecipes) images.push(await build(config, recipe, preparing));
  return images;
};
