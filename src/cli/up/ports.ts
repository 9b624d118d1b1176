/**
 * Chooses the ports of one `svc up`: the requested port, and one of the ports after it for each program that needs one
 * of its own. Options name the ports of the gateway and of metrics.
 */
import { AppError } from '#domain/error.ts';
import { findFreePort, portProblem } from './free-port.ts';
import type { programs } from './programs.ts';

/** Ports of the programs' metrics and status. */
export type MetricsPorts = Record<keyof typeof programs, number>;

export type Ports = {
  /** Port of the public API. */
  api: number;
  /** Ports of the control plane's host API and of its internal APIs. */
  host: number;
  internal: number;
  database: number;
  /** Only with https: ports of the programs behind the TLS proxies. */
  behind: { control: number; gateway: number } | undefined;
  /** Port of the gateway. Undefined if there is none, so that hosts are reached directly. */
  gateway: number | undefined;
  /** Ports of metrics. Undefined if no program serves metrics and status. */
  metrics: MetricsPorts | undefined;
};

/**
 * Size of the port range of one `svc up`, which begins with the API's port. Ports taken by other programs are skipped.
 */
export const rangeSize = 10;

const lastPort = 65_535;

/** Checks a port. Resolves with the system's code if no program can listen on it, or else with undefined. */
export type Look = (port: number) => Promise<string | undefined>;

const refusal = (message: string, hint: string): AppError =>
  new AppError('conflict', message, { detail: { hint } });

/** Returns the port. If it cannot be used, throws `conflict`, which names the option. */
const accept = async (option: string, port: number, look: Look): Promise<number> => {
  const problem = await look(port);
  if (problem === undefined) return port;
  const why = problem === 'EADDRINUSE' ? 'is taken' : `cannot be used (${problem})`;
  throw refusal(
    `port ${port} ${why}`,
    `choose another port with ${option} <number>; 0 means any free one`,
  );
};

/** Returns the requested port. For 0, returns the port of the last start if that is free, or else any free port. */
const chooseFirst = async ({ port, remembered }: PortWishes, look: Look): Promise<number> => {
  if (port !== 0) return accept('--port', port, look);
  const isFree = remembered !== undefined && (await look(remembered)) === undefined;
  return isFree ? remembered : findFreePort();
};

const chooseNamed = async (option: string, wanted: number, look: Look): Promise<number> =>
  wanted === 0 ? findFreePort() : accept(option, wanted, look);

/**
 * Chooses the needed number of free ports after the first one, in order. Throws `conflict` if the range has too few.
 */
const chooseAfter = async (
  first: number,
  needed: number,
  isOthers: (port: number) => boolean,
  look: Look,
): Promise<number[]> => {
  const last = Math.min(first + rangeSize - 1, lastPort);
  const found: number[] = [];
  for (let port = first + 1; port <= last && found.length < needed; port += 1) {
    if (!isOthers(port) && (await look(port)) === undefined) found.push(port);
  }
  if (found.length === needed) return found;
  throw refusal(
    `${needed} free ports are needed after port ${first}, but of ${first + 1} to ${last} only ${found.length} are free`,
    'choose another range with --port <number>; 0 means any free one',
  );
};

const chooseMetrics = async (first: number, look: Look): Promise<MetricsPorts> => {
  const choose = (place: number) => chooseNamed('--metrics', first === 0 ? 0 : first + place, look);
  return {
    control: await choose(0),
    orchestrator: await choose(1),
    gateway: await choose(2),
    sender: await choose(3),
  };
};

export type PortWishes = {
  /** Port of the API. 0 means the port of the last start if that is free, or else any free port. */
  port: number;
  remembered: number | undefined;
  /** Port of the gateway; 0: any free port; undefined: no gateway. */
  gateway: number | undefined;
  /** First port of the metrics; 0: any free ports; undefined: none. */
  metrics: number | undefined;
  tls: boolean;
};

/** Chooses all ports, without listening on them. Throws `conflict` with a hint for a port that cannot be used. */
export const choosePorts = async (wishes: PortWishes, look: Look = portProblem): Promise<Ports> => {
  const { gateway: wantedGateway, metrics: wantedMetrics, tls } = wishes;
  const api = await chooseFirst(wishes, look);
  const gateway =
    wantedGateway === undefined ? undefined : await chooseNamed('--gateway', wantedGateway, look);
  const metrics =
    wantedMetrics === undefined ? undefined : await chooseMetrics(wantedMetrics, look);
  const named = new Set([gateway, ...Object.values(metrics ?? {})]);
  const rest = await chooseAfter(api, tls ? 5 : 3, (port) => named.has(port), look);
  const [host = 0, internal = 0, database = 0, control = 0, behindGateway = 0] = rest;
  return {
    api,
    host,
    internal,
    database,
    behind: tls ? { control, gateway: behindGateway } : undefined,
    gateway,
    metrics,
  };
};

/** Formats all ports for people. World hosts have further ports, which the system chooses. */
export const describePorts = ({ api, host, internal, database, behind, gateway }: Ports): string =>
  [
    `${api} API`,
    `${host} host API`,
    `${internal} internal`,
    `${database} PostgreSQL`,
    ...(behind === undefined ? [] : [`${behind.control} and ${behind.gateway} behind https`]),
    ...(gateway === undefined ? [] : [`${gateway} gateway`]),
  ].join(', ');
