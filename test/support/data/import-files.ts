/** Files for tests of imports: chunks, bases and working folders, and readers for the results. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync, zstdDecompressSync } from 'node:zlib';
import type {
  ImportBase,
  ImportChunk,
  ImportOutcome,
  ImportPlan,
  ImportRefusal,
} from '#data/import/plan.ts';
import { runImport } from '#data/import/run.ts';
import type { Contract, Row } from '#language/contract.ts';
import { buildSnapshot, type Rows } from '#store/snapshot.ts';
import { openWorldStore } from '#store/world-store.ts';
import { sampleContract } from '../worlds/sample-contract.ts';

type Applied = Extract<ImportOutcome, { kind: 'applied' }>;

/** A row with its entity, as in lines that name their entity. */
export type Named = { entity: string; row: Row };

export type ImportFiles = {
  /** Returns the path of a folder that does not exist yet. */
  folder(): string;
  /** Writes a chunk of lines, or of bytes that are declared as `rows` rows. */
  chunk(
    ordinal: number,
    lines: readonly string[] | { bytes: Uint8Array; rows: number },
    entity?: string,
  ): ImportChunk;
  /** Writes the store file of rows, of which the first `treeRows` come from the tree. */
  base(contract: Contract, rows: Rows, treeRows?: Record<string, number>): ImportBase;
  remove(): void;
};

export const createImportFiles = (): ImportFiles => {
  const root = mkdtempSync(join(tmpdir(), 'svc-import-'));
  let count = 0;
  const next = (): string => {
    count += 1;
    return join(root, String(count));
  };
  return {
    folder: next,
    chunk(ordinal, lines, entity) {
      const file = next();
      const isLines = Array.isArray(lines);
      const { bytes, rows } = isLines
        ? { bytes: gzipSync(lines.map((line) => `${line}\n`).join('')), rows: lines.length }
        : (lines as { bytes: Uint8Array; rows: number });
      writeFileSync(file, bytes);
      return { ordinal, file, entity, rows };
    },
    base(contract, rows, treeRows = {}) {
      const file = next();
      writeFileSync(file, zstdDecompressSync(buildSnapshot(contract, rows).bytes));
      return { file, treeRows };
    },
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
};

/** Builds a plan over the sample contract, without rows. */
export const planOf = (folder: string, parts: Partial<ImportPlan> = {}): ImportPlan => ({
  contract: sampleContract(),
  base: null,
  chunks: [],
  mode: 'append',
  redact: 'off',
  atomic: true,
  dryRun: false,
  folder,
  ...parts,
});

/** Reads the rows of a snapshot that an import made. Throws unless its digests match the rows. */
export const readImported = (contract: Contract, { snapshot }: Applied): Record<string, Row[]> => {
  if (snapshot === null) throw new Error('the import made no snapshot');
  const store = openWorldStore({ contract, snapshot: readFileSync(snapshot.file) });
  try {
    if (store.scanDigest() !== snapshot.stateDigest || store.digest() !== snapshot.stateDigest) {
      throw new Error('the state digest is not that of the rows');
    }
    return Object.fromEntries(
      contract.entities.map(({ name }) => [
        name,
        store.query(name).map((text) => JSON.parse(text) as Row),
      ]),
    );
  } finally {
    store.close();
  }
};

/** Reads the recorded refusals of an import. */
export const readRefusals = ({ refusals }: Pick<ImportOutcome, 'refusals'>): ImportRefusal[] =>
  refusals === null
    ? []
    : readFileSync(refusals, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as ImportRefusal);

/** Runs a plan. Throws when it is refused. */
export const importApplied = async (plan: ImportPlan): Promise<Applied> => {
  mkdirSync(plan.folder, { recursive: true });
  const outcome = await runImport(plan);
  if (outcome.kind === 'applied') return outcome;
  throw new Error(`refused: ${JSON.stringify(readRefusals(outcome)[0])}`);
};
