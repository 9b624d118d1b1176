/**
 * Collects the refusals of an import: all are counted and the first ones recorded. They are written in the order of
 * chunks and lines, with those of the world's own rows first.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RowFault } from './faults.ts';
import type { ImportLimits } from './limits.ts';
import type { ImportRefusal, ImportReport } from './plan.ts';

/** Chunk and line of a refused row. */
export type RowPlace = Pick<ImportRefusal, 'chunk' | 'index'>;

export type Refusals = {
  add(place: RowPlace, fault: RowFault): void;
  /** Returns the number of refusals so far. */
  count(): number;
  /** Refuses the import as a whole, even if its plan leaves refused rows out. */
  addFatal(place: RowPlace, fault: RowFault): void;
  isFatal(): boolean;
  write(folder: string): Promise<ImportReport>;
};

type Noted = { place: RowPlace; text: string };

const compare = (one: number | null, other: number | null): number => (one ?? -1) - (other ?? -1);

const byPlace = ({ place: a }: Noted, { place: b }: Noted): number =>
  compare(a.chunk, b.chunk) || compare(a.index, b.index);

export const createRefusals = ({
  notedRefusals,
  notedChars,
}: Pick<ImportLimits, 'notedRefusals' | 'notedChars'>): Refusals => {
  const noted: Noted[] = [];
  let refused = 0;
  let chars = 0;
  let isFatal = false;
  const add: Refusals['add'] = (place, fault) => {
    refused += 1;
    if (noted.length >= notedRefusals || chars >= notedChars) return;
    const text = JSON.stringify({ ...place, ...fault } satisfies ImportRefusal);
    chars += text.length;
    noted.push({ place, text });
  };
  return {
    add,
    count: () => refused,
    addFatal(place, fault) {
      isFatal = true;
      add(place, fault);
    },
    isFatal: () => isFatal,
    async write(folder) {
      if (refused === 0) return { refused, refusals: null };
      const file = join(folder, 'refusals.jsonl');
      const lines = noted.sort(byPlace).map(({ text }) => `${text}\n`);
      await writeFile(file, lines);
      return { refused, refusals: file };
    },
  };
};
