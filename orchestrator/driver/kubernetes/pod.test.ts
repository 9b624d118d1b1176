import { describe, expect, it } from 'vitest';
import { browserSize } from '#domain/pool.ts';
import type { KubernetesTable } from '#pools/kubernetes-table.ts';
import type { PoolConfig } from '#pools/pool-config.ts';
import { Secret } from '#runtime/secret.ts';
import { testPool } from '#test/support/orchestrator/pools.ts';
import { pullOf } from './arrangement.ts';
import { podDigest, podOf } from './pod.ts';

const settings = {
  installation: 'here',
  namespace: 'hosts',
  images: { world: 'svc-world-host:1', browser: 'svc-browser:1' },
  browserCalls: undefined,
  host: { controlUrl: 'http://192.0.2.7:80', logLevel: 'info' } as const,
  pullPolicy: 'IfNotPresent' as const,
  priorityClasses: { standard: undefined, premium: undefined },
  cpuRequestMilli: 100,
};

const made = (changes: Partial<PoolConfig> = {}) => {
  const shape = testPool({ isolation: 'container', ...changes });
  const spec = { hostId: 'hst-1', generation: 0, token: new Secret('hidden'), shape };
  return podOf(spec, settings);
};

const digest = (changes: Partial<PoolConfig> = {}): string =>
  podDigest(testPool({ isolation: 'container', ...changes }), settings);

