/** One `svc up`: its ports and folder, and the environment that they make for each of its programs. */
import type { BrowserTier } from '#domain/session.ts';
import type { Env } from '#runtime/env.ts';
import { Secret } from '#runtime/secret.ts';
import type { Authority } from './authority.ts';
import type { DataFolder, Secrets } from './folder.ts';
import type { MetricsPorts, Ports } from './ports.ts';
import { passOn } from './programs.ts';
import type { PreparedRuntime } from './runtime.ts';

export type Site = {
  env: Env;
  folder: DataFolder;
  secrets: Secrets;
  ports: Ports;
  url: string;
  poolSize: number;
  /** Browsers kept warm; undefined: sessions can have none. */
  browsers: number | undefined;
  /** The tier of sessions that name none; undefined: standard. */
  browserTier: BrowserTier | undefined;
  /** Absolute path of a file of pools, which then takes the place of the one pool. */
  poolsFile: string | undefined;
  /** With https: the ports that clients use are fronts, before programs on ports of their own. */
  authority: Authority | undefined;
};

/** Where orchestrator, gateway and operators find the control plane. */
export const internalUrl = ({ ports }: Pick<Site, 'ports'>): string =>
  `http://127.0.0.1:${ports.internal}`;

const metricsEnv = (
  { ports: { metrics } }: Site,
  program: keyof MetricsPorts,
): Record<string, string> =>
  metrics === undefined ? {} : { SVC_METRICS_LISTEN: `127.0.0.1:${metrics[program]}` };

/** How the addresses of surfaces look. Browsers and curl look up no name that ends in `.localhost`. */
export const surfaceTemplate = ({
  ports: { gateway },
  authority,
}: Pick<Site, 'ports' | 'authority'>): string | undefined =>
  gateway === undefined
    ? undefined
    : `${authority === undefined ? 'http' : 'https'}://{session}--{surface}.localhost:${gateway}`;

/** How the gateway is known to it and to the control plane: names that lead to this machine itself. */
const surfaceEnv = (site: Site): Record<string, string> => {
  const template = surfaceTemplate(site);
  if (template === undefined) return {};
  const token = new Secret(site.secrets.tokenSecret).derive('gateway');
  return { SVC_GATEWAY_URL: template, SVC_GATEWAY_TOKEN: token };
};

/** A program that asks the public addresses trusts the authority; Node takes one file, so another's goes with it. */
const trustEnv = ({ env, authority }: Site): Record<string, string> => {
  if (authority === undefined) return {};
  const { caFile, bundleFile } = authority;
  return { NODE_EXTRA_CA_CERTS: env.NODE_EXTRA_CA_CERTS === undefined ? caFile : bundleFile };
};

const senderToken = ({ tokenSecret }: Secrets): string => new Secret(tokenSecret).derive('sender');

/** A folder of a release before has no key pair of the organization until it is opened anew. */
const organizationEnv = (secrets: Secrets): Record<string, string> => {
  const { organizationPublicKey, organizationSecretKey } = secrets;
  if (organizationPublicKey === undefined || organizationSecretKey === undefined) return {};
  return {
    SVC_BOOTSTRAP_ORGANIZATION_PUBLIC_KEY: organizationPublicKey,
    SVC_BOOTSTRAP_ORGANIZATION_SECRET_KEY: organizationSecretKey,
  };
};

/** Environment of the control plane. */
export const controlEnv = (
  site: Site,
  databaseUrl: string,
  runtime: PreparedRuntime | undefined,
): Record<string, string> => {
  const { env, folder, secrets, ports, url, browserTier } = site;
  return {
    ...passOn(env),
    SVC_DATABASE_URL: databaseUrl,
    ...trustEnv(site),
    SVC_LISTEN: `127.0.0.1:${ports.behind?.control ?? ports.api}`,
    // All that containers reach of this machine.
    SVC_HOST_LISTEN: `${runtime?.listen ?? '127.0.0.1'}:${ports.host}`,
    SVC_INTERNAL_LISTEN: `127.0.0.1:${ports.internal}`,
    SVC_PUBLIC_URL: url,
    ...(env.SVC_BLOB_URL === undefined ? { SVC_BLOB_DIR: folder.blobDir } : {}),
    SVC_SECRET: secrets.tokenSecret,
    SVC_POOL_TOKEN: secrets.poolToken,
    SVC_BOOTSTRAP_PUBLIC_KEY: secrets.publicKey,
    SVC_BOOTSTRAP_SECRET_KEY: secrets.secretKey,
    ...organizationEnv(secrets),
    SVC_SENDER_TOKEN: senderToken(secrets),
    ...(browserTier === undefined ? {} : { SVC_BROWSER_TIER: browserTier }),
    ...surfaceEnv(site),
    ...metricsEnv(site, 'control'),
  };
};

/** Environment of the orchestrator; without a prepared runtime, hosts are processes. */
export const orchestratorEnv = (
  site: Site,
  runtime: PreparedRuntime | undefined,
): Record<string, string> => {
  const { env, secrets, ports, poolSize, poolsFile, browsers, authority } = site;
  return {
    ...passOn(env),
    SVC_CONTROL_URL: internalUrl(site),
    SVC_HOST_CONTROL_URL: `http://${runtime?.host ?? '127.0.0.1'}:${ports.host}`,
    SVC_POOL_TOKEN: secrets.poolToken,
    SVC_INSTALLATION: secrets.installation,
    SVC_HOLDER: 'up',
    SVC_RUNTIME: runtime === undefined ? 'process' : 'docker',
    SVC_POOL_SIZE: String(poolSize),
    ...(browsers === undefined ? {} : { SVC_BROWSER_POOL_SIZE: String(browsers) }),
    ...(poolsFile === undefined ? {} : { SVC_POOLS_FILE: poolsFile }),
    SVC_ON_STOP: 'destroy',
    ...(authority === undefined ? {} : { SVC_AUTHORITY: authority.pem }),
    ...(runtime?.image == null ? {} : { SVC_IMAGE: runtime.image }),
    ...metricsEnv(site, 'orchestrator'),
  };
};

/** Environment of the gateway. */
export const gatewayEnv = (site: Site, finishMs: number): Record<string, string> => ({
  ...passOn(site.env),
  ...surfaceEnv(site),
  SVC_LISTEN: `127.0.0.1:${site.ports.behind?.gateway ?? site.ports.gateway}`,
  SVC_CONTROL_URL: internalUrl(site),
  // Ports of processes and of containers alike are on this machine.
  SVC_HOST_NETWORKS: '127.0.0.1/32',
  SVC_FINISH_MS: String(finishMs),
  ...metricsEnv(site, 'gateway'),
});

/** Environment of the sender of webhooks. */
export const senderEnv = (site: Site): Record<string, string> => ({
  ...passOn(site.env),
  SVC_CONTROL_URL: internalUrl(site),
  SVC_SENDER_TOKEN: senderToken(site.secrets),
  ...metricsEnv(site, 'sender'),
});
