/**
 * Agent builds. A build is registered once, found by id, hash, label, version or commit, and never changes. A request
 * that registers an existing hash with other content is refused; the error names the members that differ.
 */
import { AppError } from '#domain/error.ts';
import { newId } from '#domain/id.ts';
import { isObject, own } from '#domain/json.ts';
import type { BuildDiff, RegisterBuildBody } from '#wire/public-api/evaluation/release.ts';
import { canonicalText } from '../../base/json/canonical.ts';
import type { Database, Queryable } from '../../db/core/database.ts';
import {
  type BuildRow,
  findAnyBuild,
  findBuild,
  findBuildByLabel,
  registerBuild,
} from '../../db/evaluation/agent-builds.ts';
import { invalidParameter } from '../../platform/lists/query.ts';
import { manifestChanges } from './manifest-changes.ts';
import { viewRef } from './view.ts';

/**
 * Maximum size of a manifest as JSON text, in bytes. Manifests are compared on the event loop that all requests share.
 */
const mostManifestBytes = 512 * 1024;

const checkManifest = ({ manifest = {} }: RegisterBuildBody): string => {
  const text = JSON.stringify(manifest);
  if (Buffer.byteLength(text) > mostManifestBytes) {
    throw invalidParameter(['manifest'], `has more than ${mostManifestBytes / 1_024} KiB of JSON`);
  }
  const seen = new Set<string>();
  for (const [index, { name }] of (manifest.tools ?? []).entries()) {
    if (seen.has(name)) {
      throw invalidParameter(
        ['manifest', 'tools', String(index), 'name'],
        `two tools have the name "${name}"`,
      );
    }
    seen.add(name);
  }
  return text;
};

/** Returns the manifest of a build. */
export const manifestOf = ({ manifestJson }: BuildRow): Record<string, unknown> =>
  JSON.parse(manifestJson);

/**
 * Returns the names of the members that differ from a stored build; members that the request omits are not compared.
 */
const differencesOf = (wanted: RegisterBuildBody, found: BuildRow): string[] => {
  const attribution: unknown = JSON.parse(found.attributionJson);
  const known: Record<string, unknown> = {
    agentId: found.agentId,
    semanticVer: found.semanticVer,
    manifest: manifestOf(found),
  };
  const given: Record<string, unknown> = {
    agentId: wanted.agentId,
    semanticVer: wanted.semanticVer ?? undefined,
    manifest: wanted.manifest,
  };
  const isOther = (one: unknown, other: unknown): boolean =>
    one !== undefined && canonicalText(one) !== canonicalText(other);
  const members = Object.keys(given).filter((name) => isOther(given[name], known[name]));
  const origin = isObject(attribution) ? attribution : {};
  const { commitSha, ...rest } = wanted.attribution ?? {};
  const sources = { ...rest, commitSha: commitSha?.toLowerCase() };
  const commits = Object.entries(sources)
    .filter(([name, value]) => value !== null && isOther(value, own(origin, name)))
    .map(([name]) => `attribution.${name}`);
  return [...members, ...commits];
};

const refuseOther = (wanted: RegisterBuildBody, found: BuildRow): void => {
  const differs = differencesOf(wanted, found);
  if (differs.length === 0) return;
  const message = `the build ${found.id} already has the buildHash "${found.buildHash}", with another ${differs.join(', ')}; a build never changes: register the changed build with a hash of its own`;
  throw new AppError('conflict', message, {
    detail: { error: 'build_differs', buildId: found.id, differs },
  });
};

/**
 * Registers a build, or returns the existing build with the same hash. Throws `conflict` if the existing one has other
 * content.
 */
export const register = async (
  db: Database,
  projectId: string,
  body: RegisterBuildBody,
): Promise<{ build: BuildRow; isNew: boolean }> => {
  const manifestJson = checkManifest(body);
  const { agentId, buildHash, semanticVer = null, attribution = {} } = body;
  const commitSha = attribution.commitSha?.toLowerCase() ?? null;
  const given = Object.entries({ ...attribution, commitSha }).filter(([, value]) => value !== null);
  const id = newId('bld');
  const build = await registerBuild(db, {
    ...{ id, projectId, agentId, buildHash, semanticVer, manifestJson },
    attributionJson: JSON.stringify(Object.fromEntries(given)),
    ...{ commitSha, branch: attribution.branch ?? null },
  });
  const isNew = build.id === id;
  if (!isNew) refuseOther(body, build);
  return { build, isNew };
};

/** Builds the error for a build that the project does not have. */
export const noBuild = (which: string): AppError =>
  new AppError('not_found', `there is no agent build ${which}`);

/** Returns the build with this id; throws `not_found`. */
export const getBuild = async (db: Queryable, projectId: string, id: string): Promise<BuildRow> => {
  const build = await findBuild(db, projectId, id);
  if (build === undefined) throw noBuild(`"${id}"`);
  return build;
};

/** Returns the build that a label points to; throws `not_found`. */
export const resolve = async (
  db: Queryable,
  projectId: string,
  { agentId, label }: { agentId: string; label: string },
): Promise<BuildRow> => {
  const build = await findBuildByLabel(db, projectId, agentId, label);
  if (build === undefined) throw noBuild(`of "${agentId}" with the label "${label}"`);
  return build;
};

type DiffQuery = { agentId: string; base: string; candidate: string };

/** Returns the differences between two builds of an agent, each named by id, hash, label or version. */
export const diff = async (
  db: Queryable,
  projectId: string,
  { agentId, ...named }: DiffQuery,
): Promise<BuildDiff> => {
  const get = async (name: 'base' | 'candidate'): Promise<BuildRow> => {
    const build = await findAnyBuild(db, projectId, agentId, named[name]);
    if (build !== undefined) return build;
    throw noBuild(
      `of "${agentId}" with the id, buildHash, label or version "${named[name]}" (${name})`,
    );
  };
  const [base, candidate] = [await get('base'), await get('candidate')];
  return {
    agentId,
    ...{ base: viewRef(base), candidate: viewRef(candidate) },
    ...manifestChanges(manifestOf(base), manifestOf(candidate)),
  };
};
