import { expect, it } from 'vitest';
import { Secret } from '#runtime/secret.ts';
import { testPool } from '#test/support/pools.ts';
import { containerDigest, containerRequest } from './container.ts';

const settings = {
  installation: 'here',
  image: 'svc-world-host:1',
  host: { controlUrl: 'http://192.0.2.7:80', logLevel: 'info' } as const,
};
const sharing = {
  ...settings,
  host: { ...settings.host, sharedSnapshots: { path: '/var/lib/snapshots', mb: 2_048 } },
};

const request = (isolation: 'container' | 'gvisor', given: typeof sharing | typeof settings) => {
  const shape = testPool({ isolation });
  return containerRequest({ hostId: 'hst-1', generation: 0, token: new Secret('x'), shape }, given);
};

it('shares unpacked snapshots with others of its machine where there is a folder for them', () => {
  const { HostConfig, Env } = request('container', sharing);
  expect(HostConfig?.Mounts).toEqual([
    { Type: 'bind', Source: '/var/lib/snapshots', Target: '/snapshots' },
  ]);
  expect(Env).toEqual(
    expect.arrayContaining(['SVC_SNAPSHOT_DIR=/snapshots', 'SVC_SNAPSHOT_MB=2048']),
  );
  const shape = testPool({ isolation: 'container' });
  expect(containerDigest(shape, sharing)).not.toBe(containerDigest(shape, settings));
});

it('keeps them to itself where there is none, or where its kernel is another', () => {
  for (const { HostConfig, Env } of [request('container', settings), request('gvisor', sharing)]) {
    expect(HostConfig?.Mounts).toEqual([]);
    expect(Env).toContain('SVC_SNAPSHOT_DIR=/tmp/snapshots');
  }
});
