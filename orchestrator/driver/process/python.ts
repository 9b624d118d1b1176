/** Finds this machine's Python, with which hosts of the process runtime run user code. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);
const probeTimeoutMs = 15_000;

/** Executable of a Python, and the folders that it loads from. */
export type Python = { executable: string; prefixes: string[] };

const script =
  'import sys; sys.version_info >= (3, 11) or sys.exit(1); print(sys.executable, sys.base_prefix, sys.prefix, sep="\\n")';

/** Finds the Python behind a command; returns undefined if it does not run, or is older than 3.11. */
export const findPython = async (
  command: string,
  searchPath: string,
): Promise<Python | undefined> => {
  try {
    const { stdout } = await run(command, ['-I', '-S', '-c', script], {
      env: { PATH: searchPath },
      timeout: probeTimeoutMs,
    });
    const [executable = '', ...prefixes] = stdout.trim().split('\n');
    return executable === '' ? undefined : { executable, prefixes };
  } catch {
    return undefined; // hosts report by themselves what they cannot run without it
  }
};
