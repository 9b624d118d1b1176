import { expect, it } from 'vitest';
import { browserSize } from '#domain/pool.ts';
import { Secret } from '#runtime/secret.ts';
import { testPool } from '#test/support/orchestrator/pools.ts';
import { containerDigest, containerRequest } from './container.ts';

const settings = {
  installation: 'here',
  images: { world: 'svc-world-host:1', browser: 'svc-browser:1' },
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

it('a container shares unpacked snapshots with other containers of its machine if the operator configured a folder', () => {
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

it('a container keeps snapshots to itself if no shared folder is configured, or if it has a kernel of its own', () => {
  for (const { HostConfig, Env } of [request('container', settings), request('gvisor', sharing)]) {
    expect(HostConfig?.Mounts).toEqual([]);
    expect(Env).toContain('SVC_SNAPSHOT_DIR=/tmp/snapshots');
  }
});

it('the container of a browser has its own image and seccomp filter, and nothing of a world host', () => {
  const size = { name: browserSize, memoryMb: 1_024, cpus: 1, pids: 300 };
  const requestOf = (isolation: 'container' | 'gvisor') => {
    const shape = testPool({ isolation, size });
    const spec = { hostId: 'hst-1', generation: 0, token: new Secret('x'), shape };
    return containerRequest(spec, sharing);
  };
  const { Image, Env, Labels, HostConfig } = requestOf('container');
  expect(Image).toBe('svc-browser:1');
  expect(Labels).toMatchObject({ 'svc.kind': 'browser', 'svc.role': 'host' });
  expect(HostConfig).toMatchObject({
    ReadonlyRootfs: true,
    CapDrop: ['ALL'],
    Memory: 1_024 * 2 ** 20,
    PidsLimit: 300,
    Mounts: [],
  });
  const [plain, filter = ''] = HostConfig?.SecurityOpt ?? [];
  expect(plain).toBe('no-new-privileges');
  expect(JSON.parse(filter.replace('seccomp=', ''))).toMatchObject({
    defaultAction: 'SCMP_ACT_ERRNO',
  });
  expect(requestOf('gvisor').HostConfig?.SecurityOpt).toEqual(['no-new-privileges']);
  expect(Env).toContain('SVC_BROWSER_WAY=tunnel');
  expect(Env?.filter((one) => /SNAPSHOT|PYTHON|USER_CODE/.test(one))).toEqual([]);
});
