/**
 * `svc admin`: commands of operators that show pools and hosts, take hosts out of service, and diagnose an
 * installation.
 */
import { type Command, Option } from 'commander';
import { type HostState, hostStates } from '#domain/host.ts';
import {
  drainHosts,
  examine,
  giveQuotas,
  listHosts,
  listImports,
  listPools,
  previewCollection,
} from '#wire/admin-api/operations.ts';
import type { Client } from '#wire/client.ts';
import { settableQuotas } from '#wire/public-api/projects/settings.ts';
import { answeringWithin, connectOperator, showingWaits } from '../service/client.ts';
import { checkAllBlobs } from '../service/deep-check.ts';
import type { Context } from '../terminal/context.ts';
import { describeSettings } from '../views/accounts.ts';
import {
  describeChecks,
  describeCollection,
  describeDrained,
  describeHosts,
  describeImports,
  describePools,
} from '../views/admin.ts';
import { usageError } from '../views/report.ts';
import {
  addCommand,
  type CommandText,
  collect,
  parseNumber,
  printAnswer,
  type ServiceOptions,
  setVerdict,
  withService,
} from './command.ts';
import { type OrUsual, orUsual, readQuotas, wireOf } from './settings.ts';

/** Time to wait for the service. It is longer than any check of `doctor`, and than a restart of the service. */
const patienceMs = 60_000;

/** Dependencies of each command here. */
type Admin = {
  context: Context;
  /** Adds a command with `--json` and `--data`. */
  add(text: CommandText): Command;
  /** Creates the operator's client from a command's options and the environment. */
  clientFor(options: ServiceOptions): Client;
};

/** Adds `svc admin pools`, which shows each pool on a line. */
const addPools = ({ context, add, clientFor }: Admin): void => {
  const command = add({
    usage: 'pools',
    summary: 'list the pools of world hosts: targets, states, and why a pool launches none',
    example: 'svc admin pools',
  });
  command.action(async (options: ServiceOptions) => {
    const { body } = await clientFor(options).send(listPools, {});
    printAnswer(context, options, body, (view) => describePools(body, view));
  });
};

type HostsOptions = ServiceOptions & { pool?: string; state?: HostState; limit: number };

const addHosts = ({ context, add, clientFor }: Admin): void => {
  const command = add({
    usage: 'hosts',
    summary: 'list world hosts and their sessions; --state gone shows why recent ones ended',
    example: 'svc admin hosts --pool default\nsvc admin hosts --state gone --limit 20',
  })
    .option('--pool <pool>', 'only hosts of this pool')
    .addOption(new Option('--state <state>', 'only hosts in this state').choices(hostStates))
    .option(
      '--limit <n>',
      'maximum number',
      parseNumber({ min: 1, max: 10_000, whole: true }),
      100,
    );
  command.action(async (options: HostsOptions) => {
    const { pool, state, limit } = options;
    const query = {
      limit,
      ...(pool === undefined ? {} : { pool }),
      ...(state === undefined ? {} : { state }),
    };
    const { body } = await clientFor(options).send(listHosts, { query });
    printAnswer(context, options, body, (view) => describeHosts(body, view));
  });
};

const addImports = ({ context, add, clientFor }: Admin): void => {
  const command = add({
    usage: 'imports',
    summary: 'list the queued and running imports and publishes of rows of all projects',
    example: 'svc admin imports',
  });
  command.action(async (options: ServiceOptions) => {
    const { body } = await clientFor(options).send(listImports, {});
    printAnswer(context, options, body, (view) => describeImports(body, view));
  });
};

type DrainOptions = ServiceOptions & {
  pool?: string;
  installation?: string;
  endSessions?: boolean;
  yes?: boolean;
};

/**
 * Returns the hosts to drain: one host, or those of a pool, which needs `--yes`. Throws a usage error for other
 * combinations.
 */
const drainedBy = (hostId: string | undefined, options: DrainOptions) => {
  const { pool, installation, endSessions = false, yes } = options;
  if ((hostId === undefined) === (pool === undefined)) {
    throw usageError('name one host, or a pool with --pool');
  }
  if (pool === undefined && installation !== undefined) {
    throw usageError('--installation goes with --pool: a host is of one installation alone');
  }
  if (hostId !== undefined) return { hostId, endSessions };
  if (yes !== true) {
    const ending = endSessions ? ' and ends the sessions on them' : '';
    throw usageError(`this drains all hosts of "${pool}"${ending}; add --yes to do it`);
  }
  return { pool: pool ?? '', endSessions, ...(installation === undefined ? {} : { installation }) };
};

