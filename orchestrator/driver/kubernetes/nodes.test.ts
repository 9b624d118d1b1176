import type { V1Node } from '@kubernetes/client-node';
import { describe, expect, it } from 'vitest';
import { createLog } from '#runtime/log.ts';
import type { Cluster } from './cluster.ts';
import { createNodes } from './nodes.ts';

const node = (name: string, cpu: string, unschedulable = false): V1Node => ({
  metadata: { name },
  spec: { unschedulable },
  status: { allocatable: { cpu } },
});

/** Creates nodes with a clock and a cluster that the test controls. */
const nodesOf = (listed: { items: V1Node[] }) => {
  const world = { now: 0, refusal: undefined as Error | undefined, asked: 0 };
  const listNode = async () => {
    world.asked += 1;
    if (world.refusal !== undefined) throw world.refusal;
    return { items: listed.items, metadata: {} };
  };
  const cluster = { core: { listNode } } as unknown as Cluster;
  return { nodes: createNodes(cluster, createLog('test', 'silent'), () => world.now), world };
};

describe('nodes', () => {
  it('have their processors, and count as cordoned from when that was first seen', async () => {
    const listed = { items: [node('large', '15890m'), node('small', '1'), node('odd', 'many')] };
    const { nodes, world } = nodesOf(listed);
    await nodes.look();
    expect(['large', 'small', 'odd', 'unknown'].map(nodes.processorsOf)).toEqual([16, 1, 2, 2]);
    expect(nodes.cordonedForMs('small')).toBeUndefined();
    listed.items = [node('small', '1', true)];
    await nodes.look();
    world.now = 5_000;
    await nodes.look();
    expect(nodes.cordonedForMs('small')).toBe(5_000);
    listed.items = [node('small', '1')];
    await nodes.look();
    expect(nodes.cordonedForMs('small')).toBeUndefined();
  });

  it('are not requested repeatedly if the orchestrator may not read them', async () => {
    const { nodes, world } = nodesOf({ items: [node('small', '1', true)] });
    world.refusal = Object.assign(new Error('forbidden'), { code: 403 });
    await nodes.look();
    await nodes.look();
    expect(world.asked).toBe(1);
    expect([nodes.processorsOf('small'), nodes.cordonedForMs('small')]).toEqual([2, undefined]);
    world.now = 3_600_000;
    world.refusal = undefined;
    await nodes.look();
    expect(nodes.processorsOf('small')).toBe(1);
  });
});
