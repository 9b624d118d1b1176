/** The jobs of a compile process: what goes in, what comes out, and who does it. All plain data. */
import type { TreeFile } from '#domain/world.ts';
import { compileTree } from '#language/compile.ts';
import type { Contract } from '#language/contract.ts';
import type { Problem } from '#language/problem.ts';
import { type Built, buildVersion, type Rows } from './build.ts';

export type Job =
  | { kind: 'compile'; files: readonly TreeFile[] }
  | { kind: 'build'; files: readonly TreeFile[]; rows: Rows };

/** What a tree compiles to, without its rows. */
export type Compiled =
  | {
      ok: true;
      contract: Contract;
      /** Rows of every entity in the tree's `data/`. */
      rowCounts: Record<string, number>;
      generated: TreeFile[];
    }
  | { ok: false; problems: Problem[] };

export type Outcomes = { compile: Compiled; build: Built };

const compile = (files: readonly TreeFile[]): Compiled => {
  const compiled = compileTree(files);
  if (!compiled.ok) return compiled;
  const { contract, baseRows, generated } = compiled;
  const rows = new Map(Object.entries(baseRows));
  const rowCounts = Object.fromEntries(
    contract.entities.map(({ name }) => [name, rows.get(name)?.length ?? 0]),
  );
  return { ok: true, contract, rowCounts, generated };
};

/** Does a job; it takes as long and as much memory as it takes. */
export const runJob = (job: Job): Outcomes[Job['kind']] =>
  job.kind === 'compile' ? compile(job.files) : buildVersion(job.files, job.rows);
