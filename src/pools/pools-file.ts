/**
 * Reads the configuration file: the pools of an installation and the limits of its sessions, in TOML. It reads the file
 * as a whole and reports every mistake at its line. If there is a mistake, nothing of the file is applied. Settings
 * that are valid but probably not intended are warnings.
 *
 * docs/internals/orchestrator.md describes the keys; pools-checks.ts checks them against one another.
 */
import { type HostKind, hostKinds } from '#domain/host.ts';
import { parsePointer, withoutByteOrderMark } from '#domain/json.ts';
import {
  browserSize,
  type Isolation,
  isolations,
  namePattern,
  type RuntimeName,
  usualIsolation,
  usualSize,
} from '#domain/pool.ts';
import { browserTiers } from '#domain/session.ts';
import type { Problem } from '#language/problem.ts';
import { parseToml } from '#language/read/document.ts';
import {
  filledText,
  integer,
  type Kind,
  kind,
  mapOf,
  number,
  oneOf,
  type Placed,
  placed,
  refuseValue,
  textMatching,
} from '#language/read/kinds.ts';
import { createProblems, type Place } from '#language/read/place.ts';
import {
  defaulted,
  defaultedTable,
  optional,
  readTable,
  required,
  type TableOf,
  tableOf,
} from '#language/read/table.ts';
import { duration } from './duration.ts';
import { kubernetesTable } from './kubernetes-table.ts';
import type { PoolConfig } from './pool-config.ts';
import { checkPool, checkPools, warnOfPools } from './pools-checks.ts';
import type { SessionLimits, Settings } from './settings.ts';

const minuteMs = 60_000;
const dayMs = 86_400_000;
const mostPools = 100;
const mostHosts = 100_000;

const name = textMatching('1 to 48 small letters, digits and inner hyphens', namePattern);

const sizeKeys = {
  name: defaulted(name, usualSize),
  memory_mb: defaulted(integer(128, 1_048_576), 512),
  cpus: defaulted(number(0.1, 1_024), 1),
  pids: defaulted(integer(32, 65_536), 128),
};

const refillKeys = {
  per_second: defaulted(number(0.01, 10_000), 50),
  burst: defaulted(integer(1, 10_000), 100),
};

const target: Kind<number | 'auto'> = kind(
  { anyOf: [{ const: 'auto' }, integer(0, mostHosts).schema ?? {}] },
  (place, value) =>
    typeof value === 'string' && value !== 'auto'
      ? refuseValue(place, `must be "auto" or a number of hosts, but is "${value}"`)
      : value === 'auto'
        ? value
        : integer(0, mostHosts)(place, value),
);

const worldPath = /^[a-z0-9][a-z0-9-]*\/[a-z0-9][a-z0-9-]*\/[a-z0-9][a-z0-9-]*$/;

/** Reads a table of worlds by path. A key that is not a path is refused at the key. */
const worlds: Kind<Map<string, number>> = kind(
  { type: 'object', additionalProperties: { type: 'integer' } },
  (place, value) => {
    const read = mapOf(integer(1, mostHosts))(place, value);
    for (const path of read?.keys() ?? []) {
      if (worldPath.test(path)) continue;
      const message = `"${path}" does not name a world`;
      place.at(path).refuse('bad_name', message, 'write "organization/project/world" = 2');
    }
    return read;
  },
);

const poolKeys = {
  kind: defaulted<HostKind>(oneOf(hostKinds), 'world'),
  tier: optional(oneOf(browserTiers)),
  isolation: optional<Isolation>(oneOf(isolations)),
  image: optional(filledText()),
  size: defaultedTable(sizeKeys),
  minimum: defaulted(integer(0, mostHosts), 0),
  maximum: required(integer(1, mostHosts), mostHosts),
  target: defaulted<number | 'auto'>(target, 'auto'),
  surge: defaulted(integer(1, mostHosts), 1),
  refill: defaultedTable(refillKeys),
  max_age: optional(duration(minuteMs, 365 * dayMs)),
  max_age_jitter: defaulted(number(0, 1), 0.2),
  start_timeout: defaulted(duration(1_000, dayMs), minuteMs),
  worlds: defaulted<Map<string, number>>(worlds, new Map()),
  kubernetes: optional(kubernetesTable),
};
export type PoolTable = TableOf<typeof poolKeys>;

const sessionKeys = {
  idle: optional(duration(1_000, 30 * dayMs)),
  max_age: optional(duration(1_000, 365 * dayMs)),
  provision_timeout: optional(duration(1_000, dayMs)),
};

const fileKeys = {
  pools: required<Map<string, Placed<PoolTable>>>(
    mapOf(placed(tableOf(poolKeys)), { least: 1 }),
    new Map(),
  ),
  sessions: defaultedTable(sessionKeys),
};

