/**
 * `svc admin`: commands with which operators list pools and hosts, take hosts out of service, and diagnose an
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
  collect,
  given,
  parseNumber,
  printAnswer,
  type ServiceOptions,
  setVerdict,
  withService,
} from './command.ts';
import { addRequestCommand } from './request-command.ts';
import { type OrUsual, orUsual, readQuotas, wireOf } from './settings.ts';

/**
 * Maximum wait for an answer of the service, in milliseconds. Each check of `doctor`, and a restart of the service,
 * takes less.
 */
const patienceMs = 60_000;

/** Creates the client of an operator. A request that is not answered within `patienceMs` fails. */
const operatorFor = ({ env, cwd, err }: Context, { data }: ServiceOptions): Client =>
  showingWaits(answeringWithin(connectOperator({ env, cwd, data }), patienceMs), err);

/** Adds `svc admin pools`, which shows each pool on a line. */
const addPools = (admin: Command, context: Context): void => {
  addRequestCommand(admin, context, {
    usage: 'pools',
    summary: 'list the pools of world hosts: targets, states, and why a pool launches no hosts',
    example: 'svc admin pools',
    connect: operatorFor,
    operation: listPools,
    text: describePools,
  });
};

type HostsOptions = { pool?: string; state?: HostState; limit: number };

const addHosts = (admin: Command, context: Context): void => {
  addRequestCommand(admin, context, {
    usage: 'hosts',
    summary: 'list world hosts and their sessions; --state gone shows why hosts ended recently',
    example: 'svc admin hosts --pool default\nsvc admin hosts --state gone --limit 20',
    options: (command) =>
      command
        .option('--pool <pool>', 'only hosts of this pool')
        .addOption(new Option('--state <state>', 'only hosts in this state').choices(hostStates))
        .option(
          '--limit <n>',
          'maximum number of hosts',
          parseNumber({ min: 1, max: 10_000, whole: true }),
          100,
        ),
    connect: operatorFor,
    operation: listHosts,
    input: (_words, { limit, pool, state }: HostsOptions) => ({
      query: { limit, ...given('pool', pool), ...given('state', state) },
    }),
    text: describeHosts,
  });
};

const addImports = (admin: Command, context: Context): void => {
  addRequestCommand(admin, context, {
    usage: 'imports',
    summary: 'list the queued and running imports and publishes of rows, of all projects',
    example: 'svc admin imports',
    connect: operatorFor,
    operation: listImports,
    text: describeImports,
  });
};

type DrainOptions = {
  pool?: string;
  installation?: string;
  endSessions?: boolean;
  yes?: boolean;
};

/**
 * Returns the hosts to drain: one host, or all hosts of a pool, for which `--yes` is required. Throws a usage error for
 * other combinations of the options.
 */
const drainedBy = (hostId: string | undefined, options: DrainOptions) => {
  const { pool, installation, endSessions = false, yes } = options;
  if ((hostId === undefined) === (pool === undefined)) {
    throw usageError('name one host, or a pool with --pool');
  }
  if (pool === undefined && installation !== undefined) {
    throw usageError(
      '--installation can only be given with --pool: a host belongs to one installation',
    );
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
const addDrain = (admin: Command, context: Context): void => {
  addRequestCommand(admin, context, {
    usage: 'drain [host]',
    summary: 'drain a host, or the hosts of a pool; the pool replaces them',
    example: 'svc admin drain <host>\nsvc admin drain --pool default --yes',
    options: (command) =>
      command
        .option('--pool <pool>', 'all hosts of a pool that serve no session')
        .option(
          '--installation <id>',
          'installation of the pool, if several have one with this name',
        )
        .option('--end-sessions', 'also drain hosts that serve a session; that ends the session')
        .option('--yes', 'confirm draining a pool'),
    connect: operatorFor,
    operation: drainHosts,
    input: ([hostId], options: DrainOptions) => ({ body: drainedBy(hostId, options) }),
    text: describeDrained,
  });
};

/** Adds `svc admin doctor`, which diagnoses the installation. The exit status is 1 if any check failed. */
const addDoctor = (admin: Command, context: Context): void => {
  const command = addCommand(admin, {
    usage: 'doctor',
    summary:
      'check database, clocks, blobs, worlds, gateways, orchestrators, pools, hosts, sessions and addresses',
    example: 'svc admin doctor\nsvc admin doctor --deep',
    decides: true,
  }).option('--deep', 'also read the blobs of all worlds and list the damaged ones');
  withService(command).action(async (options: ServiceOptions & { deep?: boolean }) => {
    const client = operatorFor(context, options);
    const { body } = await client.send(examine, {});
    if (options.deep === true) body.checks.push(await checkAllBlobs(client, context.err));
    setVerdict(context, !body.checks.some(({ status }) => status === 'failed'));
    printAnswer(context, options, body, (view) => describeChecks(body.checks, view));
  });
};

/**
 * Adds `svc admin blobs`, which lists the unused blobs. The service deletes them by itself; this command deletes
 * nothing.
 */
const addBlobs = (admin: Command, context: Context): void => {
  addRequestCommand(admin, context, {
    usage: 'blobs',
    summary:
      'preview garbage collection: the blobs to which only deleted worlds and abandoned uploads refer',
    example: 'svc admin blobs --dry-run',
    options: (command) =>
      command.option('--dry-run', 'the default: this command never removes anything'),
    connect: operatorFor,
    operation: previewCollection,
    text: describeCollection,
  });
};

type QuotasOptions = { quota?: string[]; rateLimit?: OrUsual<number> };

/** Adds `svc admin quotas`. Only operators may raise quotas above those of the installation. */
const addQuotas = (admin: Command, context: Context): void => {
  addRequestCommand(admin, context, {
    usage: 'quotas <organization/project>',
    summary: "set quotas or the rate limit of a project, in place of the installation's",
    example: 'svc admin quotas local/default --quota sessions=5000',
    options: (command) =>
      command
        .option(
          '--quota <name=n>',
          `${settableQuotas.join(', ')}; repeatable, n or default`,
          collect,
        )
        .option(
          '--rate-limit <n>',
          'maximum number of requests a minute for each key or token, or default',
          orUsual(parseNumber({ min: 1, max: 10_000_000, whole: true })),
        ),
    connect: operatorFor,
    operation: giveQuotas,
    input: ([path], { quota, rateLimit }: QuotasOptions) => {
      const [organization = '', project = '', ...more] = path.split('/');
      if (project === '' || more.length > 0)
        throw usageError(`"${path}" is not organization/project`);
      if (quota === undefined && rateLimit === undefined) {
        throw usageError('give --quota or --rate-limit');
      }
      const body = {
        ...(quota === undefined ? {} : { quotas: readQuotas(quota) }),
        ...(rateLimit === undefined ? {} : { rateLimit: wireOf(rateLimit) }),
      };
      return { params: { organization, project }, body };
    },
    text: describeSettings,
  });
};

export const addAdmin = (program: Command, context: Context): void => {
  const admin = program
    .command('admin')
    .description(
      'for operators: pools, hosts, diagnosis; uses SVC_ADMIN_URL with SVC_ADMIN_TOKEN (or SVC_POOL_TOKEN)',
    );
  for (const add of [addPools, addHosts, addImports, addDrain, addDoctor, addBlobs, addQuotas]) {
    add(admin, context);
  }
};
