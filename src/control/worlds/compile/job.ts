/**
 * Jobs of a compile process: their inputs, their outcomes, and the functions that run them. Inputs and outcomes are
 * plain data.
 */
import type { ImportMode } from '#domain/batch.ts';
import type { TreeFile } from '#domain/world.ts';
import { describeContract } from '#language/artifacts/describe.ts';
import { type GeneratedFile, generatedState, staleProblems } from '#language/artifacts/state.ts';
import { compileTree } from '#language/compile/compile.ts';
import { languageWarnings } from '#language/compile/warnings.ts';
import type { Contract } from '#language/contract.ts';
import { initTree } from '#language/edit/init.ts';
import { summarizeTemplate, type TemplateSummaryResult } from '#language/edit/template-summary.ts';
import type { Problem } from '#language/problem.ts';
import type { RedactionMode } from '#language/redaction-modes.ts';
import type { KeepOptions } from '../../base/bodies/keep.ts';
import { type ReadApart, readApart } from '../../base/bodies/read.ts';
import { type GradeSummary, summarizeGrade } from '../../base/contracts/grade-summary.ts';
import { type McpTool, mcpToolsOf } from '../../base/contracts/mcp-tools.ts';
import { type Built, buildVersion } from './build.ts';
import {
  type CaptureFit,
  fitCaptures,
  type ImportedRows,
  type IngestedRows,
  importIntoTree,
  ingestTree,
} from './captured.ts';
import { type CheckedItems, createItemCheck, type ItemsGiven } from './check-items.ts';
import { type CheckedTask, checkTask, createWorldCache, type WorldGiven } from './check-task.ts';
import type { BaseVersion } from './kept-rows.ts';
import {
  createPatternMatch,
  judgePatterns,
  type PatternsFound,
  type PatternsGiven,
} from './match-patterns.ts';
import { type PackRedaction, packRows } from './pack-rows.ts';
import { type RedactedSeed, redactSeed } from './redact-seed.ts';

type Files = readonly TreeFile[];

/** Input of each kind of job, by kind. */
type Inputs = {
  /** Compiles a tree. */
  compile: { files: Files };
  /**
   * Builds a version from a tree and the rows of a request, which follow those of the tree. With `base`, rows of that
   * version are kept.
   */
  build: { files: Files; rowsJson: string | null; redact?: RedactionMode; base?: BaseVersion };
  /** Describes the contract of a tree as JSON. */
  describe: { files: Files };
  /** Reads the rows of the captures in a tree. */
  ingest: { files: Files };
  /** Counts the captured rows of a tree that fit the tree's contract. */
  'fit-captures': { files: Files };
  /** Writes rows into a tree's data files. */
  'import-rows': { files: Files; rows: Files; mode: ImportMode; redact: RedactionMode };
  /** Summarizes a world template. */
  summarize: { slug: string; files: Files };
  /** Creates the files of a new world from a template. Throws `invalid` if no world can have the name. */
  begin: { name: string; template: Files };
  /** Checks whether a session of a world can be opened with a task. The task may also name tools of linked worlds. */
  'check-task': { world: WorldGiven; specJson: string; linkedTools?: readonly string[] };
  /** Redacts the rows in the input of a `seed` call, by the redaction policy of the world. */
  'redact-seed': { world: WorldGiven; inputJson: string; mode: 'apply' | 'refuse' };
  /** Describes the entities of a world with all their fields. */
  'describe-entities': { world: WorldGiven };
  /**
   * Packs the rows of a request as a chunk of a batch. With redaction, the rows are first checked against the policy
   * and the contract of a world.
   */
  'pack-rows': { rowsJson: string; redaction: ({ world: WorldGiven } & PackRedaction) | null };
  /** Parses the large body of a request to an operation (`base/bodies/read.ts`). */
  read: { operation: string; bytes: Uint8Array; inflatesTo?: number | undefined } & KeepOptions;
  /** Converts a very large list of a version's tools to MCP's form. */
  'mcp-tools': { toolSchemas: string };
  /** Checks items of a dataset against the dataset's schemas. */
  'check-items': ItemsGiven;
  /** Parses a large grade and returns its scores. */
  'read-grade': { outputJson: string };
  /** Searches texts for matches of a project's patterns. */
  'match-patterns': PatternsGiven;
  /** Checks whether the patterns of a project are valid. */
  'judge-patterns': { patterns: readonly string[] };
};

export type JobKind = keyof Inputs;
export type Job<Kind extends JobKind = JobKind> = {
  [Each in Kind]: { kind: Each } & Inputs[Each];
}[Kind];

