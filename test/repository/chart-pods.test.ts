/**
 * The objects of the Helm chart, checked pod by pod: network access, scheduling, resource bounds
 * and environment. These tests need Helm and no cluster; test/repository/chart.test.ts checks the chart's
 * values as a whole.
 */
import type {
  KubernetesObject,
  V1Deployment,
  V1Job,
  V1NetworkPolicy,
  V1PodTemplateSpec,
  V1Service,
} from '@kubernetes/client-node';
import { describe, expect, it } from 'vitest';
import { hasHelm, render, variants } from '../support/orchestrator/chart.ts';

const namespace = 'svc';
const found = await hasHelm();
if (!found) console.info('the pods of the chart are not looked at: there is no helm');

/**
 * Returns the sources that a NetworkPolicy admits to a component, by port, as JSON; `anybody` for a
 * rule without sources.
 */
const entrancesOf = (objects: KubernetesObject[], name: string): Map<unknown, string> => {
  const policy = objects.find(
    ({ kind, metadata }) => kind === 'NetworkPolicy' && metadata?.name === name,
  ) as V1NetworkPolicy | undefined;
  return new Map(
    policy?.spec?.ingress?.map(({ ports, _from, ...rest }) => [
      ports?.[0]?.port,
      JSON.stringify(_from ?? (rest as { from?: unknown }).from ?? 'anybody'),
    ]),
  );
};
const allButHosts =
  '[{"namespaceSelector":{"matchExpressions":[{"key":"kubernetes.io/metadata.name","operator":"NotIn","values":["svc-hosts"]}]}}]';

/** Returns the pod template of a Deployment or StatefulSet. */
const templateOf = (objects: KubernetesObject[], name: string): V1PodTemplateSpec => {
  const found = objects.find(
    ({ kind, metadata }) =>
      /^(Deployment|StatefulSet)$/.test(kind ?? '') && metadata?.name === name,
  ) as V1Deployment | undefined;
  return found?.spec?.template ?? {};
};
const components = ['control', 'orchestrator', 'gateway', 'sender', 'postgres'] as const;