/** Settings from outside the file that its keys are checked against. */
export type PoolsFileContext = {
  /** Runtime whose rules are checked; undefined: none are. */
  runtime: RuntimeName | undefined;
  /** Defaults for limits that the file does not set. */
  sessions: SessionLimits;
};

/** Result of reading the file. If there are problems, there are no settings. */
export type PoolsFile =
  | { settings: Settings; warnings: Problem[]; problems: [] }
  | { settings?: undefined; warnings: Problem[]; problems: Problem[] };

const toPool = (pool: string, table: PoolTable, { runtime }: PoolsFileContext): PoolConfig => ({
  pool,
  tier: table.tier ?? null,
  isolation: table.isolation ?? (runtime === undefined ? 'container' : usualIsolation(runtime)),
  size: {
    name: table.kind === 'browser' ? browserSize : table.size.name,
    memoryMb: table.size.memory_mb,
    cpus: table.size.cpus,
    pids: table.size.pids,
  },
  ...(table.image === undefined ? {} : { image: table.image }),
  ...(table.kubernetes === undefined ? {} : { kubernetes: table.kubernetes }),
  minimum: table.minimum,
  maximum: table.maximum,
  target: table.target,
  surge: table.surge,
  refill: { perSecond: table.refill.per_second, burst: table.refill.burst },
  maxAgeMs: table.max_age ?? null,
  maxAgeJitter: table.max_age_jitter,
  startMs: table.start_timeout,
  worlds: [...table.worlds].map(([world, hosts]) => ({ world, hosts })),
});

/** Refuses keys in a browser pool that only world hosts have. */
const checkBrowsers = (place: Place, { size, worlds }: PoolTable): void => {
  if (size.name !== usualSize) {
    const message = 'sessions cannot select a size for their browser, so the size has no name';
    place.at('size', 'name').refuse('unexpected_key', message, 'leave it out');
  }
  if (worlds.size > 0) {
    const message = 'browsers hold no worlds';
    place.at('worlds').refuse('unexpected_key', message, 'leave it out');
  }
};

const readPools = (
  place: Place,
  tables: ReadonlyMap<string, Placed<PoolTable>>,
  context: PoolsFileContext,
): PoolConfig[] => {
  if (tables.size > mostPools) {
    place.refuse('too_many', `there are ${tables.size} pools, more than ${mostPools}`);
  }
  const pools = [...tables].map(([pool, { place: at, value }]) => {
    if (!namePattern.test(pool)) {
      const wanted = 'names are 1 to 48 small letters, digits and inner hyphens';
      at.refuse('bad_name', `"${pool}" is not a valid name of a pool`, wanted);
    }
    const config = toPool(pool, value, context);
    if (value.kind === 'browser') checkBrowsers(at, value);
    checkPool(at, config, context.runtime);
    return config;
  });
  checkPools(place, pools);
  return pools;
};

/** Reads the text of a file. `file` is its name in problems and warnings. */
export const readPoolsFile = (
  file: string,
  given: string,
  context: PoolsFileContext,
): PoolsFile => {
  const text = withoutByteOrderMark(given);
  const problems = createProblems();
  const document = parseToml(problems, file, text);
  if (document === undefined) return { problems: problems.list(), warnings: [] };
  const read = readTable(document.place, document.value, fileKeys);
  const pools = readPools(document.place.at('pools'), read.pools, context);
  if (problems.count() > 0) return { problems: problems.list(), warnings: [] };

  const warnings = createProblems();
  const warned = parseToml(warnings, file, text);
  if (warned !== undefined) warnOfPools(warned.place.at('pools'), pools);
  const { idle, max_age, provision_timeout } = read.sessions;
  const sessions = {
    idleMs: idle ?? context.sessions.idleMs,
    maxAgeMs: max_age ?? context.sessions.maxAgeMs,
    provisionMs: provision_timeout ?? context.sessions.provisionMs,
  };
  return { settings: { pools, sessions }, warnings: warnings.list(), problems: [] };
};

/** Formats a problem on one line: place, message and hint. */
export const describeProblem = ({
  file,
  pointer,
  line,
  column,
  message,
  hint,
}: Problem): string => {
  const at = line === undefined ? file : `${file}:${line}:${column}`;
  const path = parsePointer(pointer).join('.');
  const key = path.slice(path.lastIndexOf('.') + 1);
  const said = message.startsWith(`${key}: `) ? message.slice(key.length + 2) : message;
  const way = hint === undefined ? '' : ` (${hint})`;
  return `${at}: ${path === '' ? '' : `${path}: `}${said}${way}`;
};
