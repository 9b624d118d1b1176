/** A store of the sample contract with its rows, and the refusal that work on one ends with. */
import { StoreRefusal } from '#store/refusal.ts';
import { buildSnapshot } from '#store/snapshot.ts';
import { openWorldStore, type WorldStore } from '#store/world-store.ts';
import { sampleContract, sampleRows } from './sample-contract.ts';

const contract = sampleContract();

/** The snapshot that every such store opens. */
export const builtSample = buildSnapshot(contract, sampleRows);

export const openSampleStore = (): WorldStore =>
  openWorldStore({ contract, snapshot: builtSample.bytes });

/** Throws where nothing is refused. */
export const refusalOf = async (work: () => unknown): Promise<StoreRefusal> => {
  try {
    await work();
  } catch (error) {
    if (error instanceof StoreRefusal) return error;
    throw error;
  }
  throw new Error('nothing was refused');
};
