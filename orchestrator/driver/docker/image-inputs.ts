/**
 * What the world-host image is made of: the shared libraries, the host program, and the packages that
 * these import. The image's tag is a hash of exactly that, and of what bundles the host, so an image is
 * built anew when, and only when, something in it has changed.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { closePackages, importedPackages, type LockFile } from './packages.ts';

export const imageRepository = 'svc-world-host';

const folders = [
  'src/domain',
  'src/language',
  'src/store',
  'src/wire',
  'src/runtime',
  'world-host-image',
];
const singleFiles = ['package.json'];
/** How the host is bundled, and by what. */
const bundling = join(import.meta.dirname, 'image-context.ts');
const bundler = 'node_modules/rolldown';
/** Not in the image: tests and byte code. */
const isLeftOut = (path: string): boolean => /\.test\.ts$|__pycache__|\.pyc$/.test(path);
const tagLength = 16;

export type ImageInputs = {
  /** `svc-world-host:<hash>`. */
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

/** Reads the tree at `root`. `baseImage` counts as an input when it is given. */
export const readImageInputs = async (
  root: string,
  baseImage: string | undefined,
): Promise<ImageInputs> => {
  const nested = await Promise.all(folders.map((folder) => listFiles(root, folder)));
  const paths = [...nested.flat(), ...singleFiles].sort();
  const contents = await Promise.all(paths.map((path) => readFile(join(root, path))));
  const lock = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8')) as LockFile;
  const imported = contents.flatMap((content, index) =>
    /\.m?ts$/.test(paths[index] ?? '') ? importedPackages(content.toString('utf8')) : [],
  );
  const packages = closePackages(lock, new Set(imported)).filter(({ place }) =>
    existsSync(join(root, place)),
  );
  const { version } = lock.packages[bundler] ?? {};
  const hash = createHash('sha256').update(
    JSON.stringify([paths, packages, version ?? null, baseImage ?? null]),
  );
  for (const content of [...contents, await readFile(bundling)])
    hash.update(createHash('sha256').update(content).digest());
  return {
    image: `${imageRepository}:${hash.digest('hex').slice(0, tagLength)}`,
    context: [...paths, ...packages.map(({ place }) => place)],
  };
};
