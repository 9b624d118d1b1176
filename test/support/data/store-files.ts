/** Store files for tests: unpacked snapshots, in a folder of their own. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { zstdDecompressSync } from 'node:zlib';
import type { Contract } from '#language/contract.ts';
import { buildSnapshot, type Rows } from '#store/snapshot.ts';

export type StoreFiles = {
  /** Writes the store file of some rows and returns its path. */
  write(contract: Contract, rows: Rows): string;
  remove(): void;
};

export const createStoreFiles = (): StoreFiles => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-store-files-'));
  let count = 0;
  return {
    write(contract, rows) {
      count += 1;
      const path = join(folder, `${count}.sqlite`);
      writeFileSync(path, zstdDecompressSync(buildSnapshot(contract, rows).bytes));
      return path;
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
};
