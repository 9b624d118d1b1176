/**
 * Checks a session's inline task against the session's world: the rows of the seed, the conditions and the query. The
 * check evaluates user input, so it runs in a compile process. The process caches the contracts of versions together
 * with their checkers.
 */

import { getHeapStatistics } from 'node:v8';
import { clip } from '#domain/cut.ts';
import type { FieldProblem } from '#domain/error.ts';
import { parsePointer } from '#domain/json.ts';
import { decodeBundle } from '#language/artifacts/bundle.ts';
import { describeEntities } from '#language/artifacts/describe.ts';
import { createAllowanceCheck } from '#language/check/allowances.ts';
import { type CheckChecks, createCheckChecks } from '#language/check/grader-checks.ts';
import { solvableWith } from '#language/check/solutions.ts';
import type { GivenCheck } from '#language/checks.ts';
import type { Contract, EntityContract } from '#language/contract.ts';
import { suggestName } from '#language/read/suggest.ts';
import { createRowChecker } from '#language/schema/checkers.ts';
import { partially } from '#language/schema/partial-rows.ts';
import { solutionFaults } from '#language/solution.ts';
import { verifierFault } from '#language/sql/verifier.ts';
import type { Allowance } from '#language/task.ts';
import type { TaskSpec } from '#wire/public-api/worlds/task-spec.ts';
import { createFairCache } from '../../base/fairness/fair-cache.ts';
import { hashOfSpec } from '../../base/json/canonical.ts';
import { type RedactingWorld, redactSeedRows } from './redact-seed.ts';
import { Lacking } from './serve-jobs.ts';

/**
 * World that a job needs, by the digest of the world's bundle. The bytes of the bundle are sent only if the process
 * does not have them.
 */
export type WorldGiven = { digest: string; project: string; bundle?: Uint8Array };

export type CheckedTask =
  | {
      ok: true;
      /** Hash of the spec, in the form `sha256:…`. */
      hash: string;
      /** Spec with redacted rows, as JSON text, if the seed asks for redaction; absent if the spec stays as it is. */
      specJson?: string;
    }
  | { ok: false; fields: FieldProblem[] };

type KnownWorld = RedactingWorld & {
  entities: readonly EntityContract[];
  /** Names of the world's tools. */
  tools: ReadonlySet<string>;
  faultsOf: CheckChecks;
  allowanceFaults: ReturnType<typeof createAllowanceCheck>;
  /** Returns the view of the world's entities, as JSON text. */
  entitiesJson(): string;
};

const mostProblems = 50;

/**
 * Share of the heap for cached contracts, as a divisor of the heap limit. It counts their JSON text; as objects with
 * checkers they take more.
 */
const heapShare = 32;

/** Maximum lengths in characters: of keys in paths, and of messages. Both quote user input. */
const longestKey = 200;
const longestMessage = 1_000;

const toKnown = (contract: Contract): KnownWorld => ({
  contract,
  entities: contract.entities,
  tools: new Set(contract.tools.map(({ name }) => name)),
  rows: createRowChecker(contract),
  faultsOf: createCheckChecks(contract),
  allowanceFaults: createAllowanceCheck(contract),
  entitiesJson: () => JSON.stringify(describeEntities(contract)),
});

/**
 * Creates the cache of the worlds that a process has loaded. Throws `Lacking` for a world that is not cached and was
 * sent without its bundle.
 */
export const createWorldCache = () => {
  const kept = createFairCache<KnownWorld>(getHeapStatistics().heap_size_limit / heapShare);
  return ({ digest, project, bundle }: WorldGiven): KnownWorld => {
    const known = kept.get(digest);
    if (known !== undefined) return known;
    if (bundle === undefined) throw new Lacking();
    const { contract } = decodeBundle(bundle);
    const value = toKnown(contract);
    const bytes = JSON.stringify(contract).length;
    kept.keep({ key: digest, owner: project, bytes, value });
    return value;
  };
};

const checkSeed = (
  { rows: checker, entities }: KnownWorld,
  seed: TaskSpec['seed'],
): FieldProblem[] => {
  const problems: FieldProblem[] = [];
  const check = seed?.mode === 'merge' ? partially(checker.check, entities) : checker.check;
  for (const [entity, rows] of Object.entries(seed?.rows ?? {})) {
    for (const [index, row] of rows.entries()) {
      if (problems.length >= mostProblems) return problems;
      for (const { pointer, detail } of check(entity, row)) {
        const place = ['task', 'seed', 'rows', entity, String(index)];
        problems.push({ path: [...place, ...parsePointer(pointer)], message: detail });
      }
    }
  }
  return problems;
};