type Refused = { ok: false; problems: Problem[] };

export type Compiled =
  | {
      ok: true;
      contract: Contract;
      /** Number of rows of each entity in the tree's `data/`. */
      rowCounts: Record<string, number>;
      generated: TreeFile[];
      /** Files to store; they replace files of the tree. */
      rewritten: TreeFile[];
      /**
       * Comparison of the tree's generated files with what would be generated now, and a problem for each that is out
       * of date.
       */
      states: GeneratedFile[];
      stale: Problem[];
      /** Warnings of the world language about likely mistakes. */
      warnings: string[];
    }
  | Refused;

/**
 * Outcome of each kind of job, by kind. A job that was ended because it reached a limit has an outcome like a refused
 * one.
 */
export type Outcomes = {
  compile: Compiled;
  build: Built;
  /** JSON text, because it is passed to the client unchanged and may be large. */
  describe: { ok: true; descriptionJson: string } | Refused;
  ingest: IngestedRows;
  'fit-captures': CaptureFit;
  'import-rows': ImportedRows;
  summarize: TemplateSummaryResult;
  begin: { ok: true; files: TreeFile[] } | Refused;
  'check-task': CheckedTask | Refused;
  'redact-seed': RedactedSeed | Refused;
  /** JSON text, for the same reasons as the outcome of `describe`. */
  'describe-entities': { ok: true; entitiesJson: string } | Refused;
  'pack-rows': { ok: true; chunk: Uint8Array; rows: number } | Refused;
  read: ReadApart;
  'mcp-tools': McpTool[];
  'check-items': CheckedItems | Refused;
  'read-grade': GradeSummary | undefined;
  'match-patterns': PatternsFound;
  'judge-patterns': { ok: true; faults: (string | null)[] } | Refused;
};

const compile = (files: Files): Compiled => {
  const compiled = compileTree(files);
  if (!compiled.ok) return compiled;
  const { contract, baseRows, generated, rewritten } = compiled;
  const rows = new Map(Object.entries(baseRows));
  return {
    ok: true,
    contract,
    rowCounts: Object.fromEntries(
      contract.entities.map(({ name }) => [name, rows.get(name)?.length ?? 0]),
    ),
    generated,
    rewritten,
    states: generatedState({ files, generated, contract }),
    stale: staleProblems({ files, generated, contract }),
    warnings: languageWarnings(contract, files, baseRows),
  };
};

const describe = (files: Files): Outcomes['describe'] => {
  const compiled = compileTree(files);
  if (!compiled.ok) return compiled;
  return { ok: true, descriptionJson: JSON.stringify(describeContract(compiled.contract)) };
};

/**
 * Creates the function that runs the jobs of one process, one after another. The function itself sets no limits. A job
 * throws `Lacking` if the world that it needs is neither sent with it nor cached.
 */
export const createJobs = (): ((job: Job) => Outcomes[JobKind] | Promise<Outcomes['read']>) => {
  const findWorld = createWorldCache();
  const checkItems = createItemCheck();
  const matchPatterns = createPatternMatch();
  return (job) => {
    switch (job.kind) {
      case 'compile':
        return compile(job.files);
      case 'build':
        return buildVersion(job.files, job.rowsJson === null ? {} : JSON.parse(job.rowsJson), job);
      case 'describe':
        return describe(job.files);
      case 'ingest':
        return ingestTree(job.files);
      case 'fit-captures':
        return fitCaptures(job.files);
      case 'import-rows':
        return importIntoTree(job.files, job.rows, job);
      case 'summarize':
        return summarizeTemplate(job.slug, job.files);
      case 'begin':
        return { ok: true, files: initTree(job) };
      case 'check-task':
        return checkTask(findWorld(job.world), JSON.parse(job.specJson), job.linkedTools);
      case 'redact-seed':
        return redactSeed(findWorld(job.world), JSON.parse(job.inputJson), job.mode);
      case 'describe-entities':
        return { ok: true, entitiesJson: findWorld(job.world).entitiesJson() };
      case 'pack-rows':
        return packRows(
          job.rowsJson,
          job.redaction && { world: findWorld(job.redaction.world), how: job.redaction },
        );
      case 'read':
        return readApart(job);
      case 'mcp-tools':
        return mcpToolsOf(job.toolSchemas);
      case 'check-items':
        return checkItems(job);
      case 'read-grade':
        return summarizeGrade(job.outputJson);
      case 'match-patterns':
        return matchPatterns(job);
      case 'judge-patterns':
        return judgePatterns(job.patterns);
    }
  };
};
