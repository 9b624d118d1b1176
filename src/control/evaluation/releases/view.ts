/** Builds the client's views of builds, label moves and agent runs. */
import { passRateOf, runStateOf } from '#domain/release.ts';
import type {
  BuildRef,
  BuildView,
  GateView,
  LabelMove,
  ListedBuild,
  RunView,
} from '#wire/public-api/evaluation/release.ts';
import { JsonText } from '../../base/json/json-text.ts';
import type { BuildRow } from '../../db/evaluation/agent-builds.ts';
import type { LabelMoveRow } from '../../db/evaluation/agent-labels.ts';
import type { RunRow } from '../../db/evaluation/agent-runs.ts';

const jsonObject = (text: string): Record<string, unknown> =>
  new JsonText(text) as unknown as Record<string, unknown>;

/** Returns the view of a build in a list. */
export const viewListed = (build: BuildRow): ListedBuild => {
  const { id, agentId, buildHash, semanticVer, attributionJson, labels, createdAt } = build;
  return {
    ...{ id, agentId, buildHash, semanticVer, labels },
    attribution: jsonObject(attributionJson),
    createdAt: createdAt.toISOString(),
  };
};

export const viewBuild = (build: BuildRow): BuildView => ({
  ...viewListed(build),
  manifest: jsonObject(build.manifestJson),
});

export const viewRef = (build: BuildRow): BuildRef => {
  const { id, agentId, semanticVer: version, buildHash, commitSha, branch } = build;
  return { id, agentId, version, buildHash, commitSha, branch };
};

export const viewMove = (move: LabelMoveRow): LabelMove => {
  const { isRollback: rollback, isForced: forced, movedAt, number: _, ...rest } = move;
  return { ...rest, rollback, forced, movedAt: movedAt.toISOString() };
};

/** Returns the world of an agent run if the run has exactly one; else null. */
const worldOf = ({ worlds }: RunRow): string | null =>
  worlds.length === 1 ? (worlds[0] ?? null) : null;

export const viewRun = (run: RunRow): RunView => {
  const { id: runId, buildId, buildHash, agentId, model, worlds, planned } = run;
  const { sessions, graded, passed, going, ungraded, createdAt, finishedAt } = run;
  return {
    ...{ runId, buildId, buildHash, agentId, state: runStateOf(run), model },
    ...{ world: worldOf(run), worlds, planned },
    ...{ sessions, graded, passed, going, ungraded, passRate: passRateOf(run) },
    createdAt: createdAt.toISOString(),
    finishedAt: finishedAt?.toISOString() ?? null,
  };
};

/** Returns the view of an agent run in the gate's answer. */
export const viewEvaluated = (run: RunRow): GateView['evaluatedRuns'][number] => {
  const { id: runId, model, graded } = run;
  const passRate = passRateOf(run);
  return { runId, world: worldOf(run), state: runStateOf(run), model, passRate, graded };
};