describe.skipIf(!found)('the pods of the chart', { timeout: 60_000 }, () => {
  it('admit hosts only to the control plane’s port for hosts, and clients only to the port for clients', async () => {
    const clients = 'networkPolicy.clients[0].podSelector.matchLabels.app=ingress';
    const open = entrancesOf(await render(namespace, ['--set', clients]), 'svc-control');
    expect([...open.keys()]).toEqual([4500, 4501, 4502, 9090]);
    expect(open.get(4500)).toContain('ingress');
    expect(open.get(4500)).not.toContain('svc-hosts');
    expect(open.get(4501)).toBe(
      '[{"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"svc-hosts"}}}]',
    );
    expect(open.get(4502)).toContain('"values":["orchestrator","gateway","sender","test"]');
    expect(open.get(4502)).not.toMatch(/hosts|ingress|anybody/);
  });

  it('let only the sender of webhooks reach the internet, and no private network', async () => {
    const more = 'networkPolicy.notReceivers={8.8.8.0/24,2620:0:1::/48}';
    const policies = (await render(namespace, ['--set', more])).filter(
      ({ kind }) => kind === 'NetworkPolicy',
    ) as V1NetworkPolicy[];
    const outside = policies.flatMap(({ metadata, spec }) =>
      (spec?.egress ?? []).flatMap(({ to = [], ports }) =>
        to.flatMap(({ ipBlock }) => (ipBlock ? [{ of: metadata?.name, ports, ...ipBlock }] : [])),
      ),
    );
    expect(outside.map(({ of, cidr }) => `${of} ${cidr}`)).toEqual([
      'svc-sender 0.0.0.0/0',
      'svc-sender 2000::/3',
    ]);
    for (const { ports } of outside) expect(ports).toEqual([{ protocol: 'TCP', port: 443 }]);
    expect(outside[0]?.except).toEqual(
      expect.arrayContaining(['10.0.0.0/8', '169.254.0.0/16', '100.64.0.0/10', '8.8.8.0/24']),
    );
    expect(outside[1]?.except).toContain('2620:0:1::/48');
    const [sender] = policies.filter(({ metadata }) => metadata?.name === 'svc-sender');
    expect(sender?.spec?.policyTypes).toEqual(['Ingress', 'Egress']);
    expect(sender?.spec?.egress).toHaveLength(3);
  });

  it('let the control plane reach buckets of file connectors if the values enable it', async () => {
    const egressOf = async (args: string[]) => {
      const policies = (await render(namespace, args)) as V1NetworkPolicy[];
      const isControls = ({ kind, metadata }: V1NetworkPolicy) =>
        kind === 'NetworkPolicy' && metadata?.name === 'svc-control';
      return policies.find(isControls)?.spec?.egress ?? [];
    };
    const usual = await egressOf([]);
    const open = await egressOf([
      ...['--set', 'networkPolicy.buckets.public=true'],
      ...['--set', 'networkPolicy.notReceivers={8.8.8.0/24}'],
      ...['--set', 'networkPolicy.buckets.peers[0].ipBlock.cidr=10.1.0.0/16'],
      ...['--set', 'networkPolicy.buckets.ports={9000}'],
    ]);
    const added = open.filter((rule) => !JSON.stringify(usual).includes(JSON.stringify(rule)));
    expect(added).toEqual([
      {
        ports: [{ protocol: 'TCP', port: 443 }],
        to: [
          {
            ipBlock: {
              cidr: '0.0.0.0/0',
              except: expect.arrayContaining(['10.0.0.0/8', '169.254.0.0/16', '8.8.8.0/24']),
            },
          },
          { ipBlock: { cidr: '2000::/3', except: ['2001::/23', '2002::/16'] } },
        ],
      },
      {
        ports: [{ protocol: 'TCP', port: 9000 }],
        to: [{ ipBlock: { cidr: '10.1.0.0/16' } }],
      },
    ]);
    expect(open).toHaveLength(usual.length + 2);
  });

  it('stay in every Service while a disk is full, and leave all Services while they stop', async () => {
    const probeOf = async (args: string[]) =>
      templateOf(await render(namespace, args), 'svc-control').spec?.containers[0]?.readinessProbe
        ?.httpGet?.path;
    const alone = ['--set', 'blobs.accessMode=ReadWriteOnce', '--set', 'control.replicas=1'];
    expect(await probeOf(alone)).toBe('/ready?exclude=room&exclude=blobs');
    // Replicas that share blobs leave requests to others while they cannot use the blobs.
    const shared = [
      [],
      ['--set', 'blobs.inDatabase=true'],
      ['--set', 'blobs.s3.url=s3://bucket/svc'],
    ];
    for (const args of shared) expect(await probeOf(args)).toBe('/ready?exclude=room');
    const services = (await render(namespace, [])).filter(({ kind }) => kind === 'Service');
    const toPrograms = services.filter(({ metadata }) => metadata?.name !== 'svc-metrics');
    expect(toPrograms.length).toBeGreaterThan(2);
    for (const service of toPrograms as V1Service[])
      expect(service.spec?.publishNotReadyAddresses ?? false).toBe(false);
  });

  it('keep hosts from metrics and status of all programs, and from ports for the cluster alone', async () => {
    const objects = await render(namespace, []);
    for (const name of ['svc-control', 'svc-orchestrator', 'svc-gateway', 'svc-sender']) {
      expect(entrancesOf(objects, name).get(9090), name).toBe(allButHosts);
    }
    expect(entrancesOf(objects, 'svc-control').get(4500)).toBe(allButHosts);
    expect(entrancesOf(objects, 'svc-gateway').get(4600)).toBe(allButHosts);
    const outside = await render(namespace, ['--set', 'gateway.service.type=LoadBalancer']);
    expect(entrancesOf(outside, 'svc-gateway').get(4600)).toBe('"anybody"');
    const scrapers = 'networkPolicy.scrapers[0].podSelector.matchLabels.app=prometheus';
    const named = entrancesOf(await render(namespace, ['--set', scrapers]), 'svc-gateway');
    expect(named.get(9090)).toBe('[{"podSelector":{"matchLabels":{"app":"prometheus"}}}]');
  });

  it('offer clients only the public port in the Service that may be exposed', async () => {
    const objects = await render(namespace, ['--set', 'control.service.type=LoadBalancer']);
    const services = objects.filter(({ kind }) => kind === 'Service') as V1Service[];
    const portsOf = (name: string) =>
      services
        .find(({ metadata }) => metadata?.name === name)
        ?.spec?.ports?.map(({ port }) => port);
    expect(portsOf('svc-control')).toEqual([4500]);
    expect(portsOf('svc-control-internal')).toEqual([4501, 4502]);
    const types = services.map(({ metadata, spec }) => `${metadata?.name} ${spec?.type}`);
    expect(types).toContain('svc-control-internal ClusterIP');
  });

  it('are scheduled by the values of their component, in addition to the common ones', async () => {
    const required = 'requiredDuringSchedulingIgnoredDuringExecution';
    const near = `podAntiAffinity.${required}[0].topologyKey`;
    const own = components.flatMap((component, place) => [
      ...['--set', `${component}.pods.nodeSelector.of=${component}`],
      ...['--set', `${component}.pods.tolerations[0].key=${component}`],
      ...['--set', `${component}.pods.annotations.of=${component}`],
      ...['--set', `${component}.pods.labels.of=${component}`],
      ...['--set', `${component}.pods.affinity.${near}=${component}`],
      ...['--set', `${component}.pods.priorityClassName=${component}`],
      ...['--set', `${component}.extraEnv[0].name=OWN,${component}.extraEnv[0].value=${place}`],
      ...['--set', `${component}.extraVolumes[0].name=own`],
      ...['--set', `${component}.extraVolumeMounts[0].name=own`],
    ]);
    const all = ['--set', 'pods.nodeSelector.disk=ssd,pods.nodeSelector.of=all,pods.labels.team=a'];
    const shared = ['--set', 'pods.tolerations[0].key=all,pods.priorityClassName=all'];
    const objects = await render(namespace, [...own, ...all, ...shared]);
    for (const [place, component] of components.entries()) {
      const { metadata, spec } = templateOf(objects, `svc-${component}`);
      expect(metadata?.labels).toMatchObject({
        of: component,
        team: 'a',
        'app.kubernetes.io/component': component,
      });
      expect(metadata?.annotations?.of).toBe(component);
      expect(spec?.nodeSelector).toEqual({ of: component, disk: 'ssd' });
      expect(spec?.tolerations?.map(({ key }) => key)).toEqual([component, 'all']);
      const [apart] = spec?.affinity?.podAntiAffinity?.[required] ?? [];
      expect(apart?.topologyKey).toBe(component);
      expect(spec?.priorityClassName).toBe(component);
      const [container] = spec?.containers ?? [];
      expect(container?.env?.at(-1)).toEqual({ name: 'OWN', value: place });
      expect(container?.volumeMounts?.at(-1)?.name).toBe('own');
      expect(spec?.volumes?.at(-1)?.name).toBe('own');
    }
  });

  it('have a size limit for every emptyDir, and a storage request for every container', async () => {
    for (const { name, args } of variants) {
      for (const object of await render(namespace, args)) {
        const { spec } = (object as V1Deployment).spec?.template ?? {};
        if (spec === undefined) continue;
        const unbounded = (spec.volumes ?? []).filter(
          ({ emptyDir }) => emptyDir !== undefined && emptyDir.sizeLimit === undefined,
        );
        expect(unbounded, `${name} ${object.metadata?.name}`).toEqual([]);
        for (const { resources } of [...spec.containers, ...(spec.initContainers ?? [])]) {
          expect(resources?.requests).toHaveProperty('ephemeral-storage');
        }
      }
    }
  });

  it('have probes in every program, whether it serves metrics or not', async () => {
    for (const { args } of variants) {
      const objects = await render(namespace, args);
      for (const component of ['control', 'orchestrator', 'gateway', 'sender']) {
        const [container] = templateOf(objects, `svc-${component}`).spec?.containers ?? [];
        expect(container?.startupProbe, component).toBeDefined();
        expect(container?.livenessProbe, component).toBeDefined();
      }
    }
  });

  it('restart when a secret of their program changes', async () => {
    const sumsOf = async (...args: string[]): Promise<(string | undefined)[]> => {
      const objects = await render(namespace, args);
      return ['control', 'orchestrator', 'gateway', 'sender'].map(
        (component) =>
          templateOf(objects, `svc-${component}`).metadata?.annotations?.['checksum/secret'],
      );
    };
    // Generated secrets are random, and secrets that Helm cannot look up hash to the same sum each
    // time.
    const [first, second] = [await sumsOf(), await sumsOf()];
    expect(first.filter((sum, place) => sum === second[place])).toEqual([]);
    const existing = ['--set', 'secrets.existing=own'];
    expect(await sumsOf(...existing)).toEqual(await sumsOf(...existing));
  });

  it('pass the pull policy on to hosts, and name images by their digests', async () => {
    const digest = `sha256:${'a'.repeat(64)}`;
    const set = `images.pullPolicy=Always,images.tag=7,images.digests.worldHost=${digest}`;
    const objects = await render(namespace, ['--set-string', set]);
    const [container] = templateOf(objects, 'svc-orchestrator').spec?.containers ?? [];
    const env = new Map(container?.env?.map((variable) => [variable.name, variable.value]));
    expect(env.get('SVC_KUBE_PULL_POLICY')).toBe('Always');
    expect(env.get('SVC_IMAGE')).toBe(`svc-world-host:7@${digest}`);
  });

  it('use other names and selectors if the release sets them', async () => {
    const objects = await render(namespace, ['--set', 'nameOverride=replicas']);
    const named = objects.filter(
      ({ kind }) => !/^(Namespace|Cluster.*|PriorityClass)$/.test(kind ?? ''),
    );
    expect(named.filter(({ metadata }) => !metadata?.name?.startsWith('svc-replicas'))).toEqual([]);
    const text = JSON.stringify(objects);
    expect(text).not.toContain('"app.kubernetes.io/name":"svc"');
    expect(text).toContain('http://svc-replicas-control-internal.svc.svc:4502');
    const whole = await render(namespace, ['--set', 'fullnameOverride=own']);
    expect(whole.some(({ metadata }) => metadata?.name === 'own-control')).toBe(true);
  });

  it('read the keys of a secret under the names in the values', async () => {
    const keys = 'secrets.existing=own,secrets.keys.poolToken=orchestrator.token';
    const objects = await render(namespace, ['--set', keys]);
    for (const component of ['control', 'orchestrator']) {
      const [container] = templateOf(objects, `svc-${component}`).spec?.containers ?? [];
      const token = container?.env?.find(({ name }) => name === 'SVC_POOL_TOKEN');
      expect(token?.valueFrom?.secretKeyRef).toEqual({ name: 'own', key: 'orchestrator.token' });
    }
  });

  it('verify the database by the configured authority', async () => {
    const { args = [] } = variants.find(({ name }) => name === 's3') ?? {};
    const { spec } = templateOf(await render(namespace, args), 'svc-control');
    const [container] = spec?.containers ?? [];
    const env = new Map(container?.env?.map((variable) => [variable.name, variable.value]));
    expect(env.get('PGSSLMODE')).toBe('verify-full');
    const mount = container?.volumeMounts?.find(({ name }) => name === 'database-ca');
    expect(env.get('NODE_EXTRA_CA_CERTS')).toBe(`${mount?.mountPath}/ca.crt`);
    const volume = spec?.volumes?.find(({ name }) => name === 'database-ca');
    expect(volume?.secret?.secretName).toBe('svc-database-ca');
  });

  it('of a trial installation store rows and blobs in one place', async () => {
    const { args = [] } = variants.find(({ name }) => name === 'trial') ?? {};
    const { spec } = templateOf(await render(namespace, args), 'svc-control');
    expect(spec?.containers[0]?.env).toContainEqual({ name: 'SVC_BLOB_URL', value: 'database' });
    expect(spec?.volumes?.map(({ name }) => name)).toEqual(['tmp', 'work']);
  });

  it('start only after a job has checked the file of pools', async () => {
    const pools = '[pools.p]\nmaximum = 4 # $(HOME) costs $5\n';
    const objects = await render(namespace, ['--set-literal', `hosts.pools=${pools}`]);
    const job = objects.find(({ kind }) => kind === 'Job') as V1Job | undefined;
    expect(job?.metadata?.annotations?.['helm.sh/hook']).toBe('pre-install,pre-upgrade');
    const [container] = job?.spec?.template.spec?.containers ?? [];
    expect(container?.command?.at(-1)).toContain('pools check');
    // Kubernetes reads $$ as $, and $(NAME) as a variable.
    expect(container?.env?.[0]?.value).toBe(`${pools.replaceAll('$', '$$$$')}`);
  });
});