describe('the pod of a host', () => {
  it('has limits, no privileges and no token', () => {
    const { spec } = made();
    expect(spec).toMatchObject({
      restartPolicy: 'Never',
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      securityContext: { runAsNonRoot: true, runAsUser: 10_001 },
    });
    expect(spec?.containers[0]).toMatchObject({
      resources: {
        requests: { memory: '512Mi', cpu: '100m' },
        limits: { memory: '512Mi', cpu: '1' },
      },
      securityContext: { readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
    });
    expect(JSON.stringify(spec)).not.toContain('hidden');
  });

  it('shares unpacked snapshots with others of its node if there is a folder for them', () => {
    const sharedSnapshots = { path: '/var/lib/snapshots', mb: 2_048 };
    const sharing = { ...settings, host: { ...settings.host, sharedSnapshots } };
    const podBy = (isolation: 'container' | 'gvisor') => {
      const shape = testPool({ isolation });
      return podOf({ hostId: 'hst-1', generation: 0, token: new Secret('x'), shape }, sharing).spec;
    };
    const shared = podBy('container');
    expect(shared?.volumes).toContainEqual({
      name: 'snapshots',
      hostPath: { path: '/var/lib/snapshots', type: 'Directory' },
    });
    expect(shared?.containers[0]).toMatchObject({
      env: expect.arrayContaining([
        { name: 'SVC_SNAPSHOT_DIR', value: '/snapshots' },
        { name: 'SVC_SNAPSHOT_MB', value: '2048' },
      ]),
      volumeMounts: expect.arrayContaining([{ name: 'snapshots', mountPath: '/snapshots' }]),
    });
    const alone = [podBy('gvisor'), made().spec];
    for (const spec of alone) expect(JSON.stringify(spec)).not.toContain('hostPath');
    const shape = testPool({ isolation: 'container' });
    expect(podDigest(shape, sharing)).not.toBe(podDigest(shape, settings));
  });

  it('has the pull policy that the operator configured', () => {
    const spec = { hostId: 'hst-1', generation: 0, token: new Secret('hidden'), shape: testPool() };
    const { spec: always } = podOf(spec, { ...settings, pullPolicy: 'Always' });
    expect(always?.containers[0]?.imagePullPolicy).toBe('Always');
    const { spec: ahead } =
      pullOf(testPool(), { ...settings, pullPolicy: 'Always' }).spec?.template ?? {};
    expect(ahead?.containers[0]?.imagePullPolicy).toBe('Always');
  });

  it('runs on the runtime of its isolation, unless the pool names another', () => {
    expect(made().spec?.runtimeClassName).toBeUndefined();
    expect(made({ isolation: 'gvisor' }).spec?.runtimeClassName).toBe('gvisor');
    const kubernetes = { runtimeClassName: 'runsc' };
    expect(made({ isolation: 'gvisor', kubernetes }).spec?.runtimeClassName).toBe('runsc');
  });

  it('has the settings of its pool, but keeps its own labels', () => {
    const kubernetes: KubernetesTable = {
      labels: { team: 'a', 'svc.installation': 'another' },
      annotations: { note: 'b' },
      nodeSelector: { tier: 'spot' },
      tolerations: [{ key: 'spot', operator: 'Exists' }],
      cpuRequest: '250m',
    };
    const { metadata, spec } = made({ kubernetes });
    expect(metadata).toMatchObject({
      labels: { team: 'a', 'svc.installation': 'here' },
      annotations: { note: 'b' },
    });
    expect(spec).toMatchObject({
      nodeSelector: { tier: 'spot' },
      tolerations: [{ key: 'spot', operator: 'Exists' }],
    });
    expect(spec?.containers[0]?.resources?.requests?.cpu).toBe('250m');
  });

  it('has the priority class of its tier, unless its pool names another', () => {
    const priorityClasses = { standard: 'low', premium: 'high' };
    const classOf = (changes: Partial<PoolConfig>) => {
      const shape = testPool({ isolation: 'container', ...changes });
      const spec = { hostId: 'hst-1', generation: 0, token: new Secret('x'), shape };
      return podOf(spec, { ...settings, priorityClasses }).spec?.priorityClassName;
    };
    expect(classOf({ tier: 'premium' })).toBe('high');
    expect(classOf({ tier: 'standard' })).toBe('low');
    expect(classOf({ tier: null })).toBe('low');
    const kubernetes = { priorityClassName: 'own' };
    expect(classOf({ tier: 'premium', kubernetes })).toBe('own');
    expect(made({ tier: 'premium' }).spec).not.toHaveProperty('priorityClassName');
  });

  it('may be evicted while it serves no session', () => {
    const key = 'cluster-autoscaler.kubernetes.io/safe-to-evict';
    for (const tier of ['standard', 'premium'] as const) {
      const annotations = made({ tier }).metadata?.annotations;
      expect(annotations).toMatchObject({ [key]: 'true' });
      expect(annotations).not.toHaveProperty(['karpenter.sh/do-not-disrupt']);
    }
  });
});

describe('the pod of a browser', () => {
  const size = { name: browserSize, memoryMb: 1_024, cpus: 1, pids: 300 };
  const browserOf = (isolation: 'container' | 'gvisor', browserCalls?: string) => {
    const shape = testPool({ isolation, size, tier: 'standard' });
    const spec = { hostId: 'hst-1', generation: 0, token: new Secret('hidden'), shape };
    return podOf(spec, { ...settings, browserCalls });
  };

  it('has its own image and labels, and nothing of a world host', () => {
    const { metadata, spec } = browserOf('container');
    expect(metadata?.labels).toMatchObject({
      'app.kubernetes.io/name': 'svc-browser',
      'svc.kind': 'browser',
      'svc.installation': 'here',
      'svc.tier': 'standard',
    });
    const [container] = spec?.containers ?? [];
    expect(container?.image).toBe('svc-browser:1');
    expect(container?.securityContext).toMatchObject({ capabilities: { drop: ['ALL'] } });
    const names = container?.env?.map(({ name }) => name) ?? [];
    expect(names).toEqual(expect.arrayContaining(['SVC_CONTROL_URL', 'SVC_BROWSER_WAY']));
    expect(names.filter((name) => /SNAPSHOT|PYTHON|USER_CODE/.test(name))).toEqual([]);
  });

  it('has the seccomp profile of the nodes, unless it has a kernel of its own', () => {
    const filterOf = (...given: Parameters<typeof browserOf>) =>
      browserOf(...given).spec?.securityContext?.seccompProfile;
    expect(filterOf('container')).toEqual({ type: 'RuntimeDefault' });
    expect(filterOf('container', 'svc/browser.json')).toEqual({
      type: 'Localhost',
      localhostProfile: 'svc/browser.json',
    });
    expect(filterOf('gvisor', 'svc/browser.json')).toEqual({ type: 'RuntimeDefault' });
  });
});

describe('the digest of a shape', () => {
  it("changes with the settings that pods are made from, and not with the pool's name", () => {
    expect(digest({ pool: 'another' })).toBe(digest());
    expect(digest({ image: 'other:2' })).not.toBe(digest());
    expect(digest({ kubernetes: { nodeSelector: { tier: 'spot' } } })).not.toBe(digest());
    expect(digest({ kubernetes: { annotations: { note: 'b' } } })).not.toBe(digest());
  });
});
