/** Formats builds, labels, comparisons, runs and the gate for a person. */
import type {
  BuildDiff,
  BuildRef,
  BuildView,
  GateView,
  LabelMove,
  ListedBuild,
  RunView,
} from '#wire/public-api/evaluation/release.ts';
import type { Colors, View } from '../terminal/context.ts';
import { cutLine, formatAgo, formatCount, formatFields, wrapLines } from '../terminal/print.ts';
import { formatFitted } from './fitted-table.ts';

/** Returns a member of a build's attribution if it is text. */
const textIn = ({ attribution }: ListedBuild, name: string): string | undefined => {
  const value = attribution[name];
  return typeof value === 'string' ? value : undefined;
};

const labelsText = ({ labels }: ListedBuild): string => labels.join(', ');

export const describeBuild = (build: BuildView): string =>
  formatFields([
    ['build', build.id],
    ['agent', build.agentId],
    ['hash', build.buildHash],
    ['version', build.semanticVer ?? undefined],
    ['commit', textIn(build, 'commitSha')],
    ['branch', textIn(build, 'branch')],
    ['labels', build.labels.length === 0 ? undefined : labelsText(build)],
    ['registered', build.createdAt],
  ]);

export const describeBuilds = (builds: readonly ListedBuild[], view: View): string =>
  formatFitted(
    ['AGENT', 'VERSION', 'COMMIT', 'LABELS', 'REGISTERED', 'HASH', 'ID'],
    builds.map((build) => [
      ...[build.agentId, build.semanticVer ?? '-'],
      ...[textIn(build, 'commitSha')?.slice(0, 12) ?? '-', labelsText(build) || '-'],
      ...[formatAgo(build.createdAt), build.buildHash, build.id],
    ]),
    view,
    { none: 'no build is registered', leftOut: ['HASH', 'COMMIT'] },
  );

export const describeMove = (move: LabelMove & { moved: boolean }): string => {
  const { label, agentId, buildId, previousBuildId, moved, rollback, breaking } = move;
  if (!moved) return `"${label}" of ${agentId} already points to ${buildId}`;
  const from = previousBuildId === null ? '' : `, from ${previousBuildId}`;
  const across = breaking.length === 0 ? '' : ` across a breaking change of ${breaking.join(', ')}`;
  const how = rollback ? `; this is a rollback${across}` : '';
  return `"${label}" of ${agentId} now points to ${buildId}${from}${how}`;
};

const howMoved = ({ rollback, forced }: LabelMove): string => {
  if (forced) return 'forced rollback';
  return rollback ? 'rollback' : 'move';
};

export const describeMoves = (moves: readonly LabelMove[], view: View): string =>
  formatFitted(
    ['WHEN', 'LABEL', 'HOW', 'TO', 'FROM', 'WHO', 'SOURCE', 'REASON'],
    moves.map((move) => [
      ...[formatAgo(move.movedAt), move.label, howMoved(move), move.buildId],
      ...[move.previousBuildId ?? '-', cutLine(move.actor)],
      ...[cutLine(move.source ?? '-'), cutLine(move.reason ?? '-')],
    ]),
    view,
    { none: 'no label was ever moved to or from this build' },
  );

const named = ({ version, buildHash }: BuildRef): string => version ?? cutLine(buildHash, 24);

const toolLines = (
  { name, change, breaking, changes }: BuildDiff['tools'][number],
  colors: Colors,
) => [
  `  ${name}: ${change}${breaking ? `, ${colors.red('breaking')}` : ''}`,
  ...changes.map((one) => {
    const place = one.path === '' ? one.part : `${one.part} ${one.path}`;
    return `    ${place}: ${one.change}${one.breaking ? ` (${colors.red('breaking')})` : ''}`;
  }),
];

