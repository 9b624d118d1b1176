/**
 * Installs the packages of the peers. They are many megabytes and no dependency of the product, so they have a
 * manifest and a lock of their own in `peers/`, and are installed when a figure needs them.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const peersManifest = fileURLToPath(new URL('./peers/package.json', import.meta.url));
export const peersFolder = dirname(peersManifest);

/** File that npm writes last. */
const installed = join(peersFolder, 'node_modules', '.package-lock.json');

const isInstalled = async (): Promise<boolean> => {
  if (!existsSync(installed)) return false;
  const [lock, done] = await Promise.all([
    stat(join(peersFolder, 'package-lock.json')),
    stat(installed),
  ]);
  return done.mtimeMs >= lock.mtimeMs;
};

/** Installs the packages of the lock file, unless they are installed. Throws when npm fails. */
export const installPeers = async (say: (line: string) => void): Promise<void> => {
  if (await isInstalled()) return;
  say('installing the peers (about 130 MB, once): npm ci in tools/bench/peers');
  const npm = spawn(
    'npm',
    ['ci', '--ignore-scripts', '--no-fund', '--no-audit', '--loglevel=error'],
    {
      cwd: peersFolder,
      stdio: ['ignore', 2, 2],
    },
  );
  const [code] = await once(npm, 'exit');
  if (code !== 0) throw new Error(`npm ci in ${peersFolder} ended with ${code}`);
};
