/**
 * `svc release gate`: checks that a build may be released. The exit status is the result: 0 passed, 1 blocked or the
 * service did not answer, 2 untested.
 */
import type { Command } from 'commander';
import { pause } from '#runtime/pause.ts';
import type { Client } from '#wire/client.ts';
import type { GateView } from '#wire/public-api/evaluation/release.ts';
import { findGate, getGate } from '#wire/public-api/operations.ts';
import type { Context } from '../terminal/context.ts';
import { withProgress } from '../terminal/progress.ts';
import { describeGate, describeWait } from '../views/releases.ts';
import { exitStatus, usageError } from '../views/report.ts';
import {
  addCommand,
  addVersion,
  clientFor,
  parseNumber,
  printAnswer,
  type ServiceOptions,
  withService,
} from './command.ts';

type Options = ServiceOptions & {
  agent?: string;
  version?: string;
  commit?: string;
  /** Seconds to wait for running agent runs; true waits without a limit. */
  wait?: number | true;
};

const statusOf: Record<GateView['gate']['verdict'], number> = {
  pass: exitStatus.done,
  blocked: exitStatus.failed,
  untested: exitStatus.unknown,
};

const askerOf = (
  clientOf: () => Client,
  buildId: string | undefined,
  { agent, version, commit }: Options,
): (() => Promise<GateView>) => {
  const ways = [buildId, agent ?? version, commit].filter((way) => way !== undefined);
  if (ways.length !== 1 || (agent === undefined) !== (version === undefined)) {
    throw usageError(
      'name the build in exactly one way: by its id, by --agent with --version, or by --commit',
    );
  }
  const client = clientOf();
  if (buildId !== undefined) {
    return async () => (await client.send(getGate, { params: { buildId } })).body;
  }
  const query =
    commit === undefined
      ? { agentId: agent as string, version: version as string }
      : { commitSha: commit };
  return async () => (await client.send(findGate, { query })).body;
};

const firstPauseMs = 500;
const longestPauseMs = 10_000;

const isGoing = ({ evaluatedRuns }: GateView): boolean =>
  evaluatedRuns.some(({ state }) => state === 'RUNNING');

/** Polls until no run of the build is active, or the time is over. The interval grows with the wait. */
const waitForRuns = (
  context: Context,
  ask: () => Promise<GateView>,
  seconds: number,
): Promise<GateView> =>
  withProgress({ out: context.err, step: 'waiting for the gate' }, async ({ showStep }) => {
    const endsAt = performance.now() + seconds * 1_000;
    let view = await ask();
    for (
      let pauseMs = firstPauseMs;
      isGoing(view);
      pauseMs = Math.min(pauseMs * 1.5, longestPauseMs)
    ) {
      showStep(describeWait(view));
      const restMs = endsAt - performance.now();
      if (restMs <= 0) return view;
      await pause(Math.min(pauseMs, restMs));
      view = await ask();
    }
    return view;
  });

export const addReleaseGate = (release: Command, context: Context): void => {
  const command = addCommand(release, {
    usage: 'gate [build]',
    summary: 'check whether a build may be released: exit status 0 pass, 1 blocked, 2 untested',
    example:
      'svc release gate --commit "$GIT_SHA" --wait\nsvc release gate --agent support --version 1.4.0 --json',
    decides: true,
  })
    .option(
      '--agent <agent>',
      'with --version: agent whose newest build of that version is checked',
    )
    .option(
      '--commit <sha>',
      'commit whose newest build is checked, in full or its first 7 or more digits',
    )
    .option(
      '--wait [seconds]',
      'wait until no run of the build is active (default: without a limit)',
      parseNumber({ min: 0, max: 1_000_000 }),
    );
  addVersion(command, { about: 'with --agent: version of the build', formerly: 'semver' });
  withService(command).action(async (buildId: string | undefined, options: Options) => {
    const ask = askerOf(() => clientFor(context, options), buildId, options);
    const { wait } = options;
    const seconds = wait === true ? Number.POSITIVE_INFINITY : wait;
    const found = seconds === undefined ? await ask() : await waitForRuns(context, ask, seconds);
    printAnswer(context, options, found, (view) => describeGate(found, view));
    context.setExitStatus(statusOf[found.gate.verdict]);
  });
};
