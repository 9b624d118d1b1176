/**
 * The Helm chart as text: each value has an effect, a description and a place in the documentation; what
 * the programs are told, they read; and the orchestrator may do what it needs and no more. It needs Helm
 * and no cluster; test/cluster/chart.test.ts installs it.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type {
  KubernetesObject,
  V1Deployment,
  V1NetworkPolicy,
  V1PodSpec,
  V1PolicyRule,
  V1Service,
} from '@kubernetes/client-node';
import { describe, expect, it } from 'vitest';
import { forEachAtOnce } from '#runtime/at-once.ts';
import { needs } from '../orchestrator/driver/kubernetes/access.ts';
import {
  defaultValues,
  foreignKinds,
  hasHelm,
  type Leaf,
  leavesOf,
  lint,
  otherValues,
  render,
  valuesSchema,
  variants,
} from './support/chart.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const namespace = 'svc';
const leaves = leavesOf(valuesSchema, defaultValues);

const found = await hasHelm();
if (!found) console.info('the chart is tested in part: there is no helm');

type Program = 'control' | 'orchestrator' | 'gateway';

/** Where each program reads its environment. */
const readers: Record<Program, readonly string[]> = {
  control: ['src/control/config.ts'],
  gateway: ['src/gateway/config.ts'],
  orchestrator: ['orchestrator/config.ts', 'orchestrator/driver/kubernetes/kubernetes-config.ts'],
};
/** Names that a config.ts reads by a function of another file. */
const sharedReaders = {
  readListen: 'SVC_LISTEN',
  readMetricsListen: 'SVC_METRICS_LISTEN',
  readOtlpEndpoint: 'OTEL_EXPORTER_OTLP_ENDPOINT',
};

/** What a library of a program reads without it. */
const readByLibraries: Record<Program, readonly string[]> = {
  control: ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'OTEL_EXPORTER_OTLP_HEADERS'],
  orchestrator: ['OTEL_EXPORTER_OTLP_HEADERS'],
  gateway: ['OTEL_EXPORTER_OTLP_HEADERS'],
};

const namesIn = (paths: readonly string[]): Set<string> =>
  new Set(
    paths.flatMap((path) =>
      [...read(path).matchAll(/'((?:SVC|OTEL|AWS)_[A-Z_\d]+)'/g)].map(([, name]) => name ?? ''),
    ),
  );

const namesReadFor = (program: Program): string[] =>
  Object.entries(sharedReaders)
    .filter(([reader]) => readers[program].some((path) => read(path).includes(`${reader}(`)))
    .map(([, name]) => name);

/** What an operator of a cluster has no use for, by the reason. */
const notForClusters: Record<string, readonly string[]> = {
  'the file of pools has it': [
    ...['SVC_POOL_SIZE', 'SVC_POOL_MAX'],
    ...['SVC_HOST_MEMORY_MB', 'SVC_HOST_CPUS', 'SVC_HOST_PIDS'],
  ],
  'of other runtimes': ['SVC_PYTHON', 'SVC_PROCESS_SANDBOX', 'SVC_KUBE_HOST_ADDRESS'],
  'of building images': ['SVC_BASE_IMAGE', 'SVC_IMAGE_REGISTRY', 'SVC_IMAGE_TAG'],
  'right as it is in a pod': ['SVC_HOLDER', 'SVC_TEMPLATES_DIR'],
};

const podOf = (object: KubernetesObject): V1PodSpec | undefined =>
  object.kind === 'Deployment' ? (object as V1Deployment).spec?.template.spec : undefined;

/** The variables that the templates set for each program, in any variant. */
const setFor = async (): Promise<Record<Program, Set<string>>> => {
  const names = {
    control: new Set<string>(),
    orchestrator: new Set<string>(),
    gateway: new Set<string>(),
  };
  for (const { args } of variants) {
    for (const object of await render(namespace, args)) {
      for (const { name, env } of podOf(object)?.containers ?? []) {
        const given = (env ?? []).map((variable) => variable.name);
        expect(new Set(given).size, `variables of ${name}`).toBe(given.length);
        for (const variable of given) names[name as Program].add(variable);
      }
    }
  }
  return names;
};

const offered = (program: Program): string[] =>
  valuesSchema.properties?.[program]?.properties?.settings?.propertyNames?.enum ?? [];

describe('the values of the chart', () => {
  it('have a description and a line in the documentation each', () => {
    const documentation = read('docs/install.md');
    const silent = leaves.filter(
      ({ path, schema }) => !schema.description || !documentation.includes(`| \`${path}\` |`),
    );
    expect(silent.map(({ path }) => path)).toEqual([]);
  });

  it('are those of the schema', () => {
    const missing = leaves.filter(({ value }) => value === undefined);
    expect(missing.map(({ path }) => path)).toEqual([]);
  });
});

