/**
 * The cluster that `KUBECONFIG` names, for tests: checks that it answers, gets the image of this tree onto its nodes,
 * creates a namespace for each test, and acts behind a driver's back.
 *
 * `SVC_TEST_KUBE_IMAGE` names an image that nodes have or pull. Without this variable, an image is built on the
 * Docker engine and loaded by the command `SVC_TEST_KUBE_LOAD`, which gets the image's name.
 */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { PassThrough } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Exec, type V1Status, VersionApi } from '@kubernetes/client-node';
import { describeError } from '#domain/error.ts';
import { Secret } from '#runtime/secret.ts';
import { type Cluster, connectCluster } from '../../../orchestrator/driver/kubernetes/cluster.ts';
import type { KubernetesConfig } from '../../../orchestrator/driver/kubernetes/kubernetes-config.ts';
import { podOf } from '../../../orchestrator/driver/kubernetes/pod.ts';
import { containerName, labelNames } from '../../../orchestrator/driver/labels.ts';
import { exclusively } from '../database/postgres.ts';
import { dockerAnswers } from '../programs/prepare-docker.ts';
import { testPool } from './pools.ts';
import type { Runtime } from './runtimes.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../..', import.meta.url));
const lastLine = (text: string): string => text.trim().split('\n').at(-1) ?? '';

/** Time to load gigabytes of images, on a machine with other work, in milliseconds. */
const loadTimeoutMs = 600_000;
/** Time for a machine's first build, in milliseconds: bases are made from packages, one of them with a Chromium. */
const buildTimeoutMs = 900_000;

export type TestCluster = {
  cluster: Cluster;
  /** Image of world hosts that its nodes have. */
  image: string;
};

/** Runs a command that the environment gives as words separated by spaces. */
const runGiven = async (command: string, ...words: string[]): Promise<string> => {
  const [program = '', ...given] = command.split(' ').filter(Boolean);
  const { stdout } = await run(program, [...given, ...words], { timeout: loadTimeoutMs });
  return stdout.trim();
};

const hasImage = async ({ core }: Cluster, image: string): Promise<boolean> => {
  const { items } = await core.listNode();
  return items.every(({ status }) =>
    (status?.images ?? []).some(({ names }) => names?.some((name) => name.endsWith(`/${image}`))),
  );
};

/** Builds the world-host image of this tree, if missing; returns its name. */
const buildImage = async (): Promise<string> => {
  const { stdout } = await run(process.execPath, ['orchestrator/main.ts', 'image'], {
    cwd: root,
    timeout: buildTimeoutMs,
  });
  return JSON.parse(lastLine(stdout)).image;
};

const findImage = async (cluster: Cluster): Promise<string> => {
  const given = process.env.SVC_TEST_KUBE_IMAGE;
  if (given !== undefined) return given;
  const load = process.env.SVC_TEST_KUBE_LOAD;
  if (load === undefined || !(await dockerAnswers())) {
    throw new Error('neither SVC_TEST_KUBE_IMAGE, nor SVC_TEST_KUBE_LOAD with a Docker engine');
  }
  return await exclusively('images', async () => {
    const image = await buildImage();
    if (!(await hasImage(cluster, image))) await runGiven(load, image);
    return image;
  });
};

/** Returns the cluster with its image, or why there is none. */
export const findTestCluster = async (): Promise<TestCluster | { missing: string }> => {
  const kubeconfig = process.env.KUBECONFIG;
  if (kubeconfig === undefined) return { missing: 'KUBECONFIG is not set' };
  try {
    const cluster = connectCluster({ kubeconfig, inCluster: false, home: undefined });
    await cluster.config.makeApiClient(VersionApi).getCode();
    return { cluster, image: await findImage(cluster) };
  } catch (error) {
    return { missing: describeError(error).split('\n', 1)[0] ?? '' };
  }
};

/**
 * Loads the images of world host, programs and PostgreSQL of this tree onto every node; returns undefined when the
 * environment names no way to load them.
 */
export const loadImages = async ({ cluster }: TestCluster): Promise<string[] | undefined> => {
  const load = process.env.SVC_TEST_KUBE_LOAD;
  if (load === undefined || !(await dockerAnswers())) return undefined;
  return await exclusively('images', async () => {
    const { stdout } = await run(process.execPath, ['orchestrator/main.ts', 'images'], {
      cwd: root,
      timeout: buildTimeoutMs,
    });
    const { images } = JSON.parse(lastLine(stdout)) as { images: string[] };
    const present = await Promise.all(images.map((image) => hasImage(cluster, image)));
    const missing = images.filter((_, index) => !present[index]);
    if (missing.length > 0) await runGiven(load, ...missing);
    return images;
  });
};

/** Returns the settings of the runtime on that cluster, in a namespace. */
export const configOf = ({ image }: TestCluster, namespace?: string): KubernetesConfig => ({
  runtime: 'kubernetes',
  kubeconfig: process.env.KUBECONFIG,
  inCluster: false,
  home: undefined,
  namespace,
  images: { world: image, browser: 'svc-browser' },
  browserCalls: undefined,
  pullPolicy: 'IfNotPresent',
  prePull: false,
  drainWaitMs: 3_600_000,
  priorityClasses: { standard: undefined, premium: undefined },
  cpuRequestMilli: 10,
  controlPeers: [],
  controlPorts: [],
  callerPeers: [],
  hostAddress: process.env.SVC_TEST_KUBE_HOST_ADDRESS,
});

