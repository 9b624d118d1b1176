/**
 * Cuts rows of files into chunks of JSONL. The same files always give the same chunks, so that the digest of a chunk
 * shows whether it was sent before. For each row, its chunk stores the line in the file.
 */
import type { ReadOptions, RowSource } from '#data/formats/found.ts';
import { readRows } from '#data/formats/read-rows.ts';
import type { Row } from '#language/contract.ts';
import type { RowProblem } from '#language/schema/checkers.ts';

export type RowChunk = {
  ordinal: number;
  /** Name of the file. */
  source: string;
  /** Entity of all rows; undefined if they belong to several, and each line then names its entity. */
  entity: string | undefined;
  rows: readonly { entity: string; json: string }[];
  /** Line of the file at which each row begins. */
  places: Uint32Array;
};

/** Rejected row, with its place in a file. */
export type PlacedFault = {
  source: string;
  at: number;
  entity: string;
  field: string | null;
  detail: string;
};

export type ChunkOptions = ReadOptions & {
  /** Returns the problems of a row. If absent, rows are not checked on this machine. */
  check?: ((entity: string, row: Row) => RowProblem[]) | undefined;
  /** Called with each row that is rejected. */
  leaveOut(fault: PlacedFault): void;
};

/** Number of characters of JSON at which a chunk is full. Compressed, that is well below the limit of a chunk. */
const chunkChars = 2 * 1024 * 1024;
const chunkRows = 100_000;

/** Formats a chunk: each line is a row, or an object `{"entity": …, "row": …}`. */
export const chunkText = ({ entity, rows }: RowChunk): string =>
  rows
    .map((row) =>
      entity === undefined
        ? `{"entity":${JSON.stringify(row.entity)},"row":${row.json}}\n`
        : `${row.json}\n`,
    )
    .join('');

const createCollector = () => {
  let ordinal = 0;
  let rows: { entity: string; json: string }[] = [];
  let places: number[] = [];
  let chars = 0;
  return {
    isFull: () => chars >= chunkChars || rows.length >= chunkRows,
    isEmpty: () => rows.length === 0,
    add(entity: string, json: string, at: number): void {
      rows.push({ entity, json });
      places.push(at);
      chars += json.length;
    },
    take(source: string): RowChunk {
      const first = rows[0]?.entity;
      const isOne = rows.every(({ entity }) => entity === first);
      const chunk = {
        ordinal,
        source,
        entity: isOne ? first : undefined,
        rows,
        places: Uint32Array.from(places),
      };
      ordinal += 1;
      rows = [];
      places = [];
      chars = 0;
      return chunk;
    },
  };
};

/** Cuts the rows of all sources into chunks. All rows of a chunk come from one source. */
export async function* cutChunks(
  sources: readonly RowSource[],
  { check, leaveOut, ...options }: ChunkOptions,
): AsyncGenerator<RowChunk> {
  const collector = createCollector();
  for (const source of sources) {
    const { name } = source;
    for await (const { rows, faults } of readRows(source, options)) {
      for (const fault of faults) leaveOut({ source: name, ...fault });
      for (const { entity, row, at } of rows) {
        const problems = check?.(entity, row) ?? [];
        for (const { field, pointer, detail } of problems.slice(0, 1)) {
          const inner = pointer.startsWith(`/${field}/`) ? `${pointer.slice(1)} ` : '';
          leaveOut({ source: name, at, entity, field: field || null, detail: `${inner}${detail}` });
        }
        if (problems.length > 0) continue;
        collector.add(entity, JSON.stringify(row), at);
        if (collector.isFull()) yield collector.take(name);
      }
    }
    if (!collector.isEmpty()) yield collector.take(name);
  }
}
