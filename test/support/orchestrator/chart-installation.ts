/**
 * An installation of the Helm chart for tests, in a namespace and on volumes of its own, with the images of this tree.
 * Its values are in a file, as an operator's are.
 */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, createClient } from '#wire/client.ts';
import type { Cluster } from '../../../orchestrator/driver/kubernetes/cluster.ts';
import { chartFolder, helm } from './chart.ts';
import { type HostVolumes, makeHostVolumes } from './host-volumes.ts';

export const release = 'svc';

export type ChartInstallation = {
  namespace: string;
  /** Namespace of its world hosts. */
  hosts: string;
  volumes: HostVolumes;
  /** Folder of this test, with the values in `my-values.yaml`. */
  folder: string;
  /** Runs a command of Helm on the release, for example `upgrade --install`. */
  helm(command: string, ...args: string[]): Promise<string>;
  /** Installs or upgrades, with further arguments; waits until everything is ready. */
  upgrade(...args: string[]): Promise<string>;
  /** Returns the external address of a service: `http://<node>:<port>`. */
  serviceUrl(name: string): Promise<string>;
  /** Returns a client of the public API with the keys of the installation. */
  client(): Promise<Client>;
  remove(): Promise<void>;
};

const valuesOf = (images: readonly string[], { className, node }: HostVolumes): object => {
  const [worldHost, browser, programs, postgres] = images;
  const resources = { requests: { cpu: '10m', memory: '64Mi' } };
  const reached = { resources, drainSeconds: 6, service: { type: 'NodePort' } };
  return {
    images: { worldHost, browser, programs, postgres },
    surfaceUrl: 'http://{session}--{surface}.worlds.test',
    control: reached,
    gateway: reached,
    orchestrator: { resources },
    postgres: { resources, storage: { className, size: '1Gi' } },
    blobs: { className, size: '1Gi' },
    secrets: { keep: false },
    hosts: {
      cpuRequestMilli: 10,
      prePull: false,
      checkPools: false,
      pools: '[pools.default]\nminimum = 3\nmaximum = 8\ntarget = 3\n',
    },
    pods: { nodeSelector: { 'kubernetes.io/hostname': node } },
  };
};

/** Creates everything but the release itself. */
export const prepareInstallation = async (
  cluster: Cluster,
  images: readonly string[],
): Promise<ChartInstallation> => {
  const { core } = cluster;
  const namespace = `svc-test-${randomBytes(4).toString('hex')}`;
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
  await core.createNamespace({ body: { metadata: { name: namespace, labels } } });
  const claims = [`${release}-blobs`, `data-${release}-postgres-0`];
  const volumes = await makeHostVolumes(cluster, images[0] ?? '', namespace, claims);
  const folder = await mkdtemp(join(tmpdir(), 'svc-chart-'));
  const values = join(folder, 'my-values.yaml');
  await writeFile(values, JSON.stringify(valuesOf(images, volumes)));

  const run = (command: string, ...args: string[]): Promise<string> =>
    helm(command, release, ...args, '--namespace', namespace);
  const serviceUrl = async (name: string): Promise<string> => {
    const service = await core.readNamespacedService({ name, namespace });
    const { items } = await core.listNode();
    const { address } =
      items[0]?.status?.addresses?.find(({ type }) => type === 'InternalIP') ?? {};
    return `http://${address}:${service.spec?.ports?.[0]?.nodePort}`;
  };
  const client = async (): Promise<Client> => {
    const { data } = await core.readNamespacedSecret({ name: `${release}-secrets`, namespace });
    const read = (key: string): string => Buffer.from(data?.[key] ?? '', 'base64').toString();
    return createClient({
      baseUrl: `${await serviceUrl(`${release}-control`)}/api/public`,
      authorization: `Basic ${btoa(`${read('public-key')}:${read('secret-key')}`)}`,
    });
  };
  return {
    namespace,
    hosts: `${namespace}-hosts`,
    volumes,
    folder,
    helm: run,
    upgrade: (...args) =>
      run('upgrade', chartFolder, '--install', '--values', values, '--wait', ...args),
    serviceUrl,
    client,
    async remove() {
      await run('uninstall', '--ignore-not-found', '--wait');
      await core.deleteNamespace({ name: namespace });
      await volumes.remove();
      await rm(folder, { recursive: true, force: true });
    },
  };
};