const checkAssertions = ({ faultsOf }: KnownWorld, checks: readonly GivenCheck[]): FieldProblem[] =>
  faultsOf(checks).map(({ path, message, hint }) => ({
    path: ['task', 'grader', 'checks', ...path.map(String)],
    message: hint === undefined ? message : `${message}; ${hint}`,
  }));

const checkChanges = (
  { allowanceFaults }: KnownWorld,
  grader: TaskSpec['grader'],
): FieldProblem[] =>
  allowanceFaults((grader?.changes?.allow ?? []) as Allowance[]).map(({ path, message, hint }) => ({
    path: ['task', 'grader', 'changes', 'allow', ...path.map(String)],
    message: hint === undefined ? message : `${message}; ${hint}`,
  }));

const checkQuery = ({ entities }: KnownWorld, source: string): FieldProblem[] => {
  const fault = verifierFault(source, entities);
  if (fault === undefined) return [];
  const message = [fault.message, fault.hint ?? []].flat().join('; ');
  return [{ path: ['task', 'grader', 'source'], message }];
};

const checkTools = (tools: ReadonlySet<string>, given: TaskSpec['tools'] = []): FieldProblem[] =>
  given.flatMap((name, index) => {
    if (tools.has(name)) return [];
    const message = `the world has no tool "${name}"; ${suggestName(name, tools) ?? 'it has none'}`;
    return [{ path: ['task', 'tools', String(index)], message }];
  });

const checkSolutions = (
  { contract }: KnownWorld,
  { solution, alternatives = [], tools }: TaskSpec,
  known: ReadonlySet<string>,
): FieldProblem[] => {
  const world = {
    api: contract.api,
    mayCall: (name: string) => known.has(name),
    tools: known,
  };
  const of = solvableWith(tools ?? null, world);
  const written = [
    ...(solution === undefined ? [] : [{ path: ['solution'], solution }]),
    ...alternatives.map((other, at) => ({ path: ['alternatives', String(at)], solution: other })),
  ];
  return written.flatMap(({ path, solution: given }) =>
    solutionFaults(given, of).map((fault) => ({
      path: ['task', ...path, ...fault.path],
      message: fault.message,
    })),
  );
};

const shorten = ({ path, message }: FieldProblem): FieldProblem => ({
  path: path.map((key) => clip(key, longestKey)),
  message: clip(message, longestMessage),
});

/**
 * Returns a task with its seed redacted. The redacted spec no longer asks for redaction, so its rows are not redacted
 * twice.
 */
const redactTask = (
  world: KnownWorld,
  spec: TaskSpec,
): { spec: TaskSpec; fields: FieldProblem[] } => {
  const { redact, ...seed } = spec.seed ?? { rows: {} };
  if (redact === undefined) return { spec, fields: [] };
  if (redact === 'off') return { spec: { ...spec, seed }, fields: [] };
  const how = { redact, isMerge: seed.mode === 'merge' };
  const redacted = redactSeedRows(world, seed.rows, how, ['task', 'seed', 'rows']);
  if (!redacted.ok) return { spec: { ...spec, seed: { rows: {} } }, fields: redacted.fields };
  return { spec: { ...spec, seed: { ...seed, rows: redacted.rows } }, fields: [] };
};

/** Returns the problems of a task; if it has none, its hash. */
export const checkTask = (
  world: KnownWorld,
  given: TaskSpec,
  linkedTools: readonly string[] = [],
): CheckedTask => {
  const { spec, fields: ofRedaction } = redactTask(world, given);
  const { seed, grader } = spec;
  const checks = grader?.kind === 'assertions' ? grader.checks : [];
  const tools = new Set([...world.tools, ...linkedTools]);
  const fields = [
    ...checkTools(tools, spec.tools),
    ...ofRedaction,
    ...checkSeed(world, seed),
    ...checkSolutions(world, spec, tools),
    ...checkAssertions(world, checks),
    ...checkChanges(world, grader),
  ];
  if (fields.length === 0 && grader?.kind === 'sql')
    fields.push(...checkQuery(world, grader.source));
  if (fields.length > 0) return { ok: false, fields: fields.slice(0, mostProblems).map(shorten) };
  const hash = hashOfSpec(spec);
  return spec === given ? { ok: true, hash } : { ok: true, hash, specJson: JSON.stringify(spec) };
};
