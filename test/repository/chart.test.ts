/**
 * The Helm chart as text. Each value has an effect, a description and a place in the documentation.
 * Programs read every setting that they get. The orchestrator has the rights it needs and no
 * others. These tests need Helm and no cluster; test/system/kubernetes/chart.test.ts installs the chart.
 */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type {
  KubernetesObject,
  V1Deployment,
  V1Ingress,
  V1PodSpec,
  V1PolicyRule,
} from '@kubernetes/client-node';
import { loadYaml } from '@kubernetes/client-node';
import { Ajv } from 'ajv';
import pMap from 'p-map';
import { describe, expect, it } from 'vitest';
import { needs } from '../../orchestrator/driver/kubernetes/access.ts';
import {
  chartFolder,
  defaultValues,
  foreignKinds,
  hasHelm,
  type Leaf,
  leavesOf,
  lint,
  otherValues,
  render,
  renderText,
  valuesSchema,
  variants,
} from '../support/orchestrator/chart.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const namespace = 'svc';
const leaves = leavesOf(valuesSchema, defaultValues);

const found = await hasHelm();
if (!found) console.info('the chart is tested in part: there is no helm');

type Program = 'control' | 'orchestrator' | 'gateway' | 'sender';

/** Files in which each program reads its environment. */
const readers: Record<Program, readonly string[]> = {
  control: ['src/control/config.ts', 'src/control/platform/blobs/read-config.ts'],
  gateway: ['src/gateway/config.ts'],
  sender: ['src/sender/config.ts'],
  orchestrator: [
    'orchestrator/config.ts',
    'orchestrator/driver/kubernetes/kubernetes-config.ts',
    'src/pools/check.ts',
  ],
};
/** Names that a config.ts reads through a function of another file. */
const sharedReaders = {
  readListen: 'SVC_LISTEN',
  readMetricsListen: 'SVC_METRICS_LISTEN',
  readOtlpEndpoint: 'OTEL_EXPORTER_OTLP_ENDPOINT',
};

