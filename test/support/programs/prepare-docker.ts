/** Prepares the Docker runtime as `svc up` does, or reports why it is unavailable. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../..', import.meta.url));

export type PreparedDocker = { listen: string | null; host: string; image: string };

/** Returns true if a Docker engine answers here. */
export const dockerAnswers = async (): Promise<boolean> => {
  try {
    await run('docker', ['version', '--format', '{{.Server.Version}}'], { timeout: 10_000 });
    return true;
  } catch {
    return false;
  }
};

/** Builds images and network for an installation. Throws with the orchestrator's own message. */
export const prepareDocker = async (
  installation: string,
  { browsers = false }: { browsers?: boolean } = {},
): Promise<PreparedDocker> => {
  const { stdout } = await run(process.execPath, ['orchestrator/main.ts', 'prepare'], {
    cwd: root,
    env: {
      PATH: process.env.PATH ?? '',
      HOME: process.env.HOME ?? '',
      SVC_RUNTIME: 'docker',
      SVC_INSTALLATION: installation,
      SVC_CONTROL_URL: 'http://127.0.0.1:1',
      SVC_POOL_TOKEN: 'unused-while-preparing',
      ...(browsers ? { SVC_BROWSER_POOL_SIZE: '1' } : {}),
    },
    timeout: browsers ? 900_000 : 300_000,
  });
  const last = stdout.trim().split('\n').at(-1) ?? '{}';
  return JSON.parse(last) as PreparedDocker;
};
