/** Step 1: what the demo needs is there: Node, Python, PostgreSQL's binaries. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { AppError } from '#domain/error.ts';
import type { Env } from '#runtime/env.ts';
import { formatFields } from '../../print.ts';
import { findPostgresBinaries } from '../../up/postgres-binaries.ts';
import type { Step } from '../timeline.ts';

const run = promisify(execFile);
const oldestPython = [3, 11] as const;

const versionOf = async (command: string, way: string): Promise<string> => {
  try {
    const { stdout } = await run(command, ['--version']);
    return stdout.replace(/^\D*/, '').trim();
  } catch (cause) {
    throw new AppError('unavailable', `${command} does not run`, { cause, detail: { hint: way } });
  }
};

const checkPython = (version: string): void => {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isOld = major < oldestPython[0] || (major === oldestPython[0] && minor < oldestPython[1]);
  if (isOld) {
    throw new AppError('unavailable', `Python ${version} is too old`, {
      detail: { hint: `tools in Python need ${oldestPython.join('.')} or later; see SVC_PYTHON` },
    });
  }
};

export const checkTools = async (step: Step, env: Env): Promise<void> => {
  const python = env.SVC_PYTHON ?? 'python3';
  const pythonVersion = await versionOf(python, 'install Python 3.11 or later');
  checkPython(pythonVersion);
  const { postgres } = await findPostgresBinaries();
  step.note(
    formatFields([
      ['Node', process.versions.node],
      ['Python', pythonVersion],
      ['PostgreSQL', await versionOf(postgres, 'run "npm ci" again')],
    ]),
  );
};