/** Variables that a library reads, and not the program's own code. */
const readByLibraries: Record<Program, readonly string[]> = {
  control: [
    ...['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'OTEL_EXPORTER_OTLP_HEADERS'],
    ...['PGSSLMODE', 'NODE_EXTRA_CA_CERTS'],
  ],
  orchestrator: ['OTEL_EXPORTER_OTLP_HEADERS'],
  gateway: ['OTEL_EXPORTER_OTLP_HEADERS'],
  sender: [],
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

/** Variables without a use for the operator of a cluster, by reason. */
const notForClusters: Record<string, readonly string[]> = {
  'the file of pools has it': [
    ...['SVC_POOL_SIZE', 'SVC_POOL_MAX'],
    ...['SVC_HOST_MEMORY_MB', 'SVC_HOST_CPUS', 'SVC_HOST_PIDS'],
    ...['SVC_BROWSER_POOL_SIZE', 'SVC_BROWSER_POOL_MAX', 'SVC_BROWSER_MEMORY_MB'],
  ],
  'of other runtimes': [
    ...['SVC_PYTHON', 'SVC_PROCESS_SANDBOX', 'SVC_CHROMIUM', 'SVC_KUBE_HOST_ADDRESS'],
  ],
  'of building images': ['SVC_BASE_IMAGE', 'SVC_IMAGE_REGISTRY', 'SVC_IMAGE_TAG'],
  'right as it is in a pod': ['SVC_HOLDER', 'SVC_TEMPLATES_DIR'],
};

const podOf = (object: KubernetesObject): V1PodSpec | undefined =>
  object.kind === 'Deployment' ? (object as V1Deployment).spec?.template.spec : undefined;

/** Returns the variables that the templates set for each program in any variant. */
const setFor = async (): Promise<Record<Program, Set<string>>> => {
  const names = {
    control: new Set<string>(),
    orchestrator: new Set<string>(),
    gateway: new Set<string>(),
    sender: new Set<string>(),
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
  Object.keys(valuesSchema.properties?.[program]?.properties?.settings?.properties ?? {});

describe('the values of the chart', () => {
  it('each have a description, and so do the settings of the programs', () => {
    const settings = leaves.flatMap(({ path, schema }) =>
      Object.entries(schema.properties ?? {}).map(([name, setting]) => ({
        path: `${path}.${name}`,
        schema: setting,
      })),
    );
    const silent = [...leaves, ...settings].filter(({ schema }) => !schema.description);
    expect(silent.map(({ path }) => path)).toEqual([]);
  });

  it('match the schema', () => {
    const missing = leaves.filter(({ value }) => value === undefined);
    expect(missing.map(({ path }) => path)).toEqual([]);
  });
});

describe('the schema of the values', () => {
  const { $schema: _, ...schema } = JSON.parse(read('charts/svc/values.schema.json'));
  const check = new Ajv({ strict: false, allErrors: true }).compile(schema);
  /** Returns the paths that the schema refuses. */
  const refusedIn = (values: object): string[] => {
    check(values);
    return [...new Set((check.errors ?? []).map(({ instancePath }) => instancePath))];
  };
  const pools = (text: string) => ({ hosts: { pools: text } });

  it.each<[string, object]>([
    [
      '/control/settings/SVC_QUOTA_SESSIONS',
      { control: { settings: { SVC_QUOTA_SESSIONS: 'many' } } },
    ],
    ['/control/settings/SVC_PIN_HOSTS', { control: { settings: { SVC_PIN_HOSTS: 'true' } } }],
    ['/gateway/settings/SVC_ROUTES', { gateway: { settings: { SVC_ROUTES: '-1' } } }],
    [
      '/control/resources/limits/memory',
      { control: { resources: { limits: { memory: 'lots' } } } },
    ],
    [
      '/postgres/resources/requests/cpu',
      { postgres: { resources: { requests: { cpu: '1 core' } } } },
    ],
    ['/control/workSize', { control: { workSize: 'much' } }],
    ['/hosts/namespace', { hosts: { namespace: 'kube-system' } }],
    ['/hosts/namespace', { hosts: { namespace: 'default' } }],
    ['/hosts/pools', pools('no file of pools')],
    ['/hosts/pools', pools('[pools.default\nminimum = 1\n')],
    ['/hosts/pools', pools('[pools.default]\nminimum = "two"\n')],
    ['/hosts/pools', pools('[pools.default]\nmaximum = -1\n')],
    ['/hosts/pools', pools('[sessions]\nidle = "1h"\n')],
  ])('refuses %s in %j', (path, values) => {
    expect(refusedIn(values)).toEqual([path]);
  });

  it('accepts the values of the chart and those of ci/', () => {
    const files = readdirSync(join(chartFolder, 'ci')).map((file) => `charts/svc/ci/${file}`);
    for (const file of ['charts/svc/values.yaml', ...files]) {
      expect([file, refusedIn(loadYaml(read(file)))]).toEqual([file, []]);
    }
    const spread =
      '# two\n[pools."default"]\ntiers = [\n  "standard",\n]\ntarget = "auto" # as many\n\n[pools.b]\n';
    expect(refusedIn(pools(spread))).toEqual([]);
  });

  it('accepts only numbers and fixed words for settings that programs parse as such', () => {
    const all = Object.entries(readers).flatMap(([program, paths]) => {
      const settings = valuesSchema.properties?.[program]?.properties?.settings?.properties ?? {};
      const text = paths.map(read).join('\n');
      const namesOf = (form: RegExp) => [...text.matchAll(form)].map(([, name]) => name ?? '');
      const numbers = namesOf(/'(SVC_[A-Z_]+)',\s*(?:\{\s*min\b|[\w*. ]+,\s*[\w*. ]+[,)])/g);
      const words = namesOf(/choice\(\s*'(SVC_[A-Z_]+)'/g);
      return Object.entries(settings).map(([name, { pattern, enum: choices }]) => ({
        name,
        isNumber: pattern === '^[0-9]*$',
        isWord: choices !== undefined,
        read: { isNumber: numbers.includes(name), isWord: words.includes(name) },
      }));
    });
    expect(all.length).toBeGreaterThan(40);
    for (const { name, isNumber, isWord, read: wanted } of all) {
      expect([name, { isNumber, isWord }]).toEqual([name, wanted]);
    }
  });

  it('has one replica of each program in ci/trial.yaml, as that file says', () => {
    type Values = Record<string, { replicas?: number } | string>;
    const replicasIn = (values: Values, name: string): number | undefined => {
      const program = values[name];
      return typeof program === 'object' ? program.replicas : undefined;
    };
    const trial = loadYaml(read('charts/svc/ci/trial.yaml')) as Values;
    const usual = defaultValues as Values;
    const programs = Object.keys(usual).filter((name) => replicasIn(usual, name) !== undefined);
    expect(programs.length).toBe(4);
    for (const name of programs) expect([name, replicasIn(trial, name)]).toEqual([name, 1]);
  });

  it('names, like kubernetes.md, exactly the rights that the chart grants', () => {
    const rulesIn = (text: string): string[] =>
      (loadYaml(text) as V1PolicyRule[]).flatMap(({ apiGroups, resources, verbs }) =>
        verbs.map((verb) => `${verb} ${resources?.join()}.${apiGroups?.join()}`),
      );
    const [, given = ''] =
      /define "svc\.hostRules" -}}\n([\s\S]*?)\{\{- end/.exec(
        read('charts/svc/templates/_helpers.tpl'),
      ) ?? [];
    const [, named = ''] =
      /^rules:\n([\s\S]*?)^```/m.exec(read('docs/operate/kubernetes.md')) ?? [];
    expect(rulesIn(given).length).toBeGreaterThan(10);
    expect(rulesIn(named).sort()).toEqual(rulesIn(given).sort());
  });
});

describe.skipIf(!found)('https', { timeout: 120_000 }, () => {
  const hosts = ['svc.example.com', '*.worlds.example.com'];
  const named = [
    ...['--set', 'publicUrl=https://svc.example.com'],
    ...['--set', 'surfaceUrl=https://{session}--{surface}.worlds.example.com'],
  ];
  const rendered = async (kind: string, ...more: string[]) =>
    (await render(namespace, [...named, ...more])).filter((object) => object.kind === kind);

  it('ends at the ingress, with one secret for the API and one for the wildcard name of sessions', async () => {
    const on = ['--set', 'ingress.enabled=true'];
    const tls = ['--set', 'ingress.publicTls=svc-tls,ingress.surfaceTls=worlds-tls'];
    const [ingress] = (await rendered('Ingress', ...on, ...tls)) as V1Ingress[];
    expect(ingress?.spec?.tls).toEqual([
      { hosts: ['svc.example.com'], secretName: 'svc-tls' },
      { hosts: ['*.worlds.example.com'], secretName: 'worlds-tls' },
    ]);
    expect(ingress?.spec?.rules?.map(({ host }) => host)).toEqual(hosts);
    const [bare] = (await rendered('Ingress', ...on)) as V1Ingress[];
    expect(bare?.spec?.tls).toBeUndefined();
  });

  it('ends at the listeners of a cluster gateway, to which routes are attached by name', async () => {
    const on = ['httpRoute.enabled=true', 'httpRoute.parentRefs[0].name=edge'];
    const more = [...on, 'httpRoute.parentRefs[0].sectionName=https'].flatMap((set) => [
      '--set',
      set,
    ]);
    const routes = (await rendered('HTTPRoute', ...more)) as (KubernetesObject & {
      spec: { hostnames: string[]; parentRefs: object[] };
    })[];
    expect(routes.flatMap(({ spec }) => spec.hostnames)).toEqual(hosts);
    for (const { spec } of routes) {
      expect(spec.parentRefs).toEqual([{ name: 'edge', sectionName: 'https' }]);
    }
  });

  it('is the scheme of the programs’ own URLs, so that cookies are Secure', async () => {
    const workloads = (await rendered('Deployment')) as V1Deployment[];
    const values = workloads
      .flatMap(({ spec }) => spec?.template.spec?.containers ?? [])
      .flatMap(({ env = [] }) => env);
    const valuesOf = (name: string) =>
      new Set(values.filter((one) => one.name === name).map(({ value }) => value));
    expect(valuesOf('SVC_PUBLIC_URL')).toEqual(new Set(['https://svc.example.com']));
    expect(valuesOf('SVC_GATEWAY_URL')).toEqual(
      new Set(['https://{session}--{surface}.worlds.example.com']),
    );
  });
});

describe.skipIf(!found)('the templates', { timeout: 120_000 }, () => {
  it.each(variants)('pass the linter with the values "$name"', async ({ args }) => {
    await lint(args);
  });

  it('produce objects of other operators that match their definitions', async () => {
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
    // Secrets are random, and so are their checksums. Comparing texts is much faster than parsing
    // all objects.
    const textOf = async (args: string[]): Promise<string> => {
      const objects = (await renderText(namespace, args)).split(/^---$/m);
      const text = objects.filter((object) => !/^kind: Secret$/m.test(object)).join('---');
      return text.replaceAll(/checksum\/secret: \w+/g, '');
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
    const look = async (leaf: Leaf): Promise<void> => {
      if (!(await hasEffect(leaf))) unused.push(leaf.path);
    };
    await pMap(leaves, look, { concurrency: 4 });
    expect(unused.sort()).toEqual([]);
  });

  it('pass only settings that programs read, and the values offer all others', async () => {
    const set = await setFor();
    const excluded = Object.values(notForClusters).flat();
    for (const program of ['control', 'orchestrator', 'gateway', 'sender'] as const) {
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

  it('grant the orchestrator the rights that it checks, and no other rights', async () => {
    const objects = await render(namespace, []);
    const roles = objects.filter(({ kind }) => kind === 'Role');
    expect(roles).toHaveLength(1);
    const { rules } = roles[0] as unknown as { rules: V1PolicyRule[] };
    const rights = rules.flatMap(({ apiGroups, resources, verbs }) =>
      verbs.map((verb) => `${verb} ${resources?.join()}.${apiGroups?.join()}`),
    );
    const wanted = needs.flatMap(({ group, resource, subresource, verbs }) => {
      const name = subresource === undefined ? resource : `${resource}/${subresource}`;
      return verbs.map((verb) => `${verb} ${name}.${group}`);
    });
    // An orchestrator of the previous release leads until its pod has been replaced.
    const former = ['create configmaps.', 'patch configmaps.'];
    expect(rights.sort()).toEqual([...wanted, ...former].sort());
    expect(roles[0]?.metadata?.namespace).toBe('svc-hosts');
    const ofCluster = objects.filter(({ kind }) => kind === 'ClusterRole');
    expect(ofCluster.map((role) => (role as unknown as { rules: V1PolicyRule[] }).rules)).toEqual([
      [expect.objectContaining({ resources: ['nodes'], verbs: ['list'] })],
    ]);
    const inNamespaces = await render(namespace, ['--set', 'hosts.readNodes=false']);
    expect(inNamespaces.filter(({ kind }) => /^Cluster/.test(kind ?? ''))).toEqual([]);
  });

  it('accept the values that Helm adds when the chart is a dependency of another', async () => {
    expect(await render(namespace, ['--set', 'global.team=worlds'])).not.toEqual([]);
  });

  it.each([
    [['--set', 'blobs.accessMode=ReadWriteOnce'], 'blobs.inDatabase to true'],
    [['--set', 'postgres.storage.ephemeral=true'], 'set blobs.inDatabase to true'],
    [['--set', 'blobs.s3.url=s3://b,blobs.inDatabase=true'], 'blobs.inDatabase are both set'],
    [['--set', 'postgres.external.tls.mode=verify-full'], 'the bundled one, which has no TLS'],
    [
      ['--set', 'control.autoscaling.enabled=true,control.autoscaling.minimum=9'],
      'control.autoscaling.minimum is 9, more than control.autoscaling.maximum, which is 6',
    ],
    [
      ['--set', 'gateway.autoscaling.enabled=true,gateway.autoscaling.maximum=1'],
      'gateway.autoscaling.minimum is 2',
    ],
    [
      ['--set', 'ingress.enabled=true'],
      'ingress.enabled is true, but publicUrl is http://localhost:4500',
    ],
    [
      ['--set', 'ingress.enabled=true,publicUrl=http://localhost'],
      'ingress.enabled is true, but surfaceUrl',
    ],
    [
      ['--set', 'pods.labels.app\\.kubernetes\\.io/component=mine'],
      'pods.labels has app.kubernetes.io/component',
    ],
    [
      ['--set', 'gateway.pods.labels.app\\.kubernetes\\.io/name=mine'],
      'gateway.pods.labels has app.kubernetes.io/name',
    ],
    [
      ['--set', 'metrics.dashboard=true,metrics.labels.app\\.kubernetes\\.io/instance=mine'],
      'metrics.labels has app.kubernetes.io/instance',
    ],
    [
      ['--set', 'gateway.extraEnv[0].name=SVC_LISTEN'],
      'gateway.extraEnv[0] sets SVC_LISTEN, which the chart or gateway.settings sets',
    ],
    [
      ['--set', `images.programs=svc@sha256:1,images.digests.programs=sha256:${'1'.repeat(64)}`],
      'images.programs has a digest, and so has images.digests.programs',
    ],
    [['--set', 'blobs.s3.endpoint=http://minio:9000'], 'blobs.s3.url names no bucket'],
    [['--set', 'blobs.s3.url=s3://b,blobs.existingClaim=c'], 'blobs.existingClaim are both set'],
    [['--set', 'postgres.bundled=false'], 'postgres.external.secretName'],
    [['--set', 'control.settings.SVC_QUOTA_SESSIONS=many'], 'SVC_QUOTA_SESSIONS'],
    [['--set', 'control.resources.limits.memory=lots'], 'memory'],
    [['--set', 'hosts.namespace=kube-system'], 'namespace'],
    [['--set', 'hosts.pools=minimum'], 'pools'],
    [['--set', 'hosts.namespace=svc'], 'hosts.namespace is the namespace of the release'],
    [
      ['--set-string', 'control.settings.SVC_QUOTA=1'],
      "at '/control/settings': additional properties 'SVC_QUOTA' not allowed",
    ],
    [['--set', 'surfaceUrl=https://worlds.example.com'], 'surfaceUrl'],
    [
      ['--set', 'httpRoute.enabled=true', '--values', join(chartFolder, 'ci/production.yaml')],
      'httpRoute.parentRefs',
    ],
    [['--set', 'metrics.enabled=false', '--set', 'metrics.serviceMonitor=true'], 'metrics.enabled'],
    [['--set', 'globals.team=worlds'], 'globals'],
  ])('refuse %s and say why', async (args, why) => {
    await expect(render(namespace, args)).rejects.toThrow(why);
  });
});
