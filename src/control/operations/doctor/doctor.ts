/**
 * Checks whether an installation is healthy, as far as one replica of the control plane can tell. Each check reports a
 * finding and, if something is wrong, how to correct it. A check that throws counts as failed.
 */
import { describeError } from '#domain/error.ts';
import { kindOfSize } from '#domain/pool.ts';
import type { DoctorCheck, PoolReport } from '#wire/admin-api/operations.ts';
import { checkSchema } from '../../db/core/migrate.ts';
import { isEmptied } from '../../db/core/watch-schema.ts';
import { listPools, readVitals, type Vitals } from '../../db/operations/installation.ts';
import { findFormerKeys } from '../../db/projects/keys.ts';
import { findNearQuota } from '../../db/projects/quotas.ts';
import { type Load, readLoad } from '../../db/sessions/load.ts';
import { readImportLoad } from '../../db/worlds/import-jobs.ts';
import type { Parts } from '../../parts.ts';
import { findRefused } from '../../platform/tokens/keys-in-use.ts';
import { findDamaged } from '../../worlds/versions/damaged.ts';
import { findLostWorlds } from '../../worlds/versions/lost.ts';
import { type Finding, failed, listNames as list, ok, warning } from './finding.ts';
import { checkGateways } from './gateways.ts';
import { checkUrls } from './urls.ts';

/**
 * Times after which a host or session counts as overdue. They are longer than the orchestrator's own, so that a finding
 * is something that the orchestrator did not repair.
 */
const limits = { silentMs: 30_000, provisionMs: 150_000, closingMs: 60_000 };
const mostSkewMs = 2_000;
/** Longest time that a call of user code may take, plus a margin, in milliseconds. */
const longCallMs = 180_000;
const gib = 2 ** 30;
/**
 * Limits of the sample of blobs that each run of the doctor reads: bytes and time. The sample is large enough to notice
 * a store that is damaged as a whole.
 */
const sampled = { mostBytes: 32 * 2 ** 20, mostMs: 3_000 };

const checkDatabase = async ({ db }: Parts): Promise<Finding> => {
  if (await isEmptied(db)) {
    return failed(
      'the database is empty: all its data is gone',
      'restore a backup (docs/operate/install.md) before the control plane starts again: without one, it starts with a new, empty database. A database in a pod without a volume loses its data with the pod',
    );
  }
  await checkSchema(db);
  db.diskSpace.check();
  return ok('reachable, with every migration of this release');
};

const checkKeys = async ({ config, db }: Parts): Promise<Finding> => {
  const refused = await findRefused(db, config.bootstrap);
  if (refused.size > 0) {
    return failed(
      list([...refused].map(([publicKey, why]) => `${publicKey} ${why}`)),
      'put a new pair into SVC_BOOTSTRAP_PUBLIC_KEY and SVC_BOOTSTRAP_SECRET_KEY: revoked or replaced keys are never valid again (docs/operate/operations.md)',
    );
  }
  const heldBefore = await findFormerKeys(
    db,
    config.bootstrap.map(({ publicKey }) => publicKey),
  );
  if (heldBefore.length === 0) return ok(`${config.bootstrap.length} configured, all valid`);
  return warning(
    `${list(heldBefore)} of the previous release: valid until revoked by hand`,
    'once no control plane of the previous release has it, revoke it: update keys set revoked_at = now(), configured = null where public_key = … (docs/operate/operations.md)',
  );
};

const checkClock = async ({ db }: Parts): Promise<Finding> => {
  const askedAt = Date.now();
  const { nowMs } = await readVitals(db, limits);
  const skewMs = Math.round(nowMs - (askedAt + Date.now()) / 2);
  if (Math.abs(skewMs) <= mostSkewMs) return ok(`within ${Math.abs(skewMs)} ms of the database's`);
  const way = skewMs > 0 ? 'behind' : 'ahead of';
  return warning(
    `this machine's clock is ${Math.abs(skewMs)} ms ${way} the database's`,
    'synchronise the clocks of all machines (NTP); deadlines use the clock of the database, and the clocks of sessions start from this one',
  );
};

const checkBlobs = async ({ blobs }: Parts): Promise<Finding> => {
  await blobs.check();
  await blobs.checkDiskSpace?.();
  const space = await blobs.space?.();
  if (space === undefined) return ok(`${blobs.location} can be used`);
  const free = `${(space.freeBytes / gib).toFixed(1)} GiB of ${(space.totalBytes / gib).toFixed(1)} GiB free`;
  const isShort = space.freeBytes < gib || space.freeBytes < space.totalBytes / 20;
  return isShort
    ? warning(`${blobs.location} has only ${free}`, 'enlarge the volume of SVC_BLOB_DIR')
    : ok(`${blobs.location} can be used; ${free}`);
};