/**
 * Adds `svc admin drain`, which takes hosts out of service. Their sessions continue unless `--end-sessions` is given.
 */
const addDrain = ({ context, add, clientFor }: Admin): void => {
  const command = add({
    usage: 'drain [host]',
    summary: 'drain a host, or the hosts of a pool; the pool replaces them',
    example: 'svc admin drain <host>\nsvc admin drain --pool default --yes',
  })
    .option('--pool <pool>', 'all hosts of a pool that serve no session')
    .option('--installation <id>', 'installation of the pool, if several have one with this name')
    .option('--end-sessions', 'also hosts that serve a session, which ends it')
    .option('--yes', 'confirm draining a pool');
  command.action(async (hostId: string | undefined, options: DrainOptions) => {
    const body = drainedBy(hostId, options);
    const { body: drained } = await clientFor(options).send(drainHosts, { body });
    printAnswer(context, options, drained, () => describeDrained(drained));
  });
};

/** Adds `svc admin doctor`, which diagnoses the installation. The exit status is 1 if a check failed. */
const addDoctor = ({ context, add, clientFor }: Admin): void => {
  const command = add({
    usage: 'doctor',
    summary:
      'check database, clocks, blobs, worlds, gateways, orchestrators, pools, hosts, sessions and addresses',
    example: 'svc admin doctor\nsvc admin doctor --deep',
    decides: true,
  }).option('--deep', 'also read the blobs of all worlds and list the damaged ones');
  command.action(async (options: ServiceOptions & { deep?: boolean }) => {
    const client = clientFor(options);
    const { body } = await client.send(examine, {});
    if (options.deep === true) body.checks.push(await checkAllBlobs(client, context.err));
    setVerdict(context, !body.checks.some(({ status }) => status === 'failed'));
    printAnswer(context, options, body, (view) => describeChecks(body.checks, view));
  });
};

/** Adds `svc admin blobs`, which only lists the blobs to be collected: the service collects them by itself. */
const addBlobs = ({ context, add, clientFor }: Admin): void => {
  const command = add({
    usage: 'blobs',
    summary:
      'preview garbage collection: the blobs that only deleted worlds and dead uploads refer to',
    example: 'svc admin blobs --dry-run',
  }).option('--dry-run', 'the default: this command never removes anything');
  command.action(async (options: ServiceOptions) => {
    const { body } = await clientFor(options).send(previewCollection, {});
    printAnswer(context, options, body, (view) => describeCollection(body, view));
  });
};

type QuotasOptions = ServiceOptions & { quota?: string[]; rateLimit?: OrUsual<number> };

/** Adds `svc admin quotas`. Only operators may raise quotas above those of the installation. */
const addQuotas = ({ context, add, clientFor }: Admin): void => {
  const command = add({
    usage: 'quotas <organization/project>',
    summary: "set quotas or the rate limit of a project, in place of the installation's",
    example: 'svc admin quotas local/default --quota sessions=5000',
  })
    .option('--quota <name=n>', `${settableQuotas.join(', ')}; repeatable, n or default`, collect)
    .option(
      '--rate-limit <n>',
      'requests a minute of one key or token, or default',
      orUsual(parseNumber({ min: 1, max: 10_000_000, whole: true })),
    );
  command.action(async (path: string, options: QuotasOptions) => {
    const [organization = '', project = '', ...more] = path.split('/');
    if (project === '' || more.length > 0)
      throw usageError(`"${path}" is not organization/project`);
    const { quota, rateLimit } = options;
    if (quota === undefined && rateLimit === undefined) {
      throw usageError('give --quota or --rate-limit');
    }
    const body = {
      ...(quota === undefined ? {} : { quotas: readQuotas(quota) }),
      ...(rateLimit === undefined ? {} : { rateLimit: wireOf(rateLimit) }),
    };
    const params = { organization, project };
    const { body: settings } = await clientFor(options).send(giveQuotas, { params, body });
    printAnswer(context, options, settings, () => describeSettings(settings));
  });
};

export const addAdmin = (program: Command, context: Context): void => {
  const command = program
    .command('admin')
    .description(
      'for operators: pools, hosts, diagnosis; uses SVC_ADMIN_URL with SVC_ADMIN_TOKEN (or SVC_POOL_TOKEN)',
    );
  const { env, cwd, err } = context;
  const admin: Admin = {
    context,
    add: (text) => withService(addCommand(command, text)),
    clientFor: ({ data }) =>
      showingWaits(answeringWithin(connectOperator({ env, cwd, data }), patienceMs), err),
  };
  for (const add of [addPools, addHosts, addImports, addDrain, addDoctor, addBlobs, addQuotas])
    add(admin);
};
