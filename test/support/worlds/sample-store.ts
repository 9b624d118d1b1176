/** Stores of the sample contract with its rows, and a helper that returns the refusal of failed work. */
import { afterAll } from 'vitest';
import { StoreRefusal } from '#store/refusal.ts';
import { buildSnapshot } from '#store/snapshot.ts';
import { openWorldStore, type WorldStore } from '#store/world-store.ts';
import { sampleContract, sampleRows } from './sample-contract.ts';

const contract = sampleContract();

/** Snapshot that every store of the sample contract opens. */
export const builtSample = buildSnapshot(contract, sampleRows);

type Options = Parameters<typeof openWorldStore>[0];

let fileOf: ((snapshot: Uint8Array) => string) | null = null;

/** Makes `openStore` open stores on base files that hold the snapshots, until the end of the calling test file. */
export const openUponFiles = (writeFile: (snapshot: Uint8Array) => string): void => {
  fileOf = writeFile;
  afterAll(() => {
    fileOf = null;
  });
};

/** Opens a store in memory, or on a base file where the tests are repeated for those. */
export const openStore = (options: Options): WorldStore => {
  if (fileOf === null) return openWorldStore(options);
  const { snapshot = buildSnapshot(options.contract, {}).bytes, ...others } = options;
  return openWorldStore({ ...others, file: others.file ?? fileOf(snapshot) });
};

export const openSampleStore = (): WorldStore =>
  openStore({ contract, snapshot: builtSample.bytes });

/** Returns the refusal of work. Throws if nothing is refused. */
export const refusalOf = async (work: () => unknown): Promise<StoreRefusal> => {
  try {
    await work();
  } catch (error) {
    if (error instanceof StoreRefusal) return error;
    throw error;
  }
  throw new Error('nothing was refused');
};
