/**
 * The vendors' clients that are not npm packages. Python's are installed once into the user's
 * cache, from `requirements.txt` or another list beside it. Go's is built from `go.mod` by the Go
 * on this machine, which has its own cache. Those files pin versions and digests. If a client is
 * unavailable, its tests print a line with the reason.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { describeError } from '#domain/error.ts';

const run = promisify(execFile);
const here = import.meta.dirname;

/** Command line and environment of a client's program. */
export type Program = { command: string; args: string[]; env: NodeJS.ProcessEnv };
export type Missing = { missing: string };

const tell = (what: string, error: unknown): Missing => {
  const said = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : '';
  const cause = said === '' ? describeError(error).split('\n')[0] : said.split('\n').at(-1);
  const missing = `${what}: ${cause?.slice(0, 200)}`;
  console.info(`skipped, as there is no ${missing}`);
  return { missing };
};

const pip = ['-m', 'pip', '--quiet', '--disable-pip-version-check', 'install', '--no-deps'];
const strictly = ['--require-hashes', '--only-binary', ':all:', '--root-user-action', 'ignore'];

/**
 * Installs into a temporary folder and renames it, because concurrent runs may look for the final
 * one.
 */
const install = async (requirements: string, folder: string): Promise<void> => {
  await mkdir(dirname(folder), { recursive: true });
  const made = await mkdtemp(`${folder}.`);
  try {
    await run('python3', [...pip, ...strictly, '--target', made, '-r', requirements]);
    await rename(made, folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    });
  } finally {
    await rm(made, { recursive: true, force: true });
  }
};

/** Returns the environment in which `python3` has the packages of one list in `python/`. */
const findPackages = async (list: string): Promise<{ env: NodeJS.ProcessEnv } | Missing> => {
  const requirements = join(here, `python/${list}.txt`);
  try {
    const { stdout: version } = await run('python3', ['--version']);
    const digest = createHash('sha256')
      .update(version)
      .update(await readFile(requirements));
    const folder = join(homedir(), '.cache/svc/test-clients', digest.digest('hex').slice(0, 16));
    if (!existsSync(folder)) await install(requirements, folder);
    return { env: { ...process.env, PYTHONPATH: folder, PYTHONDONTWRITEBYTECODE: '1' } };
  } catch (error) {
    return tell(`Python with the packages of test/contract/clients/python/${list}.txt`, error);
  }
};

const packages = new Map<string, ReturnType<typeof findPackages>>();

/**
 * Returns the command for a program of `python/`, or for a module after `-m`, with the packages of
 * a list.
 */
export const findPythonWith = async (
  list: string,
  ...args: string[]
): Promise<Program | Missing> => {
  const finding = packages.get(list) ?? findPackages(list);
  packages.set(list, finding);
  const found = await finding;
  return 'missing' in found ? found : { command: 'python3', args, ...found };
};

/** Like `findPythonWith`, with the packages of `requirements.txt`. */
export const findPython = (...args: string[]): Promise<Program | Missing> =>
  findPythonWith('requirements', ...args);

/** Builds the Go client. The caller removes its folder. */
export const findGo = async (): Promise<(Program & { folder: string }) | Missing> => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-go-client-'));
  const command = join(folder, 'client');
  const env = { ...process.env, PATH: `${process.env.PATH}:/usr/local/go/bin` };
  try {
    const flags = ['build', '-mod=readonly', '-buildvcs=false', '-o', command, '.'];
    await run('go', flags, { cwd: join(here, 'go'), env });
    return { command, args: [], env, folder };
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    return tell('Go with the modules of test/contract/clients/go', error);
  }
};
