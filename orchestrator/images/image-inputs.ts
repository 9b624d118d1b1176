/**
 * What an image is made of: the folders of its recipe, and the packages that these import. The image's tag
 * is a hash of exactly that, and of what bundles the host, so an image is built anew when, and only when,
 * something in it has changed.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type ImageRecipe, worldHostImage } from './image-recipes.ts';
import { closePackages, importedPackages, type LockFile } from './packages.ts';

const singleFiles = ['package.json'];
/** How the host is bundled, and by what. */
const bundling = join(import.meta.dirname, 'image-context.ts');
const bundler = 'node_modules/rolldown';
/** Not in the image: tests and byte code. */
const isLeftOut = (path: string): boolean => /\.test\.ts$|__pycache__|\.pyc$/.test(path);
const tagLength = 16;

export type ImageInputs = {
  recipe: ImageRecipe;
  /** For example `svc-world-host:<hash>`. */
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

/** Whether a tag is one of these hashes, and not a name that somebody gave. */
export const isHashTag = (image: string): boolean =>
  new RegExp(`:[0-9a-f]{${tagLength}}$`).test(image);

/** Reads the tree at `root`. `baseImage` counts as an input when it is given. */
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