const checkWorlds = async (parts: Parts): Promise<Finding> => {
  const { lost, looked, total } = await findLostWorlds(parts);
  if (lost.length > 0) {
    const names = lost.map(({ world, blob }) => `${world} (${blob})`);
    return failed(
      `blobs of ${lost.length} worlds are lost, so their sessions end as load_failed: ${list(names)}`,
      `restore the blobs from a backup into ${parts.blobs.location}, or create the worlds again under their slugs (svc worlds create <slug> --from <tree>); always restore database and blobs together`,
    );
  }
  if (total === 0) return ok('there are no worlds yet');
  const sample = await findDamaged(parts, { after: null, ...sampled });
  if (sample.damaged.length > 0) {
    const names = sample.damaged.map(({ world, blob }) => `${world} (${blob})`);
    return failed(
      `blobs of ${sample.damaged.length} worlds are damaged, so their sessions end as load_failed: ${list(names)}`,
      `copy the blobs back over those in ${parts.blobs.location}, or remove them there and create the worlds again under their slugs (svc worlds create <slug> --from <tree>); svc admin doctor --deep checks the blobs of all worlds`,
    );
  }
  const there =
    looked < total
      ? `the blobs of the newest ${looked} of ${total} are there`
      : `the blobs of all ${total} are there`;
  const isAll = sample.next === null && sample.looked === total;
  return ok(`${there}, those of ${isAll ? 'all' : `the newest ${sample.looked}`} undamaged`);
};

const checkLeases = ({ leases }: Vitals): Finding => {
  const start =
    'start an orchestrator with the SVC_CONTROL_URL and SVC_POOL_TOKEN of this control plane';
  if (leases.length === 0) return failed('no orchestrator leads', start);
  const late = leases.filter(({ lateMs }) => lateMs > 0);
  const refusing = leases.filter(({ lateMs, refused }) => lateMs <= 0 && refused !== null);
  if (late.length === 0 && refusing.length > 0) {
    const why = refusing.map(
      ({ installation, refused }) =>
        `${installation} continues with its last valid pools: ${refused}`,
    );
    return warning(list(why), 'correct the pools file; svc pools check <file> shows its mistakes');
  }
  if (late.length === 0)
    return ok(list(leases.map(({ installation, holder }) => `${holder} leads ${installation}`)));
  const names = late.map(
    ({ installation, holder, lateMs }) =>
      `no orchestrator leads ${installation}; ${holder} did until ${Math.round(lateMs / 1_000)} s ago`,
  );
  const message = list(names);
  const fix = `${start}; look at its log`;
  return late.length === leases.length ? failed(message, fix) : warning(message, fix);
};

const isOfBrowsers = (size: string): boolean => kindOfSize(size) === 'browser';

/** Returns the finding about a pool that has a problem; undefined if it has none. */
const judgePool = (pool: PoolReport, waiting: number): Finding | undefined => {
  const { name, held, hosts, fresh, target, maximum, unknownWorlds } = pool;
  if (held !== null) {
    return failed(
      `${name} launches none: ${held}`,
      'correct what the reason names; the orchestrator retries launches by itself',
    );
  }
  const live = hosts.starting + hosts.warm + hosts.assigned + hosts.recycling + hosts.draining;
  if (waiting > 0 && live >= maximum) {
    return warning(
      `${name} is full (${live} of ${maximum} hosts) while sessions wait (${waiting})`,
      `raise the maximum of the pool, or close sessions: svc admin hosts --pool ${name} lists its hosts and their sessions`,
    );
  }
  if (fresh + hosts.starting < target && live < maximum) {
    return warning(
      `${name} has ${fresh} fresh hosts of ${target}, and ${hosts.starting} starting`,
      "run svc admin doctor again in a moment; if it persists, see the orchestrator's log",
    );
  }
  if (unknownWorlds.length > 0) {
    return warning(
      `${name} is configured to preload worlds that do not exist: ${list(unknownWorlds)}`,
      'create them, or name existing worlds, as organization/project/world',
    );
  }
  return undefined;
};

const checkPools = async ({ db }: Parts, { waiting, browsers }: Load): Promise<Finding> => {
  const pools = (await listPools(db)).filter(({ isLed }) => isLed);
  if (pools.length === 0) {
    return failed('no orchestrator manages a pool', 'see the check of orchestrators');
  }
  const waitingFor = ({ size }: PoolReport): number =>
    isOfBrowsers(size) ? browsers.waiting : waiting;
  const findings = pools.flatMap((pool) => judgePool(pool, waitingFor(pool)) ?? []);
  const first = findings.find(({ status }) => status === 'failed') ?? findings[0];
  if (first !== undefined) {
    return {
      ...first,
      message: list(
        findings.map(({ message }) => message),
        '; ',
      ),
    };
  }
  return ok(list(pools.map(({ name, fresh, target }) => `${name}: ${fresh} fresh of ${target}`)));
};

const checkHosts = ({ silent }: Vitals): Finding =>
  silent.length === 0
    ? ok('all have reported within 30 s')
    : failed(
        `${list(silent)} have not reported for over 30 s`,
        'the orchestrator drains silent hosts after 10 s: check that one leads, and that hosts reach the control plane (network policy)',
      );

