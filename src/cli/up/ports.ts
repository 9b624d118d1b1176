/**
 * The ports of one `svc up`: the one that was asked for, and from the few after it one for each part that needs a port
 * of its own. A gateway and metrics have ports that their options name.
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
  /** With https: ports of the programs behind the fronts. */
  behind: { control: number; gateway: number } | undefined;
  /** Undefined when there is no gateway, and hosts are reached directly. */
  gateway: number | undefined;
  /** Undefined when no program serves metrics and status. */
  metrics: MetricsPorts | undefined;
};

/** Size of the range of one `svc up`, which begins with the API's port. Ports of others in it are passed over. */
export const rangeSize = 10;

const lastPort = 65_535;

/** Looks at a port: resolves with the system's code for why it cannot be listened on, undefined when it can. */
export type Look = (port: number) => Promise<string | undefined>;

const refusal = (message: string, hint: string): AppError =>
  new AppError('conflict', message, { detail: { hint } });

/** Throws `conflict`, naming the option, for a port that cannot be had. */
const accept = async (option: string, port: number, look: Look): Promise<number> => {
  const problem = await look(port);
  if (problem === undefined) return port;
  const why = problem === 'EADDRINUSE' ? 'is taken' : `cannot be used (${problem})`;
  throw refusal(
    `port ${port} ${why}`,
    `choose another with ${option} <number>; 0 takes any free one`,
  );
};

/** Chooses the port that was wanted, or for 0 the one of last time if it is free, or any. */
const chooseFirst = async ({ port, remembered }: PortWishes, look: Look): Promise<number> => {
  if (port !== 0) return accept('--port', port, look);
  const isFree = remembered !== undefined && (await look(remembered)) === undefined;
  return isFree ? remembered : findFreePort();
};

const chooseNamed = async (option: string, wanted: number, look: Look): Promise<number> =>
  wanted === 0 ? findFreePort() : accept(option, wanted, look);

/** Chooses as many free ports after the first as are needed, in order. Throws `conflict` if the range has too few. */
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
    `${needed} free ports are needed after port ${first}, and of ${first + 1} to ${last} only ${found.length} can be had`,
    'choose another range with --port <number>; 0 takes any free one',
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
  /** 0: any free one, the remembered one first. */
  port: number;
  remembered: number | undefined;
  /** 0: any free one; undefined: no gateway. */
  gateway: number | undefined;
  /** The first of them, 0: any free ones; undefined: none. */
  metrics: number | undefined;
  tls: boolean;
};

/** Chooses all ports, and takes none. Throws `conflict`, with the way out, for those that cannot be had. */
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

/** Names them all for a person. World hosts have others, which the system gives them. */
export const describePorts = ({ api, host, internal, database, behind, gateway }: Ports): string =>
  [
    `${api} API`,
    `${host} host API`,
    `${internal} internal`,
    `${database} PostgreSQL`,
    ...(behind === undefined ? [] : [`${behind.control} and ${behind.gateway} behind https`]),
    ...(gateway === undefined ? [] : [`${gateway} gateway`]),
  ].join(', ');
