/**
 * Measures the processor time of a tool call, by program, while many sessions are busy. It determines how many calls a
 * machine answers in a second, and hardly depends on other work of the machine. The floor is two bare commits.
 */

import { close } from '../../test/support/control/sessions.ts';
import type { Network } from '../../test/support/programs/network.ts';
import { callEach, openNotes } from './busy-sessions.ts';
import type { Figure } from './figure.ts';
import { startCommitter } from './floor.ts';
import { readProcessorTime } from './processor-time.ts';

const sessions = 16;
/** Number of calls after which the hosts' hot code is compiled. */
const warmUpCalls = 400;
const measuredCalls = 200;
const commits = 1_000;

const programs = ['host', 'control', 'postgres', 'client'] as const;
type Cost = Record<(typeof programs)[number], number>;

const readCost = (network: Network, server: { pid: number }): Cost => {
  const roots = [network.control.pid, server.pid, network.orchestrator.pid, process.pid];
  const [control, postgres, orchestrator, client] = readProcessorTime(roots);
  return {
    host: orchestrator?.startedMs ?? 0,
    control: (control?.ownMs ?? 0) + (control?.startedMs ?? 0),
    postgres: (postgres?.ownMs ?? 0) + (postgres?.startedMs ?? 0),
    client: client?.ownMs ?? 0,
  };
};

const commitMs = async (databaseUrl: string, server: { pid: number }): Promise<number> => {
  const committer = await startCommitter(databaseUrl);
  const read = (): number =>
    readProcessorTime([committer.pid, server.pid])
      .map(({ ownMs, startedMs }) => ownMs + startedMs)
      .reduce((sum, ms) => sum + ms, 0);
  try {
    await committer.commit(commits);
    const before = read();
    await committer.commit(commits);
    return (read() - before) / commits;
  } finally {
    await committer.end();
  }
};

const figure = (name: string, value: number, floor: number | null = null): Figure => ({
  ...{ name, value, floor, unit: 'ms', peer: null, target: null, better: 'lower' },
});

/** Measures the cost; no other program may use the database's server meanwhile. */
export const benchCallCost = async (
  network: Network,
  databaseUrl: string,
  server: { pid: number },
): Promise<Figure[]> => {
  const ids = await openNotes(network, sessions);
  await callEach(network, ids, warmUpCalls);
  const before = readCost(network, server);
  await callEach(network, ids, measuredCalls);
  const after = readCost(network, server);
  await Promise.all(ids.map((id) => close(network.client, id)));
  const each = programs.map(
    (name) => [name, (after[name] - before[name]) / (sessions * measuredCalls)] as const,
  );
  const served = each.filter(([name]) => name !== 'client');
  const total = served.reduce((sum, [, ms]) => sum + ms, 0);
  return [
    figure('call.cpu', total, 2 * (await commitMs(databaseUrl, server))),
    ...each.map(([name, ms]) => figure(`call.cpu.${name}`, ms)),
  ];
};
