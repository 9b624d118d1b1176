/**
 * Lays out the world host for the process runtime: bundled as in its image, once for each release, and read-only, as
 * all hosts share it. In a sandbox it is precompiled as well; without a sandbox, code of a world could write to the
 * compiled code.
 *
 * The layout may be interrupted at any point, repeated, and run by several processes at once: a folder appears whole,
 * under its name.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { layOutImage } from '../../images/image-context.ts';
import type { ImageInputs } from '../../images/image-inputs.ts';
import { makeInstallationFolder } from './host-folder.ts';
import { listProcesses } from './process-table.ts';
import { type Sandbox, sandboxed } from './sandbox.ts';

const run = promisify(execFile);

/** Age at which a release is removed if it was not used since and no process runs from it, in milliseconds. */
const keptMs = 24 * 60 * 60 * 1000;

export type LaidOutHost = {
  /** Folder of the release: the only code of this machine that a host sees. */
  folder: string;
  main: string;
};

export type LayOut = {
  /** Source tree of the hosts, and the inputs of their image. */
  root: string;
  inputs: Pick<ImageInputs, 'image' | 'context' | 'recipe'>;
  temporaryDir: string;
  /** Executable of Python; undefined where there is none. */
  python: string | undefined;
  /** PATH on which programs are found. */
  path: string;
};

/** Returns the folder of all releases of this user. No installation's folder can have this name (host-folder.ts). */
const releasesFolder = (temporaryDir: string): string =>
  join(temporaryDir, `svc.hosts-${userInfo().uid}`);

const isTaken = (error: unknown): boolean =>
  ['EEXIST', 'ENOTEMPTY'].includes((error as NodeJS.ErrnoException).code ?? '');

/** Renames a folder to its final name; if that exists by now, the existing one is equivalent. */
const moveTo = async (made: string, as: string): Promise<void> => {
  try {
    await rename(made, as);
  } catch (error) {
    if (!isTaken(error)) throw error;
    await remove(made);
  }
};

/** Makes a folder and everything in it writable or read-only. */
const setWritable = (folder: string, isWritable: boolean): Promise<unknown> =>
  run('chmod', ['-R', isWritable ? 'u+w' : 'a-w', folder]);

const remove = async (folder: string): Promise<void> => {
  await setWritable(folder, true);
  await rm(folder, { recursive: true, force: true });
};

const removeOld = async (releases: string, current: string): Promise<void> => {
  const commands = (await listProcesses()).map(({ command }) => command.join(' '));
  for (const name of await readdir(releases)) {
    const folder = join(releases, name);
    const changed = await stat(folder).catch(() => undefined); // another process has renamed or removed it
    const isOld = changed !== undefined && Date.now() - changed.mtimeMs > keptMs;
    const isUsed = commands.some((command) => command.includes(folder));
    if (folder !== current && isOld && !isUsed) await remove(folder);
  }
};

/** Writes Python byte code into the folders of the sources, compiled under the path that they will have. */
const compilePython = async (made: string, folder: string, { python, path }: LayOut) => {
  if (python === undefined) return;
  await run(
    python,
    ['-m', 'compileall', '-q', '-s', made, '-p', folder, join(made, 'world-host-image')],
    {
      env: { PATH: path },
    },
  );
};

const makeRelease = async (releases: string, folder: string, wanted: LayOut): Promise<void> => {
  const made = await mkdtemp(`${folder}.`);
  await layOutImage(wanted.root, wanted.inputs, made);
  await compilePython(made, folder, wanted);
  await setWritable(made, false);
  await chmod(made, 0o755); // a read-only folder cannot be renamed
  await moveTo(made, folder);
  await removeOld(releases, folder);
};

/** Lays the host out unless it exists. Throws `forbidden` when another user owns the folder's name. */
export const layOutHost = async (wanted: LayOut): Promise<LaidOutHost> => {
  const releases = releasesFolder(wanted.temporaryDir);
  await makeInstallationFolder(releases);
  const { image } = wanted.inputs;
  const tag = image.slice(image.lastIndexOf(':') + 1);
  const kind = wanted.python === undefined ? '-without-python' : '';
  const folder = join(releases, `${tag}-${process.version}${kind}`);
  if (existsSync(folder)) await utimes(folder, new Date(), new Date());
  else await makeRelease(releases, folder, wanted);
  return { folder, main: join(folder, 'world-host-image/main.mjs') };
};

/**
 * Script that loads all code of a host. A program that refuses to start without settings is compiled by then; the
 * worker ends at once, as its input is closed.
 */
const loadAll = `
"$2" --input-type=module --eval 'await import(process.argv[1])' "$1/world-host-image/program.mjs" </dev/null
true | "$2" "$1/world-host-image/usercode/typescript/worker.mts" '{}' 3<&0 4>&1 | cat
"$2" "$1/world-host-image/main.mjs" </dev/null
exit 0`;

/**
 * Precompiles a host in the sandbox that it will run in, unless that is done. Returns the folder of the compiled code;
 * undefined without a sandbox, which alone protects it from writes. `path` is the PATH on which programs are found.
 */
export const compileHost = async (
  { folder }: LaidOutHost,
  sandbox: Sandbox,
  path: string,
): Promise<string | undefined> => {
  if (sandbox.kind === 'none') return undefined;
  const compiled = join(folder, '.compiled');
  if (existsSync(compiled)) return compiled;
  const made = await mkdtemp(`${folder}.`);
  const command = ['/bin/sh', '-c', loadAll, 'sh', folder, process.execPath];
  const [shell = '', ...words] = sandboxed(sandbox, [made], command);
  await run(shell, words, { env: { PATH: path, NODE_COMPILE_CACHE: made } });
  await setWritable(made, false);
  await chmod(made, 0o755);
  await moveTo(made, compiled);
  return compiled;
};
