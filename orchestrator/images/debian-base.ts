/**
 * Builds a base image from Debian packages: runs images/build-base-image.sh, which writes a root file system, and
 * imports that into the engine. The image is named last, so that no incomplete image has the name.
 */
import { type ChildProcessByStdio, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { AppError } from '#domain/error.ts';
import type { Engine } from '../engine/engine.ts';
import { followStream } from '../engine/streams.ts';
import type { BaseName } from './image-recipes.ts';
import type { MakeOptions } from './make-options.ts';

const scriptPath = 'images/build-base-image.sh';
const progressMark = '== ';

/** Returns the name of the image that the script makes; it changes with the script and the version of Node. */
export const debianBaseName = async (root: string, base: BaseName): Promise<string> =>
  (await promisify(execFile)(join(root, scriptPath), ['name', base])).stdout.trim();

type Script = ChildProcessByStdio<null, Readable, Readable>;

/** Resolves when the script has succeeded. Throws `unavailable` with the end of its output. */
const awaitScript = async (
  script: Script,
  onProgress: MakeOptions['onProgress'],
): Promise<void> => {
  let lastLine = '';
  createInterface({ input: script.stderr }).on('line', (line) => {
    if (line.startsWith(progressMark)) onProgress(line.slice(progressMark.length));
    else lastLine = line;
  });
  const [code] = await once(script, 'close');
  if (code !== 0) throw new AppError('unavailable', `${scriptPath}: ${lastLine}`);
};

/** Imports a root file system; returns the id of the unnamed image. */
const importFiles = async ({ streams }: Engine, tar: Readable): Promise<string> => {
  let id = '';
  await followStream(await streams.importImage(tar, {}), (text) => {
    id = text;
  });
  return id;
};

/** Builds the base image and names it. Throws `unavailable` with the script's or the engine's reason. */
export const buildDebianBase = async (
  engine: Engine,
  root: string,
  { base, name }: { base: BaseName; name: string },
  { onProgress, signal }: MakeOptions,
): Promise<void> => {
  // The script has a process group of its own, so that an interruption ends everything that it started.
  const script: Script = spawn(join(root, scriptPath), ['tar', base], {
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const endScript = (): void => {
    if (script.pid !== undefined && script.exitCode === null) process.kill(-script.pid, 'SIGTERM');
  };
  signal.addEventListener('abort', endScript, { once: true });
  const [ended, imported] = await Promise.allSettled([
    awaitScript(script, onProgress),
    importFiles(engine, script.stdout).catch((error: unknown) => {
      endScript();
      throw error;
    }),
  ]);
  signal.removeEventListener('abort', endScript);
  if (ended.status === 'fulfilled' && imported.status === 'fulfilled') {
    const [repo = name, tag = 'latest'] = name.split(':');
    await engine.docker.getImage(imported.value).tag({ repo, tag });
    return;
  }
  if (imported.status === 'fulfilled') await engine.docker.getImage(imported.value).remove();
  signal.throwIfAborted();
  throw ended.status === 'rejected' ? ended.reason : (imported as PromiseRejectedResult).reason;
};
