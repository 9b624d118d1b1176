/** The jobs of a compile process: what goes in, what comes out, and who does it. All plain data. */
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

/** What each kind of job is given. */
type Inputs = {
  /** What a tree compiles to. */
  compile: { files: Files };
  /**
   * What a version of it consists of, with rows of a request after those of the tree; made from another version,
   * it keeps rows of that.
   */
  build: { files: Files; rowsJson: string | null; redact?: RedactionMode; base?: BaseVersion };
  /** What its contract holds. */
  describe: { files: Files };
  /** The rows of its captures. */
  ingest: { files: Files };
  /** How its captures fit its contract. */
  'fit-captures': { files: Files };
  /** Its files of rows with others among them. */
  'import-rows': { files: Files; rows: Files; mode: ImportMode; redact: RedactionMode };
  /** What a template holds. */
  summarize: { slug: string; files: Files };
  /** The files of a new world made of a template; throws `invalid` for a name that no world can have. */
  begin: { name: string; template: Files };
  /** Whether a session of a world can be opened on a task, which may give tools of linked worlds, too. */
  'check-task': { world: WorldGiven; specJson: string; linkedTools?: readonly string[] };
  /** The input of a call `seed`, its rows redacted by the policy of the world. */
  'redact-seed': { world: WorldGiven; inputJson: string; mode: 'apply' | 'refuse' };
  /** The entities of a world, with every field. */
  'describe-entities': { world: WorldGiven };
  /** Rows of a request as a chunk of a batch; under redaction they are held to the policy and contract of a world first. */
  'pack-rows': { rowsJson: string; redaction: ({ world: WorldGiven } & PackRedaction) | null };
  /** The large body of a request to an operation, see `base/bodies/read.ts`. */
  read: { operation: string; bytes: Uint8Array; inflatesTo?: number | undefined } & KeepOptions;
  /** The tools of a version, which are very large, in the form that MCP has for them. */
  'mcp-tools': { toolSchemas: string };
  /** Items of a dataset, held to its schemas. */
  'check-items': ItemsGiven;
  /** A large grade, for its scores. */
  'read-grade': { outputJson: string };
  /** Patterns of a project, looked for in texts. */
  'match-patterns': PatternsGiven;
  /** Patterns of a project, held to what they may be. */
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
      /** Rows of every entity in the tree's `data/`. */
      rowCounts: Record<string, number>;
      generated: TreeFile[];
      /** Files to store in place of the tree's own. */
      rewritten: TreeFile[];
      /** How the generated files of the tree compare with those, and what is wrong with them. */
      states: GeneratedFile[];
      stale: Problem[];
      /** What the language takes for a slip. */
      warnings: string[];
    }
  | Refused;

/** What comes of each kind of job. A job that was ended by a limit is refused, too. */
export type Outcomes = {
  compile: Compiled;
  build: Built;
  /** As JSON text: it is answered as it is, and may be large. */
  describe: { ok: true; descriptionJson: string } | Refused;
  ingest: IngestedRows;
  'fit-captures': CaptureFit;
  'import-rows': ImportedRows;
  summarize: TemplateSummaryResult;
  begin: { ok: true; files: TreeFile[] } | Refused;
  'check-task': CheckedTask | Refused;
  'redact-seed': RedactedSeed | Refused;
  /** As JSON text, like `describe`. */
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
 * Makes what does the jobs of one process, one after the other; each takes as long and as much memory as
 * it takes. A job throws `Lacking` when it is for a world that it neither brings nor finds here.
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
