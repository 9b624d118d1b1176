/**
 * `svc release`: builds of agents, their labels, the differences between two builds, and their runs. The gate is in
 * release-gate.ts.
 */
import { type Command, Option } from 'commander';
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
import { addVersion, given } from './command.ts';
import { addReleaseGate } from './release-gate.ts';
import { addListCommand, addRequestCommand } from './request-command.ts';

type RegisterOptions = {
  hash: string;
  version?: string;
  manifest?: string;
  commit?: string;
  branch?: string;
};

const addRegister = (builds: Command, context: Context): void => {
  addRequestCommand(builds, context, {
    usage: 'register <agent>',
    summary:
      'register a build by its content hash; registering the same hash again returns the existing build',
    example:
      'svc release builds register support --hash "$HASH" --version 1.4.0 --manifest @manifest.json --commit "$GIT_SHA"',
    options: (command) => {
      command
        .requiredOption(
          '--hash <hash>',
          "hash of the build's content, by which sessions name the build",
        )
        .option('--manifest <json>', 'model, prompt, prompts and tools: JSON, @file or -')
        .option('--commit <sha>', 'the commit that the build was made from')
        .option('--branch <name>', 'the branch of the commit');
      addVersion(command, { about: 'version of the build', formerly: 'semver' });
    },
    operation: api.registerBuild,
    input: async ([agentId], options: RegisterOptions) => {
      const { hash: buildHash, version, manifest, commit, branch } = options;
      const attribution = { ...given('commitSha', commit), ...given('branch', branch) };
      const body = {
        ...{ agentId, buildHash },
        ...given('semanticVer', version),
        ...(manifest === undefined
          ? {}
          : { manifest: await readJsonObject(context, manifest, '--manifest') }),
        ...(Object.keys(attribution).length === 0 ? {} : { attribution }),
      };
      return { body };
    },
    text: describeBuild,
  });
};

const addBuildList = (builds: Command, context: Context): void => {
  addListCommand(builds, context, {
    usage: 'list',
    summary: 'list builds, newest first',
    example: 'svc release builds list --agent support',
    filters: { agentId: new Option('--agent <agent>', 'only builds of this agent') },
    operation: api.listBuilds,
    text: describeBuilds,
  });
};

const addBuildShow = (builds: Command, context: Context): void => {
  addRequestCommand(builds, context, {
    usage: 'show <build>',
    summary: 'show a build by its id; with --json also its manifest',
    example: 'svc release builds show bld-01kaz4x0pg8q2m5v7n3c1d9e6f --json',
    operation: api.getBuild,
    input: ([buildId]) => ({ params: { buildId } }),
    text: describeBuild,
  });
};

type MoveOptions = {
  force?: true;
  reason?: string;
  actor?: string;
  source?: string;
};

const addLabelSet = (labels: Command, context: Context): void => {
  addRequestCommand(labels, context, {
    usage: 'set <build> <label>',
    summary: 'move a label to a build; rolling back across a breaking change needs --force',
    example:
      'svc release labels set bld-01kaz4x0pg8q2m5v7n3c1d9e6f stable --reason "passed the gate" --source ci',
    options: (command) =>
      command
        .option('--force', 'roll back even across a breaking tool change')
        .option('--reason <text>', 'reason, for the history')
        .option('--actor <name>', 'author of the move (default: the public key)')
        .option('--source <name>', 'origin of the move, such as ci'),
    operation: api.moveLabel,
    input: ([buildId, label], { force, reason, actor, source }: MoveOptions) => ({
      params: { buildId },
      body: {
        ...{ label, ...given('force', force) },
        ...given('reason', reason),
        ...given('actor', actor),
        ...given('source', source),
      },
    }),
    text: describeMove,
  });
};

const addLabelShow = (labels: Command, context: Context): void => {
  addRequestCommand(labels, context, {
    usage: 'show <agent> <label>',
    summary: 'show the build that a label of an agent points to',
    example: 'svc release labels show support stable',
    operation: api.resolveBuild,
    input: ([agentId, label]) => ({ query: { agentId, label } }),
    text: describeBuild,
  });
};

const addLabelHistory = (labels: Command, context: Context): void => {
  addListCommand(labels, context, {
    usage: 'history <build>',
    summary: 'list the label moves to and from a build, newest first',
    example: 'svc release labels history bld-01kaz4x0pg8q2m5v7n3c1d9e6f',
    operation: api.listLabelMoves,
    input: ([buildId]) => ({ params: { buildId } }),
    text: describeMoves,
  });
};

const addDiff = (release: Command, context: Context): void => {
  addRequestCommand(release, context, {
    usage: 'diff <agent> <base> <candidate>',
    summary:
      'compare tools, prompts and model of two builds, each named by id, hash, label or version',
    example: 'svc release diff support stable 1.4.0',
    operation: api.diffBuilds,
    input: ([agentId, base, candidate]) => ({ query: { agentId, base, candidate } }),
    text: (body, { colors }) => describeDiff(body, colors),
  });
};

const addCompare = (release: Command, context: Context): void => {
  addRequestCommand(release, context, {
    usage: 'compare <base> <candidate>',
    summary:
      'compare the pass rates of two builds by task and check, and list the sessions whose verdicts differ',
    example: [
      'svc release compare "$OLD_HASH" "$NEW_HASH"',
      'svc release compare stable 1.4.0 --agent support',
    ].join('\n'),
    options: (command) =>
      command.option(
        '--agent <agent>',
        'the agent; if given, its builds can be named by label or version, too',
      ),
    operation: api.compareBuilds,
    input: ([base, candidate], { agent }: { agent?: string }) => ({
      query: { base, candidate, ...given('agentId', agent) },
    }),
    text: describeComparison,
  });
};

const addRuns = (release: Command, context: Context): void => {
  const runs = release.command('runs').description('agent runs');
  addListCommand(runs, context, {
    usage: 'list',
    summary: 'list agent runs with their progress, newest first',
    example: 'svc release runs list --build bld-01kaz4x0pg8q2m5v7n3c1d9e6f',
    filters: { buildId: new Option('--build <build>', 'only runs of the build with this id') },
    operation: api.listAgentRuns,
    text: describeRuns,
  });
  addRequestCommand(runs, context, {
    usage: 'show <run>',
    summary: 'show the progress of an agent run',
    example: 'svc release runs show nightly-42',
    operation: api.getAgentRun,
    input: ([agentRunId]) => ({ params: { agentRunId } }),
    text: describeRun,
  });
  addRequestCommand(runs, context, {
    usage: 'finish <run>',
    summary: 'finish an agent run: no further sessions are opened in it, even if more were planned',
    example: 'svc release runs finish nightly-42',
    operation: api.finishAgentRun,
    input: ([agentRunId]) => ({ params: { agentRunId } }),
    text: describeRun,
  });
};

export const addRelease = (program: Command, context: Context): void => {
  const release = program.command('release').description('builds of agents, and the release gate');
  const builds = release.command('builds').description('builds of agents');
  for (const add of [addRegister, addBuildList, addBuildShow]) add(builds, context);
  const labels = release.command('labels').description('labels of builds, which mark releases');
  for (const add of [addLabelSet, addLabelShow, addLabelHistory]) add(labels, context);
  addDiff(release, context);
  addCompare(release, context);
  addReleaseGate(release, context);
  addRuns(release, context);
};