export type TestNamespace = { name: string; remove(): Promise<void> };

/** Creates a namespace that admits only restricted pods. */
export const testNamespace = async ({ core }: Cluster): Promise<TestNamespace> => {
  const name = `svc-test-${randomBytes(4).toString('hex')}`;
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
  await core.createNamespace({ body: { metadata: { name, labels } } });
  return {
    name,
    remove: async () => {
      await core.deleteNamespace({ name });
    },
  };
};

export type PreparedKubernetes = {
  listen: string | null;
  host: string;
  /** Environment of the orchestrator. */
  env: Record<string, string>;
};

/** Prepares an installation in a namespace of its own, as the orchestrator's command does. */
export const prepareKubernetes = async (
  { image }: TestCluster,
  installation: string,
): Promise<PreparedKubernetes> => {
  const address = process.env.SVC_TEST_KUBE_HOST_ADDRESS;
  const env = {
    KUBECONFIG: process.env.KUBECONFIG ?? '',
    SVC_IMAGE: image,
    SVC_KUBE_CPU_REQUEST_MILLI: '10',
    ...(address === undefined ? {} : { SVC_KUBE_HOST_ADDRESS: address }),
  };
  const { stdout } = await run(process.execPath, ['orchestrator/main.ts', 'prepare'], {
    cwd: root,
    env: {
      PATH: process.env.PATH ?? '',
      SVC_RUNTIME: 'kubernetes',
      SVC_INSTALLATION: installation,
      ...env,
    },
    timeout: 60_000,
  });
  const { listen, host } = JSON.parse(lastLine(stdout));
  return { listen, host, env };
};

/** Runs a command in a pod's container; returns its output. */
export const execIn = async (
  { config }: Cluster,
  namespace: string,
  pod: string,
  ...command: string[]
): Promise<string> => {
  const out = new PassThrough();
  const text = out.toArray();
  const status = await new Promise<V1Status>((resolve, reject) => {
    new Exec(config)
      .exec(namespace, pod, 'host', command, out, out, null, false, resolve)
      .catch(reject);
  });
  out.end();
  const said = Buffer.concat(await text).toString();
  if (status.status !== 'Success')
    throw new Error(`${command.join(' ')}: ${said || status.message}`);
  return said;
};

/** Ends every process of a host at once, as a crash would. */
export const crash = async (cluster: Cluster, namespace: string, pod: string): Promise<void> => {
  // If the shell runs beside the others, it is killed with them; that is no failure.
  await execIn(cluster, namespace, pod, 'sh', '-c', 'kill -9 -1').catch(() => undefined);
};

/** Returns the names of all objects that an installation has in the cluster. */
export const leftoversIn = async (cluster: Cluster, installation: string): Promise<string[]> => {
  const labelSelector = `${labelNames.installation}=${installation}`;
  const { core, apps, networking, policy } = cluster;
  const lists = await Promise.all([
    core.listPodForAllNamespaces({ labelSelector }),
    core.listSecretForAllNamespaces({ labelSelector }),
    core.listConfigMapForAllNamespaces({ labelSelector }),
    core.listNamespace({ labelSelector }),
    apps.listDaemonSetForAllNamespaces({ labelSelector }),
    networking.listNetworkPolicyForAllNamespaces({ labelSelector }),
    policy.listPodDisruptionBudgetForAllNamespaces({ labelSelector }),
  ]);
  return lists.flatMap(({ kind, items }) =>
    items.map(({ metadata }) => `${kind} ${metadata?.namespace ?? ''}/${metadata?.name}`),
  );
};

/** Returns the runtime for the tests of the drivers' contract: in one namespace, which several installations share. */
export const kubernetesRuntime = (found: TestCluster, namespace: string): Runtime => {
  const { cluster } = found;
  const settings = configOf(found, namespace);
  return {
    config: settings,
    kill: ({ hostId }) => crash(cluster, namespace, containerName(hostId)),
    async halfLaunch({ installation, pool, hostId }) {
      const host = { controlUrl: 'http://192.0.2.1', logLevel: 'info' } as const;
      const shape = testPool({ pool, isolation: 'container' });
      const spec = { hostId, generation: 0, token: new Secret('token'), shape };
      const body = podOf(spec, { ...settings, namespace, installation, host });
      await cluster.core.createNamespacedPod({ namespace, body });
    },
    async labels({ hostId }) {
      const name = containerName(hostId);
      const { metadata } = await cluster.core.readNamespacedPod({ name, namespace });
      return JSON.stringify(metadata?.labels);
    },
    async inspect({ hostId }) {
      const name = containerName(hostId);
      return JSON.stringify(await cluster.core.readNamespacedPod({ name, namespace }));
    },
    leftovers: (installation) => leftoversIn(cluster, installation),
  };
};
