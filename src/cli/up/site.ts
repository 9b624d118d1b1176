/** Describes one installation of `svc up`: its ports and folder, and the environment of each of its programs. */
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
  /** Number of browsers kept warm; undefined: sessions can have no browser. */
  browsers: number | undefined;
  /** Browser tier of sessions that name none; undefined: standard. */
  browserTier: BrowserTier | undefined;
  /** Absolute path of a pools file, which replaces the single default pool. */
  poolsFile: string | undefined;
  /**
   * Only with https: the certificate authority. Clients then use the ports of TLS proxies, and the programs have other
   * ports.
   */
  authority: Authority | undefined;
};

/** Returns the address at which orchestrator, gateway and operators reach the control plane. */
export const internalUrl = ({ ports }: Pick<Site, 'ports'>): string =>
  `http://127.0.0.1:${ports.internal}`;

const metricsEnv = (
  { ports: { metrics } }: Site,
  program: keyof MetricsPorts,
): Record<string, string> =>
  metrics === undefined ? {} : { SVC_METRICS_LISTEN: `127.0.0.1:${metrics[program]}` };

/**
 * Returns the template of the addresses of surfaces. Browsers and curl need no DNS for names that end in `.localhost`.
 */
export const surfaceTemplate = ({
  ports: { gateway },
  authority,
}: Pick<Site, 'ports' | 'authority'>): string | undefined =>
  gateway === undefined
    ? undefined
    : `${authority === undefined ? 'http' : 'https'}://{session}--{surface}.localhost:${gateway}`;

/**
 * Returns the settings about the gateway, for the gateway and the control plane. The gateway's host names lead to this
 * machine.
 */
const surfaceEnv = (site: Site): Record<string, string> => {
  const template = surfaceTemplate(site);
  if (template === undefined) return {};
  const token = new Secret(site.secrets.tokenSecret).derive('gateway');
  return { SVC_GATEWAY_URL: template, SVC_GATEWAY_TOKEN: token };
};

/**
 * Returns the variable that makes a program trust the authority. The variable can name only one file. If the user's
 * environment already sets it, the bundle is named, which also contains the certificates of the user's file.
 */
const trustEnv = ({ env, authority }: Site): Record<string, string> => {
  if (authority === undefined) return {};
  const { caFile, bundleFile } = authority;
  return { NODE_EXTRA_CA_CERTS: env.NODE_EXTRA_CA_CERTS === undefined ? caFile : bundleFile };
};

const senderToken = ({ tokenSecret }: Secrets): string => new Secret(tokenSecret).derive('sender');

/**
 * Returns the key pair of the organization. A folder of an earlier release has none until this release has opened it.
 */
const organizationEnv = (secrets: Secrets): Record<string, string> => {
  const { organizationPublicKey, organizationSecretKey } = secrets;
  if (organizationPublicKey === undefined || organizationSecretKey === undefined) return {};
  return {
    SVC_BOOTSTRAP_ORGANIZATION_PUBLIC_KEY: organizationPublicKey,
    SVC_BOOTSTRAP_ORGANIZATION_SECRET_KEY: organizationSecretKey,
  };
};

/** Returns the environment of the control plane. */
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
    // The only address of this machine that containers reach.
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

/** Returns the environment of the orchestrator. If no runtime was prepared, hosts are processes. */
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

/** Returns the environment of the gateway. */
export const gatewayEnv = (site: Site, finishMs: number): Record<string, string> => ({
  ...passOn(site.env),
  ...surfaceEnv(site),
  SVC_LISTEN: `127.0.0.1:${site.ports.behind?.gateway ?? site.ports.gateway}`,
  SVC_CONTROL_URL: internalUrl(site),
  // Ports of processes and of containers are both published on this machine.
  SVC_HOST_NETWORKS: '127.0.0.1/32',
  SVC_FINISH_MS: String(finishMs),
  ...metricsEnv(site, 'gateway'),
});

/** Returns the environment of the sender of webhooks. */
export const senderEnv = (site: Site): Record<string, string> => ({
  ...passOn(site.env),
  SVC_CONTROL_URL: internalUrl(site),
  SVC_SENDER_TOKEN: senderToken(site.secrets),
  ...metricsEnv(site, 'sender'),
});
