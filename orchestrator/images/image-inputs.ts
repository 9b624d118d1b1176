/**
 * Determines the inputs of an image: the folders of its recipe, and the packages that these import. The image's tag is
 * a hash of exactly these inputs and of the host's bundler, so an image is rebuilt when, and only when, one of them
 * has changed.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type ImageRecipe, worldHostImage } from './image-recipes.ts';
import { closePackages, importedPackages, type LockFile } from './packages.ts';

const singleFiles = ['package.json'];
/** Files of the bundling step, which count as inputs. */
const bundling = join(import.meta.dirname, 'image-context.ts');
const bundler = 'node_modules/rolldown';
/** Returns true for files that images leave out: tests and byte code. */
const isLeftOut = (path: string): boolean => /\.test\.ts$|__pycache__|\.pyc$/.test(path);
const tagLength = 16;

export type ImageInputs = {
  recipe: ImageRecipe;
  /** Name and tag, for example `svc-world-host:<hash>`. */
  image: string;
  /** Files and package folders that go into the image, relative to the root of the tree. */
  context: string[];
};

const listFiles = async (root: string, folder: string): Promise<string[]> => {
  const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .filter((path) => !isLeftOut(path));
};

/** Returns true if an image's tag is a hash of its inputs, and not a name that an operator chose. */
export const isHashTag = (image: string): boolean =>
  new RegExp(`:[0-9a-f]{${tagLength}}$`).test(image);

/** Reads the inputs of an image from the tree at `root`. `baseImage` counts as an input when it is given. */
export const readImageInputs = async (
  root: string,
  baseImage: string | undefined,
  recipe: ImageRecipe = worldHostImage,
): Promise<ImageInputs> => {
  const { repository, folders, omitted, without, isBundled } = recipe;
  const nested = await Promise.all(folders.map((folder) => listFiles(root, folder)));
  const isOmitted = (path: string): boolean =>
    omitted.some((folder) => path.startsWith(`${folder}/`));
  const kept = nested.flat().filter((path) => !isOmitted(path));
  const paths = [...kept, ...singleFiles].sort();
  const contents = await Promise.all(paths.map((path) => readFile(join(root, path))));
  const lock = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8')) as LockFile;
  const imported = contents.flatMap((content, index) =>
    /\.m?ts$/.test(paths[index] ?? '') ? importedPackages(content.toString('utf8')) : [],
  );
  const names = new Set(
    [...imported, ...recipe.packages].filter((name) => !without.includes(name)),
  );
  const packages = closePackages(lock, names).filter(({ path }) => existsSync(join(root, path)));
  const { version } = isBundled ? (lock.packages[bundler] ?? {}) : {};
  const hash = createHash('sha256').update(
    JSON.stringify([paths, packages, version ?? null, baseImage ?? null]),
  );
  const hashed = isBundled ? [...contents, await readFile(bundling)] : contents;
  for (const content of hashed) hash.update(createHash('sha256').update(content).digest());
  return {
    recipe,
    image: `${repository}:${hash.digest('hex').slice(0, tagLength)}`,
    context: [...paths, ...packages.map(({ path }) => path)],
  };
};
