/**
 * What a tool call costs in processor time, by program, where many sessions are busy: how many a machine answers
 * in a second follows from that, and it hardly moves with what else the machine does. The floor is two bare commits.
 */
import type { Network } from '../support/network.ts';
import { call, close, open } from '../support/sessions.ts';
import type { Figure } from './figure.ts';
import { startCommitter } from './floor.ts';
import { readProcessorTime } from './processor-time.ts';

const sessions = 16;
const warmUpCalls = 60;
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

const callMany = async (network: Network, ids: readonly string[], times: number): Promise<void> => {
  const input = { folder_id: 1 };
  const callInTurn = async (sessionId: string): Promise<void> => {
    for (let done = 0; done < times; done += 1) {
      const answer = await call(network.client, sessionId, {
        kind: 'tool',
        name: 'list_notes',
        input,
      });
      if (answer.state !== 'succeeded') throw new Error(`call ${answer.id} is ${answer.state}`);
    }
  };
  await Promise.all(ids.map(callInTurn));
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

/** Measures it; nobody else uses the server of the database meanwhile. */
export const benchCallCost = async (
  network: Network,
  databaseUrl: string,
  server: { pid: number },
): Promise<Figure[]> => {
  const opened = Array.from({ length: sessions }, () =>
    open(network.client, { slug: 'notes', reuseWarm: true }),
  );
  const ids = (await Promise.all(opened)).map(({ id }) => id);
  await callMany(network, ids, warmUpCalls);
  const before = readCost(network, server);
  await callMany(network, ids, measuredCalls);
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
