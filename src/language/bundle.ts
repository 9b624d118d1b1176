/**
 * The bundle of a world version: the compiled contract and the user code, as one blob that a world
 * host loads. Equal inputs give equal bytes, because a bundle is named by its digest.
 *
 * The contract's keys keep their order: the rows of its tasks reach the store as they were written.
 */
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { TreeFile } from '#domain/world.ts';
import type { Contract } from './contract.ts';

export type Bundle = {
  contract: Contract;
  /** What a host runs: tools, handlers and the modules beside them; never tests. */
  files: TreeFile[];
};

type StoredBundle = { contract: Contract; files: { path: string; content: string }[] };

/** Bound on what a blob may unpack to, in bytes. */
const maxBundleBytes = 256 * 1024 * 1024;

const isCode = (path: string): boolean => /\.(py|ts)$/.test(path);

const isTest = (path: string): boolean =>
  /(^|\/)(tests?|__tests__|__pycache__)\//.test(path) ||
  /\.test\.ts$|(^|\/)test_[^/]*\.py$|_test\.py$/.test(path);

const comparePaths = (a: TreeFile, b: TreeFile): number =>
  a.path < b.path ? -1 : Number(a.path > b.path);

/**
 * The files of a tree that a host runs: modules at its root, everything below `api/`, and everything
 * below the folder of another handlers module when the contract names one.
 */
export const selectUserCode = (contract: Contract, files: readonly TreeFile[]): TreeFile[] => {
  const handlers = contract.api?.handlers ?? '';
  const home = handlers.slice(0, handlers.lastIndexOf('/') + 1);
  const isRun = ({ path }: TreeFile): boolean => {
    if (isTest(path)) return false;
    if (!path.includes('/')) return isCode(path);
    return path.startsWith('api/') || (home !== '' && path.startsWith(home));
  };
  return files.filter(isRun).sort(comparePaths);
};

/** The blob of a bundle: zstd over JSON. */
export const encodeBundle = ({ contract, files }: Bundle): Uint8Array => {
  const stored: StoredBundle = {
    contract,
    files: [...files]
      .sort(comparePaths)
      .map(({ path, content }) => ({ path, content: Buffer.from(content).toString('base64') })),
  };
  return zstdCompressSync(Buffer.from(JSON.stringify(stored)));
};

/** Reads a blob that `encodeBundle` made; throws when it is something else. */
export const decodeBundle = (bytes: Uint8Array): Bundle => {
  const json = zstdDecompressSync(bytes, { maxOutputLength: maxBundleBytes }).toString('utf8');
  const { contract, files } = JSON.parse(json) as StoredBundle;
  return {
    contract,
    files: files.map(({ path, content }) => ({
      path,
      content: new Uint8Array(Buffer.from(content, 'base64')),
    })),
  };
};
