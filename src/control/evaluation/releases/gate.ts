/**
 * The release gate of a build: its rule from the project's settings, all agent runs of the build's commit, and the
 * verdict.
 */
import { AppError } from '#domain/error.ts';
import { judge } from '#domain/release.ts';
import type { GateView } from '#wire/public-api/evaluation/release.ts';
import type { Database } from '../../db/core/database.ts';
import {
  type BuildRow,
  findBuildByLabel,
  findBuildByVersion,
  findBuildOfCommit,
  findCommits,
} from '../../db/evaluation/agent-builds.ts';
import { listRunsForGate } from '../../db/evaluation/agent-runs.ts';
import { getSettings, type UsualSettings } from '../../projects/accounts/settings.ts';
import { noBuild } from './builds.ts';
import { viewEvaluated, viewRef } from './view.ts';

/** Label of the build that other builds are compared to. */
const stable = 'stable';

const invalid = (path: string, message: string): AppError =>
  new AppError('invalid', `invalid request: ${message}`, { fields: [{ path: [path], message }] });

/**
 * Returns the newest build of a commit, found by the beginning of the commit's hash. Throws `invalid` if several
 * commits match.
 */
const findOfCommit = async (db: Database, projectId: string, given: string): Promise<BuildRow> => {
  const prefix = given.toLowerCase();
  const commits = await findCommits(db, projectId, prefix);
  const sha = commits.includes(prefix) ? prefix : commits[0];
  if (sha === undefined) throw noBuild(`of the commit "${given}"`);
  if (sha !== prefix && commits.length > 1) {
    const listed = commits.slice(0, 5).join(', ');
    throw invalid(
      'commitSha',
      `several commits begin with "${given}": ${listed}; give more characters of the hash`,
    );
  }
  const build = await findBuildOfCommit(db, projectId, sha);
  if (build === undefined) throw noBuild(`of the commit "${given}"`);
  return build;
};

export type GateQuery = { agentId?: string; version?: string; commitSha?: string };

/**
 * Returns the build that a query names, either by agent and version or by commit. Throws `invalid` if the query uses
 * neither or both.
 */
export const findNamed = async (
  db: Database,
  projectId: string,
  { agentId, version, commitSha }: GateQuery,
): Promise<BuildRow> => {
  const ways = 'name the build exactly one way: by agentId with version, or by commitSha';
  if (commitSha !== undefined) {
    if (agentId === undefined && version === undefined) {
      return findOfCommit(db, projectId, commitSha);
    }
    throw invalid('commitSha', ways);
  }
  if (agentId === undefined) throw invalid('agentId', ways);
  if (version === undefined) throw invalid('version', ways);
  const build = await findBuildByVersion(db, projectId, agentId, version);
  if (build === undefined) throw noBuild(`of "${agentId}" with the version "${version}"`);
  return build;
};

/** Returns the gate's verdict on a build; it writes nothing. */
export const readGate = async (
  db: Database,
  projectId: string,
  usual: UsualSettings,
  build: BuildRow,
): Promise<GateView> => {
  const [settings, runs, compared] = await Promise.all([
    getSettings(db, projectId, usual),
    listRunsForGate(db, projectId, build),
    findBuildByLabel(db, projectId, build.agentId, stable),
  ]);
  const { threshold, floor } = settings.gate;
  const { verdict, passRate, gradedRollouts, reasons } = judge(runs, settings.gate);
  return {
    build: viewRef(build),
    gate: { verdict, passRate, gradedRollouts, threshold, minGradedRollouts: floor, reasons },
    evaluatedRuns: runs.map(viewEvaluated),
    comparedTo:
      compared === undefined
        ? null
        : { stableBuildId: compared.id, stableVersion: compared.semanticVer },
  };
};
