/**
 * Connects to a cluster: by a kubeconfig file, or from within the cluster itself. Requests have a deadline and share
 * their connections, which the client library would otherwise open anew for each.
 */
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import {
  AppsV1Api,
  AuthorizationV1Api,
  type Configuration,
  CoreV1Api,
  createConfiguration,
  KubeConfig,
  KubernetesObjectApi,
  type Middleware,
  NetworkingV1Api,
  PolicyV1Api,
  type RequestContext,
  ServerConfiguration,
} from '@kubernetes/client-node';
import { AppError, describeError } from '#domain/error.ts';

/** Deadline for an answer of the API server, in milliseconds. */
const answerMs = 15_000;
/** Age at which connections are replaced, in milliseconds, so that a changed certificate is noticed. */
const connectionsMs = 10 * 60_000;

/** Location of a cluster: its kubeconfig file, or the cluster that this process runs in. */
export type ClusterLocation = {
  /** `KUBECONFIG`: paths of files that are merged into one configuration. */
  kubeconfig: string | undefined;
  /** True if `KUBERNETES_SERVICE_HOST` is set, as it is in every pod of a cluster. */
  inCluster: boolean;
  home: string | undefined;
};

export type Cluster = {
  config: KubeConfig;
  core: CoreV1Api;
  apps: AppsV1Api;
  networking: NetworkingV1Api;
  policy: PolicyV1Api;
  authorization: AuthorizationV1Api;
  /** Client for objects of any kind, addressed by their own kind and name. */
  objects: KubernetesObjectApi;
  /** Address of the API server, for messages. */
  address: string;
};

const readFiles = (paths: readonly string[]): KubeConfig => {
  const config = new KubeConfig();
  for (const [index, path] of paths.entries()) {
    try {
      const one = new KubeConfig();
      one.loadFromFile(path);
      if (index === 0) config.loadFromFile(path);
      else config.mergeConfig(one, true);
    } catch (cause) {
      throw new AppError('invalid', `the kubeconfig ${path} cannot be read`, { cause });
    }
  }
  return config;
};

const readKubeConfig = ({ kubeconfig, inCluster, home }: ClusterLocation): KubeConfig => {
  if (kubeconfig !== undefined) return readFiles(kubeconfig.split(delimiter).filter(Boolean));
  if (inCluster) {
    const config = new KubeConfig();
    config.loadFromCluster();
    return config;
  }
  const usual = home === undefined ? undefined : join(home, '.kube/config');
  if (usual !== undefined && existsSync(usual)) return readFiles([usual]);
  throw new AppError(
    'unavailable',
    'no Kubernetes cluster: KUBECONFIG is not set, there is no ~/.kube/config, and this is no pod',
  );
};

/** Builds the middleware that gives each request its deadline and reuses earlier requests' connections. */
const shareConnections = (): Middleware => {
  let shared: { dispatcher: ReturnType<RequestContext['getDispatcher']>; since: number };
  return {
    async pre(request) {
      const now = performance.now();
      if (shared === undefined || now - shared.since > connectionsMs) {
        shared = { dispatcher: request.getDispatcher(), since: now };
      }
      if (shared.dispatcher !== undefined) request.setDispatcher(shared.dispatcher);
      request.setSignal(AbortSignal.timeout(answerMs));
      return request;
    },
    post: async (response) => response,
  };
};

const configurationOf = (config: KubeConfig, server: string): Configuration =>
  createConfiguration({
    baseServer: new ServerConfiguration(server, {}),
    authMethods: { default: config },
    promiseMiddleware: [shareConnections()],
  });

/**
 * Returns the cluster that the location names. Sends no request, so whether the cluster answers is known only after the
 * first one.
 */
export const connectCluster = (location: ClusterLocation): Cluster => {
  const config = readKubeConfig(location);
  const address = config.getCurrentCluster()?.server;
  if (address === undefined) {
    throw new AppError('invalid', 'the kubeconfig has no current context with a cluster');
  }
  const configuration = configurationOf(config, address);
  return {
    config,
    address,
    core: new CoreV1Api(configuration),
    apps: new AppsV1Api(configuration),
    networking: new NetworkingV1Api(configuration),
    policy: new PolicyV1Api(configuration),
    authorization: new AuthorizationV1Api(configuration),
    objects: new KubernetesObjectApi(configuration),
  };
};

/** Returns true if the API server refused with one of these HTTP statuses. */
export const isStatus = (error: unknown, ...statuses: number[]): boolean =>
  error instanceof Error &&
  (('code' in error && statuses.some((status) => error.code === status)) ||
    ('statusCode' in error && statuses.some((status) => error.statusCode === status)));

/** Returns the API server's reason for a refusal: the message of its status object. */
const reasonIn = (error: unknown): string => {
  if (!(error instanceof Error && 'body' in error)) return describeError(error);
  let body = error.body;
  try {
    if (typeof body === 'string') body = JSON.parse(body);
  } catch {
    return String(body).trim(); // a proxy's page, not the API server's status object
  }
  const message = (body as { message?: unknown } | null)?.message;
  return typeof message === 'string' ? message : describeError(error);
};

/** Builds the error for a refusal; its message begins with the action that was refused. */
export const clusterRefusal = (what: string, cause: unknown): AppError =>
  cause instanceof AppError
    ? cause
    : new AppError('unavailable', `Kubernetes: ${what}: ${reasonIn(cause)}`);
