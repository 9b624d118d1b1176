/** Step 10: everything stops, and nothing of it is left on the machine. */

import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { Env } from '#runtime/env.ts';
import { listContainers } from '../../up/docker-engine.ts';
import { portProblem } from '../../up/free-port.ts';
import { commandLine, findProcesses } from '../../up/processes.ts';
import type { Up } from '../../up/up.ts';
import { expectEqual } from '../expect.ts';
import type { Step } from '../timeline.ts';

/** What an installation left behind, each as a text. */
const findLeftOvers = async (up: Up, env: Env): Promise<string[]> => {
  const { installation } = up.secrets;
  const pids = new Set([...findProcesses(installation), ...findProcesses(up.folder.path)]);
  const containers = up.runtime.runtime === 'docker' ? await listContainers(env, installation) : [];
  const port = Number(new URL(up.url).port);
  const problem = await portProblem(port);
  return [
    ...[...pids].map((pid) => `process ${pid} (${commandLine(pid)})`),
    ...containers.map((name) => `container ${name}`),
    ...(problem === undefined ? [] : [`port ${port} (${problem})`]),
    ...(existsSync(up.folder.path) ? [`folder ${up.folder.path}`] : []),
  ];
};

export const stopEverything = async (step: Step, up: Up, env: Env): Promise<void> => {
  step.tell('stopping the service');
  await up.stop();
  await rm(up.folder.path, { recursive: true, force: true });
  expectEqual('what is left', await findLeftOvers(up, env), []);
  step.note('no container, process, port or folder of it is left');
};
