/** Finds the Python of this machine. Hosts that are processes need it to run Python code. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { AppError } from '#domain/error.ts';
import type { Env } from '#runtime/env.ts';

const run = promisify(execFile);
const oldest = [3, 11] as const;
const probeMs = 10_000;

export const howToGetPython = 'install Python 3.11 or later, or name one in SVC_PYTHON';

const isRecent = (version: string): boolean => {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > oldest[0] || (major === oldest[0] && minor >= oldest[1]);
};

/**
 * Returns the version of the Python that hosts use. Throws `unavailable` if there is none, or only one that is too old.
 */
export const findPythonVersion = async (env: Env): Promise<string> => {
  const command = env.SVC_PYTHON ?? 'python3';
  const detail = { hint: howToGetPython };
  let version: string;
  try {
    const { stdout } = await run(command, ['--version'], {
      env: { PATH: env.PATH, HOME: env.HOME },
      timeout: probeMs,
    });
    version = stdout.replace(/^\D*/, '').trim();
  } catch (cause) {
    throw new AppError('unavailable', `"${command}" cannot be run`, { cause, detail });
  }
  if (isRecent(version)) return version;
  throw new AppError('unavailable', `"${command}" is Python ${version}, which is too old`, {
    detail,
  });
};

/** Returns a message about the consequences of a missing Python; undefined if Python is available. */
export const describeWithoutPython = async (env: Env): Promise<string | undefined> => {
  try {
    await findPythonVersion(env);
    return undefined;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return `no Python: ${error.message}. Sessions of worlds with Python code will fail, and sessions of other worlds run without isolation of user code. To change that, ${howToGetPython}, and start again`;
  }
};
