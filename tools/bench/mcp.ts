/**
 * Compares a tool call by the MCP server of a session with the same call by `…/calls`: the latency from client to
 * client, and the control plane's processor time. The two ways alternate, a few calls at a time, over kept connections,
 * so that other work of the machine affects both. The time that the official client adds on its own side is reported as
 * well.
 */
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { basicAuthorization } from '#wire/client.ts';
import { bothTypes, connectMcp } from '../../test/support/control/mcp.ts';
import { close, open } from '../../test/support/control/sessions.ts';
import type { Network } from '../../test/support/programs/network.ts';
import { type Figure, median, sample } from './figure.ts';
import { readProcessorTime } from './processor-time.ts';

const turns = 20;
const callsATurn = 25;
const warmUp = 50;

const tool = { name: 'list_notes', input: { folder_id: 1 } };

/** Posts JSON and returns the answer, or throws. */
const post = async (
  url: string,
  headers: Record<string, string>,
  body: object,
): Promise<Record<string, unknown>> => {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.status} ${text}`);
  return JSON.parse(text) as Record<string, unknown>;
};

type Way = { work: () => Promise<unknown>; samples: number[]; processorMs: number };

/** Runs each way in turn, and reads the processor time of the control plane's process around each turn. */
const takeTurns = async (pid: number, ways: readonly Way[]): Promise<void> => {
  const taken = (): number => readProcessorTime([pid])[0]?.ownMs ?? 0;
  for (const { work } of ways) await sample(warmUp, work);
  for (let turn = 0; turn < turns; turn += 1) {
    for (const way of ways) {
      const before = taken();
      way.samples.push(...(await sample(callsATurn, way.work)));
      way.processorMs += taken() - before;
    }
  }
};

const newWay = (work: Way['work']): Way => ({ work, samples: [], processorMs: 0 });

const waysOf = (network: Network, sessionId: string, client: Client) => {
  const { url, publicKey, secretKey } = network;
  const authorization = basicAuthorization(publicKey, secretKey);
  const session = `${url}/api/public/world-sessions/${sessionId}`;
  let id = 0;
  const byCalls = newWay(async () => {
    const body = { kind: 'tool', ...tool };
    const call = await post(`${session}/calls?wait=60`, { authorization }, body);
    if (call.state !== 'succeeded') throw new Error(`the call is ${call.state}`);
  });
  const byMcp = newWay(async () => {
    id += 1;
    const params = { name: tool.name, arguments: tool.input };
    const headers = { authorization, accept: bothTypes, 'mcp-protocol-version': '2025-11-25' };
    const body = { jsonrpc: '2.0', id, method: 'tools/call', params };
    const { result } = await post(`${session}/mcp`, headers, body);
    if ((result as { isError?: boolean } | undefined)?.isError !== undefined)
      throw new Error(JSON.stringify(result));
  });
  const byClient = newWay(() => client.callTool({ name: tool.name, arguments: tool.input }));
  return { byCalls, byMcp, byClient };
};

/** Measures on a session of its own. */
export const benchMcp = async (network: Network): Promise<Figure[]> => {
  const session = await open(network.client, { slug: 'notes', reuseWarm: true });
  const { url = '', token = '' } = session.surfaces.mcp ?? {};
  const client = await connectMcp(url, `Bearer ${token}`);
  const ways = waysOf(network, session.id, client);
  await takeTurns(network.control.pid, Object.values(ways));
  await client.close();
  await close(network.client, session.id);
  const [calls, mcp, official] = [ways.byCalls, ways.byMcp, ways.byClient].map(({ samples }) =>
    median(samples),
  ) as [number, number, number];
  const each = ({ processorMs }: Way): number => processorMs / (turns * callsATurn);
  const figure = (name: string, value: number, floor: number | null): Figure => ({
    ...{ name, value, unit: 'ms', floor, peer: null, target: null, better: 'lower' },
  });
  return [
    { ...figure('mcp.call.p50', mcp, calls), target: calls * 1.2 },
    { ...figure('mcp.call.ratio', mcp / calls, null), unit: 'x', target: 1.2 },
    figure('mcp.call.official_client.p50', official, calls),
    figure('mcp.call.processor', each(ways.byMcp), each(ways.byCalls)),
  ];
};