const checkSessions = ({ stuck }: Vitals, { waiting, longestWaitMs }: Load): Finding => {
  if (stuck.length > 0) {
    const names = stuck.map(({ id, state }) => `${id} (${state})`);
    return failed(
      `${list(names)} are past their deadlines`,
      "the reaper ends such sessions every 2 s: check that an orchestrator leads, and search its log for 'reap'",
    );
  }
  if (longestWaitMs > 10_000) {
    return warning(
      `waiting for a host: ${waiting}, the oldest for ${Math.round(longestWaitMs / 1_000)} s`,
      'see the check of pools; raise target or maximum if there is capacity',
    );
  }
  return ok(
    waiting === 0 ? 'no session waits for a host' : `waiting for a host: ${waiting}, not for long`,
  );
};

const checkBrowsers = async (
  { db }: Parts,
  { browsers: { waiting, longestWaitMs, givenUp } }: Load,
): Promise<Finding> => {
  if (givenUp > 0) {
    return failed(
      `sessions that get no more browsers, because several browsers in a row failed to start: ${givenUp}`,
      'svc admin hosts --state gone shows the last output of the browsers; close the sessions and open new ones',
    );
  }
  if (longestWaitMs > 10_000) {
    return warning(
      `waiting for a browser: ${waiting}, the oldest for ${Math.round(longestWaitMs / 1_000)} s`,
      'see the check of pools; raise target or maximum of a browser pool if there is capacity',
    );
  }
  if (waiting > 0) return ok(`waiting for a browser: ${waiting}, not for long`);
  const pools = (await listPools(db)).filter(({ isLed, size }) => isLed && isOfBrowsers(size));
  return pools.length === 0
    ? ok('no pool has browsers: a session that requests one is refused')
    : ok(
        list(pools.map(({ name, hosts }) => `${name}: ${hosts.warm} warm, ${hosts.assigned} used`)),
      );
};

const checkCalls = ({ claimed, oldestClaimedMs }: Load): Finding =>
  oldestClaimedMs <= longCallMs
    ? ok(`${claimed} under way`)
    : warning(
        `a call has been running for ${Math.round(oldestClaimedMs / 1_000)} s`,
        "no call of user code may take that long: see the host's log (svc admin hosts --state assigned)",
      );

/**
 * Queue time from which imports count as delayed. It is longer than a restart of a program, and longer than most
 * imports take.
 */
const longQueueSeconds = 600;

const checkImports = async ({ db, config }: Parts): Promise<Finding> => {
  const { queued, running, lost, oldestSeconds } = await readImportLoad(db);
  const summary = `${running} under way, ${queued} waiting`;
  if (lost > 0 && running === 0 && config.imports.processes === 0) {
    return failed(
      `${lost} imports have lost their worker, and this replica runs none`,
      'set SVC_IMPORT_PROCESSES to 1 or more on at least one replica',
    );
  }
  if (oldestSeconds > longQueueSeconds) {
    return warning(
      `${summary}, the oldest for ${Math.round(oldestSeconds / 60)} minutes`,
      'svc admin imports shows them; raise SVC_IMPORT_PROCESSES if there are idle processors, or add a replica',
    );
  }
  return ok(lost === 0 ? summary : `${summary}; another worker takes over ${lost}`);
};

const checkQuotas = async ({ db, config }: Parts): Promise<Finding> => {
  const near = await findNearQuota(db, config.quotas);
  if (near.length === 0) return ok('no project has used nine tenths of a quota');
  const names = near.map(
    ({ project, quota, used, most }) =>
      `${project} has ${Math.floor(used)} of ${most} ("${quota}")`,
  );
  return warning(
    list(names),
    'ask the project to use less, or raise its quota: svc admin quotas <organization/project>, or SVC_QUOTA_<NAME> for all',
  );
};

type Check = { name: string; run(): Promise<Finding> | Finding };

const runCheck = async ({ name, run }: Check): Promise<DoctorCheck> => {
  try {
    return { name, ...(await run()) };
  } catch (error) {
    return {
      name,
      ...failed(describeError(error), 'check that it exists and that this replica may use it'),
    };
  }
};

/** Runs all checks at once. */
export const examine = (parts: Parts): Promise<DoctorCheck[]> => {
  const vitals = readVitals(parts.db, limits);
  const load = readLoad(parts.db);
  const checks: Check[] = [
    { name: 'database', run: () => checkDatabase(parts) },
    { name: 'keys', run: () => checkKeys(parts) },
    { name: 'clock', run: () => checkClock(parts) },
    { name: 'blobs', run: () => checkBlobs(parts) },
    { name: 'worlds', run: () => checkWorlds(parts) },
    { name: 'gateways', run: () => checkGateways(parts) },
    { name: 'orchestrators', run: async () => checkLeases(await vitals) },
    { name: 'pools', run: async () => checkPools(parts, await load) },
    { name: 'hosts', run: async () => checkHosts(await vitals) },
    { name: 'sessions', run: async () => checkSessions(await vitals, await load) },
    { name: 'browsers', run: async () => checkBrowsers(parts, await load) },
    { name: 'calls', run: async () => checkCalls(await load) },
    { name: 'imports', run: () => checkImports(parts) },
    { name: 'quotas', run: () => checkQuotas(parts) },
    { name: 'addresses', run: () => checkUrls(parts) },
  ];
  return Promise.all(checks.map(runCheck));
};
