import type { V1ContainerState, V1Pod, V1PodStatus } from '@kubernetes/client-node';
import { describe, expect, it } from 'vitest';
import { writeLedgerMark } from '#domain/ledger.ts';
import { heapStatus } from '../heap.ts';
import { labelsOf } from '../labels.ts';
import { describePod } from './describe-pod.ts';

const owner = { installation: 'here', pool: 'default', hostId: 'hst-1', digest: 'd' };

const podWith = (status: V1PodStatus, more: Partial<V1Pod> = {}): V1Pod => ({
  status,
  ...more,
  metadata: { name: 'svc-hst-1', uid: 'u', labels: labelsOf(owner, 'host'), ...more.metadata },
});

const withState = (state: V1ContainerState, phase = 'Running'): V1Pod =>
  podWith({
    phase,
    containerStatuses: [
      { name: 'host', image: 'i', imageID: '', ready: true, restartCount: 0, state },
    ],
  });

const condition = (type: string, status: string, reason: string, message: string) => ({
  conditions: [{ type, status, reason, message }],
});

const said = { hostId: 'hst-1', digest: 'd' };

describe('the description of a pod', () => {
  it('is absent for a pod without our labels', () => {
    expect(describePod({ metadata: { name: 'other' }, status: {} })).toBeUndefined();
  });

  it("is pending, running or exited, as the pod's phase is", () => {
    expect(describePod(podWith({ phase: 'Pending' }))).toEqual({ ...said, phase: 'pending' });
    expect(describePod(withState({ running: {} }))).toEqual({ ...said, phase: 'running' });
    expect(describePod(withState({ terminated: { exitCode: 3, reason: 'Error' } }))).toEqual({
      ...said,
      phase: 'exited',
      exit: { reason: 'exited', detail: 'exit status 3' },
    });
  });

  it('is created, not pending, while a scheduling gate holds the pod back', () => {
    const gated = podWith(
      { phase: 'Pending', ...condition('PodScheduled', 'False', 'SchedulingGated', 'gated') },
      { spec: { containers: [], schedulingGates: [{ name: 'svc/token' }] } },
    );
    expect(describePod(gated)).toEqual({ ...said, phase: 'created' });
  });

  it("has no trouble just after the pod's gate was opened", () => {
    const gates = condition('PodScheduled', 'False', 'SchedulingGated', 'gated');
    expect(describePod(podWith({ phase: 'Pending', ...gates }))).toEqual({
      ...said,
      phase: 'pending',
    });
  });

  it.each([
    ['ErrImagePull', 'image'],
    ['ImagePullBackOff', 'image'],
    ['InvalidImageName', 'image'],
    ['CrashLoopBackOff', 'crash_loop'],
    ['CreateContainerConfigError', 'refused'],
    ['RunContainerError', 'refused'],
  ])('has the trouble that the pod reports: %s', (reason, kind) => {
    expect(describePod(withState({ waiting: { reason, message: 'why' } }, 'Pending'))).toEqual({
      ...said,
      phase: 'pending',
      trouble: { kind, message: `${reason}: why` },
    });
  });

  it('quotes the scheduler when no node has capacity', () => {
    const words = '0/1 nodes are available: 1 Insufficient memory.';
    const status = condition('PodScheduled', 'False', 'Unschedulable', words);
    expect(describePod(podWith({ phase: 'Pending', ...status }))).toMatchObject({
      trouble: { kind: 'unschedulable', message: `Unschedulable: ${words}` },
    });
  });

  it("has the reason out of memory, by the kernel or by the host's own heap", () => {
    const killed = withState({ terminated: { exitCode: 137, reason: 'OOMKilled' } }, 'Failed');
    expect(describePod(killed)).toMatchObject({ exit: { reason: 'out_of_memory' } });
    const full = withState({ terminated: { exitCode: heapStatus, reason: 'Error' } }, 'Failed');
    expect(describePod(full)).toMatchObject({ exit: { reason: 'out_of_memory' } });
  });

  it("has the host's ledger mark, which is not part of the reason of its end", () => {
    const message = writeLedgerMark({ sessionId: 'ses-1', lastEntry: 17 });
    const terminated = { exitCode: 137, reason: 'OOMKilled', message };
    expect(describePod(withState({ terminated }, 'Failed'))).toMatchObject({
      exit: { reason: 'out_of_memory', detail: 'killed: out of memory' },
      ledger: { sessionId: 'ses-1', lastEntry: 17 },
    });
  });

  it.each([
    [
      'a disruption',
      podWith({
        phase: 'Running',
        ...condition('DisruptionTarget', 'True', 'DeletionByTaintManager', 'node lost'),
      }),
      'DeletionByTaintManager: node lost',
    ],
    [
      'an eviction by its node',
      podWith({ phase: 'Failed', reason: 'Evicted', message: 'low on memory' }),
      'Evicted: low on memory',
    ],
    [
      'a deletion',
      podWith({ phase: 'Running' }, { metadata: { deletionTimestamp: new Date() } }),
      'the pod is being deleted',
    ],
  ])('has a reclaim notice that gives the cause: %s', (_, pod, reclaimed) => {
    expect(describePod(pod)).toMatchObject({
      reclaimed: { why: reclaimed, forMs: expect.any(Number) },
    });
  });

  it.each([
    ['listed', new Date('2026-01-02T03:04:35Z')],
    ['heard of by a watch', '2026-01-02T03:04:35Z' as unknown as Date],
  ])('has the time since the deletion was requested, %s', (_, deletionTimestamp) => {
    const metadata = { deletionTimestamp, deletionGracePeriodSeconds: 30 };
    const pod = podWith({ phase: 'Running' }, { metadata });
    const now = Date.parse('2026-01-02T03:04:15Z');
    expect(describePod(pod, now)).toMatchObject({ reclaimed: { forMs: 10_000 } });
  });

  it('has no reclaim notice if the node had no capacity for the pod', () => {
    const pod = podWith({ phase: 'Failed', reason: 'OutOfmemory', message: 'needed 512' });
    expect(describePod(pod)).toEqual({
      ...said,
      phase: 'exited',
      exit: { reason: 'exited', detail: 'OutOfmemory: needed 512' },
    });
  });
});