export const describeDiff = (diff: BuildDiff, colors: Colors): string => {
  const { base, candidate, tools, prompts, model } = diff;
  return [
    `${diff.agentId}: ${named(base)} → ${named(candidate)}${diff.breaking ? `, ${colors.red('breaking')}` : ''}`,
    tools.length === 0 ? 'tools: no change' : 'tools:',
    ...tools.flatMap((tool) => toolLines(tool, colors)),
    prompts.length === 0 ? 'prompts: no change' : 'prompts:',
    ...prompts.map(({ name, change }) => `  ${name}: ${change}`),
    model.changed
      ? `model: ${JSON.stringify(model.base)} → ${JSON.stringify(model.candidate)}`
      : 'model: no change',
  ].join('\n');
};

const percent = (rate: number | null): string =>
  rate === null ? '-' : `${(rate * 100).toFixed(1)} %`;

const verdictText = (verdict: GateView['gate']['verdict'], colors: Colors): string => {
  if (verdict === 'pass') return colors.green(verdict);
  return verdict === 'blocked' ? colors.red(verdict) : colors.yellow(verdict);
};

export const describeGate = (found: GateView, view: View): string => {
  const { build, gate, evaluatedRuns: runs, comparedTo } = found;
  const fields = formatFields([
    ['verdict', verdictText(gate.verdict, view.colors)],
    ['build', build.id],
    ['agent', `${build.agentId} ${named(build)}`],
    ['commit', build.commitSha ?? undefined],
    ['pass rate', `${percent(gate.passRate)}, at least ${percent(gate.threshold)}`],
    ['graded', `${gate.gradedRollouts}, at least ${gate.minGradedRollouts}`],
    ['stable', comparedTo?.stableVersion ?? comparedTo?.stableBuildId],
  ]);
  const table = formatFitted(
    ['RUN', 'WORLD', 'STATE', 'MODEL', 'PASSED', 'GRADED'],
    runs.map(({ runId, world, state, model, passRate, graded }) => [
      ...[runId, world ?? 'several', state, cutLine(model ?? '-')],
      ...[percent(passRate), String(graded)],
    ]),
    view,
    { cut: ['MODEL', 'WORLD'] },
  );
  return [
    fields,
    ...gate.reasons.flatMap((reason) => wrapLines(`- ${reason}`, view.columns)),
    ...(runs.length === 0 ? [] : ['', table]),
  ].join('\n');
};

/** Formats the progress of runs: `2 of 3 runs active: 61 rollouts graded`. */
export const describeWait = ({ evaluatedRuns: runs }: GateView): string => {
  const going = runs.filter(({ state }) => state === 'RUNNING').length;
  const graded = runs.reduce((sum, run) => sum + run.graded, 0);
  return `${going} of ${formatCount(runs.length, 'run')} active: ${formatCount(graded, 'rollout')} graded`;
};

const doneText = ({ graded, ungraded, planned }: RunView): string =>
  planned === null ? String(graded + ungraded) : `${graded + ungraded} of ${planned}`;

export const describeRuns = (runs: readonly RunView[], view: View): string =>
  formatFitted(
    ['RUN', 'AGENT', 'WORLD', 'STATE', 'MODEL', 'DONE', 'PASSED', 'BEGAN'],
    runs.map((run) => [
      ...[run.runId, run.agentId, run.world ?? 'several', run.state],
      ...[cutLine(run.model ?? '-'), doneText(run), percent(run.passRate)],
      formatAgo(run.createdAt),
    ]),
    view,
    { none: 'no run recorded a build', leftOut: ['MODEL', 'AGENT'], cut: ['WORLD'] },
  );

export const describeRun = (run: RunView): string =>
  formatFields([
    ['run', run.runId],
    ['state', run.state],
    ['build', `${run.buildId} (${run.agentId})`],
    ['model', run.model ?? undefined],
    ['world', run.worlds.join(', ')],
    ['done', doneText(run)],
    ['graded', `${run.graded}, ${run.passed} passed (${percent(run.passRate)})`],
    ['open', run.going === 0 ? undefined : formatCount(run.going, 'session')],
    ['without a grade', run.ungraded === 0 ? undefined : formatCount(run.ungraded, 'session')],
    ['finished', run.finishedAt ?? undefined],
  ]);