describe.skipIf(!found)('the templates', { timeout: 120_000 }, () => {
  it.each(variants)('pass the linter with the values "$name"', async ({ args }) => {
    await lint(args);
  });

  it('make objects of other operators as these define them', async () => {
    const kinds = new Set<string>();
    for (const { args } of variants) {
      for (const object of await render(namespace, args)) {
        const Model = foreignKinds[object.kind ?? ''];
        if (Model === undefined) continue;
        kinds.add(object.kind ?? '');
        new Model(object as never).validate();
      }
    }
    expect([...kinds].sort()).toEqual(Object.keys(foreignKinds));
  });

  it('use every value', async () => {
    const textOf = async (args: string[]): Promise<string> => {
      const objects = await render(namespace, args);
      return JSON.stringify(objects.filter(({ kind }) => kind !== 'Secret')); // they are random
    };
    const before = await Promise.all(variants.map(({ args }) => textOf(args)));
    const changes = async ({ path }: Leaf, other: unknown, place: number): Promise<boolean> => {
      const changed = ['--set-json', `${path}=${JSON.stringify(other)}`];
      const after = await textOf([...(variants[place]?.args ?? []), ...changed]).catch(
        () => undefined,
      );
      return after !== undefined && after !== before[place];
    };
    const hasEffect = async (leaf: Leaf): Promise<boolean> => {
      for (const place of variants.keys()) {
        for (const other of otherValues(leaf)) if (await changes(leaf, other, place)) return true;
      }
      return false;
    };
    const unused: string[] = [];
    await forEachAtOnce(4, leaves, async (leaf) => {
      if (!(await hasEffect(leaf))) unused.push(leaf.path);
    });
    expect(unused.sort()).toEqual([]);
  });

  it('tell programs only what these read, and the values offer all the rest', async () => {
    const set = await setFor();
    const excluded = Object.values(notForClusters).flat();
    for (const program of ['control', 'orchestrator', 'gateway'] as const) {
      const own = namesIn(readers[program]);
      const known = new Set([...own, ...namesReadFor(program), ...readByLibraries[program]]);
      const unread = [...set[program]].filter((name) => !known.has(name));
      expect(unread, program).toEqual([]);
      const settable = offered(program);
      expect([...own].filter((name) => settable.includes(name))).toHaveLength(settable.length);
      const left = [...own].filter(
        (name) => !set[program].has(name) && !settable.includes(name) && !excluded.includes(name),
      );
      expect(left, program).toEqual([]);
    }
  });

  it('give the orchestrator the rights that it checks, and nobody any other', async () => {
    const objects = await render(namespace, []);
    const roles = objects.filter(({ kind }) => /Role$/.test(kind ?? ''));
    expect(roles.map(({ kind }) => kind)).toEqual(['Role']);
    const { rules } = roles[0] as unknown as { rules: V1PolicyRule[] };
    const rights = rules.flatMap(({ apiGroups, resources, verbs }) =>
      verbs.map((verb) => `${verb} ${resources?.join()}.${apiGroups?.join()}`),
    );
    const wanted = needs.flatMap(({ group, resource, subresource, verbs }) => {
      const name = subresource === undefined ? resource : `${resource}/${subresource}`;
      return verbs.map((verb) => `${verb} ${name}.${group}`);
    });
    expect(rights.sort()).toEqual(wanted.sort());
    expect(roles[0]?.metadata?.namespace).toBe('svc-hosts');
  });

  it('let hosts reach the port for hosts and no other of the control plane, clients theirs alone', async () => {
    const clients = 'networkPolicy.clients[0].podSelector.matchLabels.app=ingress';
    const objects = await render(namespace, ['--set', clients]);
    const policy = objects.find(
      ({ kind, metadata }) => kind === 'NetworkPolicy' && metadata?.name === 'svc-control',
    ) as V1NetworkPolicy | undefined;
    const open = new Map(
      policy?.spec?.ingress?.map(({ ports, _from, ...rest }) => [
        ports?.[0]?.port,
        JSON.stringify(_from ?? (rest as { from?: unknown }).from ?? 'anybody'),
      ]),
    );
    expect([...open.keys()]).toEqual([4500, 4501, 4502, 9090]);
    expect(open.get(4500)).toContain('ingress');
    expect(open.get(4500)).not.toContain('svc-hosts');
    expect(open.get(4501)).toBe(
      '[{"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"svc-hosts"}}}]',
    );
    expect(open.get(4502)).toContain('"values":["orchestrator","gateway"]');
    expect(open.get(4502)).not.toMatch(/hosts|ingress|anybody/);
  });

  it('keep what is not for clients out of the service that may be open to them', async () => {
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

  it('take what Helm adds where another chart depends on this one', async () => {
    expect(await render(namespace, ['--set', 'global.team=worlds'])).not.toEqual([]);
  });

  it.each([
    [['--set', 'blobs.ephemeral=true'], 'blobs.accessMode'],
    [['--set', 'blobs.s3.endpoint=http://minio:9000'], 'blobs.s3.url names no bucket'],
    [['--set', 'blobs.s3.url=s3://b,blobs.existingClaim=c'], 'blobs.existingClaim are both set'],
    [['--set', 'postgres.bundled=false'], 'postgres.external.secretName'],
    [['--set', 'hosts.namespace=svc'], 'hosts.namespace is the namespace of the release'],
    [['--set', 'control.settings.SVC_QUOTA=1'], 'SVC_QUOTA_SESSIONS'],
    [['--set', 'surfaceUrl=https://worlds.example.com'], 'surfaceUrl'],
    [['--set', 'httpRoute.enabled=true'], 'httpRoute.parentRefs'],
    [['--set', 'metrics.enabled=false', '--set', 'metrics.serviceMonitor=true'], 'metrics.enabled'],
    [['--set', 'globals.team=worlds'], 'globals'],
  ])('refuse %s and say why', async (args, why) => {
    await expect(render(namespace, args)).rejects.toThrow(why);
  });
});
