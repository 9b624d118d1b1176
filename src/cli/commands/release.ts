/**
 * `svc release`: builds of agents, their labels, the difference between two, and their runs. The gate has a file of
 * its own.
 */
import type { Command } from 'commander';
import * as api from '#wire/public-api/operations.ts';
import { readJsonObject } from '../files/input.ts';
import type { Context } from '../terminal/context.ts';
import { describeComparison } from '../views/comparison.ts';
import {
  describeBuild,
  describeBuilds,
  describeDiff,
  describeMove,
  describeMoves,
  describeRun,
  describeRuns,
} from '../views/releases.ts';
import {
  addCommand,
  addPaging,
  addVersion,
  clientFor,
  given,
  type PagingOptions,
  printAnswer,
  printPage,
  type ServiceOptions,
  withService,
} from './command.ts';
import { addReleaseGate } from './release-gate.ts';

type RegisterOptions = ServiceOptions & {
  hash: string;
  version?: string;
  manifest?: string;
  commit?: string;
  branch?: string;
};

const addRegister = (builds: Command, context: Context): void => {
  const command = addCommand(builds, {
    usage: 'register <agent>',
    summary: 'register a build by the hash of what it is made of; again, it is the same build',
    example:
      'svc release builds register support --hash "$HASH" --version 1.4.0 --manifest @manifest.json --commit "$GIT_SHA"',
  })
    .requiredOption('--hash <hash>', 'of its content: what sessions name it by')
    .option('--manifest <json>', 'model, prompt, prompts and tools: JSON, @file or -')
    .option('--commit <sha>', 'the commit that it was built from')
    .option('--branch <name>', 'the branch of that');
  addVersion(command, { about: 'its version', formerly: 'semver' });
  withService(command).action(async (agentId: string, options: RegisterOptions) => {
    const { hash: buildHash, version, manifest, commit, branch } = options;
    const attribution = {
      ...(commit === undefined ? {} : { commitSha: commit }),
      ...(branch === undefined ? {} : { branch }),
    };
    const { body } = await clientFor(context, options).send(api.registerBuild, {
      body: {
        ...{ agentId, buildHash },
        ...(version === undefined ? {} : { semanticVer: version }),
        ...(manifest === undefined
          ? {}
          : { manifest: await readJsonObject(context, manifest, '--manifest') }),
        ...(Object.keys(attribution).length === 0 ? {} : { attribution }),
      },
    });
    printAnswer(context, options, body, () => describeBuild(body));
  });
};

const addBuildList = (builds: Command, context: Context): void => {
  const command = addCommand(builds, {
    usage: 'list',
    summary: 'builds, newest first',
    example: 'svc release builds list --agent support',
  }).option('--agent <agent>', 'of this agent alone');
  type Options = ServiceOptions & PagingOptions & { agent?: string };
  addPaging(withService(command)).action(async (options: Options) => {
    const { page, limit, agent } = options;
    const query = { page, limit, ...(agent === undefined ? {} : { agentId: agent }) };
    const { body } = await clientFor(context, options).send(api.listBuilds, { query });
    printPage(context, options, body, describeBuilds);
  });
};

const addBuildShow = (builds: Command, context: Context): void => {
  const command = addCommand(builds, {
    usage: 'show <build>',
    summary: 'a build by its id; with --json also its manifest',
    example: 'svc release builds show bld-01kaz4x0pg8q2m5v7n3c1d9e6f --json',
  });
  withService(command).action(async (buildId: string, options: ServiceOptions) => {
    const params = { buildId };
    const { body } = await clientFor(context, options).send(api.getBuild, { params });
    printAnswer(context, options, body, () => describeBuild(body));
  });
};

type MoveOptions = ServiceOptions & {
  force?: true;
  reason?: string;
  actor?: string;
  source?: string;
};

const addLabelSet = (labels: Command, context: Context): void => {
  const command = addCommand(labels, {
    usage: 'set <build> <label>',
    summary:
      'put a label on a build; an earlier build takes it across a breaking change by --force',
    example:
      'svc release labels set bld-01kaz4x0pg8q2m5v7n3c1d9e6f stable --reason "passed the gate" --source ci',
  })
    .option('--force', 'roll back across a breaking tool change')
    .option('--reason <text>', 'why, for the history')
    .option('--actor <name>', 'who; the public key unless given')
    .option('--source <name>', 'from where, such as ci');
  withService(command).action(async (buildId: string, label: string, options: MoveOptions) => {
    const { force, reason, actor, source } = options;
    const { body } = await clientFor(context, options).send(api.moveLabel, {
      params: { buildId },
      body: {
        label,
        ...(force === undefined ? {} : { force }),
        ...(reason === undefined ? {} : { reason }),
        ...(actor === undefined ? {} : { actor }),
        ...(source === undefined ? {} : { source }),
      },
    });
    printAnswer(context, options, body, () => describeMove(body));
  });
};

const addLabelShow = (labels: Command, context: Context): void => {
  const command = addCommand(labels, {
    usage: 'show <agent> <label>',
    summary: 'the build that a label of an agent is on',
    example: 'svc release labels show support stable',
  });
  withService(command).action(async (agentId: string, label: string, options: ServiceOptions) => {
    const query = { agentId, label };
    const { body } = await clientFor(context, options).send(api.resolveBuild, { query });
    printAnswer(context, options, body, () => describeBuild(body));
  });
};

const addLabelHistory = (labels: Command, context: Context): void => {
  const command = addCommand(labels, {
    usage: 'history <build>',
    summary: 'moves of labels onto a build and off it, newest first',
    example: 'svc release labels history bld-01kaz4x0pg8q2m5v7n3c1d9e6f',
  });
  type Options = ServiceOptions & PagingOptions;
  addPaging(withService(command)).action(async (buildId: string, options: Options) => {
    const { page, limit } = options;
    const { body } = await clientFor(context, options).send(api.listLabelMoves, {
      params: { buildId },
      query: { page, limit },
    });
    printPage(context, options, body, describeMoves);
  });
};

const addDiff = (release: Command, context: Context): void => {
  const command = addCommand(release, {
    usage: 'diff <agent> <base> <candidate>',
    summary:
      'what differs between two builds: tools, prompts, model; each by id, hash, label or version',
    example: 'svc release diff support stable 1.4.0',
  });
  withService(command).action(
    async (agentId: string, base: string, candidate: string, options: ServiceOptions) => {
      const query = { agentId, base, candidate };
      const { body } = await clientFor(context, options).send(api.diffBuilds, { query });
      printAnswer(context, options, body, () => describeDiff(body, context.colors));
    },
  );
};

const addCompare = (release: Command, context: Context): void => {
  const command = addCommand(release, {
    usage: 'compare <base> <candidate>',
    summary:
      'pass rates of two builds by task and check, their differences, and the sessions that flipped',
    example: [
      'svc release compare "$OLD_HASH" "$NEW_HASH"',
      'svc release compare stable 1.4.0 --agent support',
    ].join('\n'),
  }).option('--agent <agent>', 'the agent, to name its builds by label or version as well');
  type Options = ServiceOptions & { agent?: string };
  withService(command).action(async (base: string, candidate: string, options: Options) => {
    const query = { base, candidate, ...given('agentId', options.agent) };
    const { body } = await clientFor(context, options).send(api.compareBuilds, { query });
    printAnswer(context, options, body, (view) => describeComparison(body, view));
  });
};

const addRunList = (runs: Command, context: Context): void => {
  const command = addCommand(runs, {
    usage: 'list',
    summary: 'runs of builds, newest first, and how they stand',
    example: 'svc release runs list --build bld-01kaz4x0pg8q2m5v7n3c1d9e6f',
  }).option('--build <build>', 'of the build of this id alone');
  type Options = ServiceOptions & PagingOptions & { build?: string };
  addPaging(withService(command)).action(async (options: Options) => {
    const { page, limit, build } = options;
    const query = { page, limit, ...(build === undefined ? {} : { buildId: build }) };
    const { body } = await clientFor(context, options).send(api.listAgentRuns, { query });
    printPage(context, options, body, describeRuns);
  });
};

const addRun = (runs: Command, context: Context): void => {
  const show = addCommand(runs, {
    usage: 'show <run>',
    summary: 'how a run stands',
    example: 'svc release runs show nightly-42',
  });
  const finish = addCommand(runs, {
    usage: 'finish <run>',
    summary: 'say that no session is to come in a run, whatever it planned',
    example: 'svc release runs finish nightly-42',
  });
  withService(show).action(async (agentRunId: string, options: ServiceOptions) => {
    const params = { agentRunId };
    const { body } = await clientFor(context, options).send(api.getAgentRun, { params });
    printAnswer(context, options, body, () => describeRun(body));
  });
  withService(finish).action(async (agentRunId: string, options: ServiceOptions) => {
    const params = { agentRunId };
    const { body } = await clientFor(context, options).send(api.finishAgentRun, { params });
    printAnswer(context, options, body, () => describeRun(body));
  });
};

export const addRelease = (program: Command, context: Context): void => {
  const release = program.command('release').description('builds of agents, and the release gate');
  const builds = release.command('builds').description('builds of agents');
  for (const add of [addRegister, addBuildList, addBuildShow]) add(builds, context);
  const labels = release.command('labels').description('labels of builds: releases');
  for (const add of [addLabelSet, addLabelShow, addLabelHistory]) add(labels, context);
  addDiff(release, context);
  addCompare(release, context);
  addReleaseGate(release, context);
  const runs = release.command('runs').description('runs of builds');
  for (const add of [addRunList, addRun]) add(runs, context);
};
