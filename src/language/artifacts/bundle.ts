/**
 * Bundle of a world version: the compiled contract and the user code, as one blob that a world host loads. A bundle is
 * named by its digest, so equal inputs must give equal bytes.
 *
 * The keys of the contract keep their order, because the rows of its tasks must reach the store as they were written.
 */

import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { own } from '#domain/json.ts';
import { compareTexts, leftOutFolder } from '#domain/tree-path.ts';
import type { TreeFile } from '#domain/world.ts';
import type { Contract, JsonSchema, RouteContract } from '../contract.ts';
import { isTable } from '../read/values.ts';
import { definitionName, subschemasOf } from '../schema/keywords.ts';

// Hosts get a reduced contract. It lacks the schemas of handlers' answers, which only `worlds/openapi.json` needs, and
// that is made when the world is compiled. It lacks the vendor's operations, which only captures need, and definitions
// that nothing else refers to. Together these may be larger than all the rest, and every host would unpack them before
// it can serve.

/** Returns the names of the definitions that schemas refer to, directly or through others. */
const definitionsOf = (
  roots: readonly JsonSchema[],
  definitions: Contract['definitions'],
): ReadonlySet<string> => {
  const reached = new Set<string>();
  const left: unknown[] = [...roots];
  while (left.length > 0) {
    const schema = left.pop();
    if (!isTable(schema)) continue;
    const name = definitionName(schema.$ref);
    if (name !== undefined && !reached.has(name)) {
      reached.add(name);
      left.push(own(definitions, name));
    }
    for (const part of subschemasOf(schema)) left.push(part.schema);
  }
  return reached;
};

/** Returns the schemas by which values are validated while a world is served. */
const heldTo = ({ entities, tools, api }: Contract): JsonSchema[] => [
  ...entities.map(({ schema }) => schema),
  ...tools.flatMap(({ input, output }) => [input, output]),
  ...(api?.routes ?? []).flatMap(({ request }) => (request === undefined ? [] : [request])),
];

const hostedRoute = ({ response, ...route }: RouteContract): RouteContract => route;

/** Returns the reduced contract, which suffices for hosts and for checks of rows. */
export const hostedContract = (contract: Contract): Contract => {
  const reached = definitionsOf(heldTo(contract), contract.definitions);
  const kept = Object.entries(contract.definitions).filter(([name]) => reached.has(name));
  const { api, vendor } = contract;
  return {
    ...contract,
    definitions: Object.fromEntries(kept),
    vendor: vendor === null ? null : { ...vendor, operations: [] },
    api: api === null ? null : { ...api, routes: api.routes.map(hostedRoute) },
  };
};

type Bundle = {
  /** Compiled contract; in a blob it is reduced, see `hostedContract`. */
  contract: Contract;
  /** Files that a host runs: tools, handlers and the modules that they import; never tests. */
  files: TreeFile[];
};

/** Head of a bundle, one line of JSON. The contents of the files follow one after another. */
type Head = { contract: Contract; files: StoredFile[] };
/**
 * A file with its size. In bundles of earlier releases, the file has its content as base64 instead, and nothing follows
 * the head.
 */
type StoredFile = { path: string; sizeBytes: number } | { path: string; content: string };

const lineEnd = 0x0a;

/** Maximum unpacked size of a blob, in bytes. */
const maxBundleBytes = 256 * 1024 * 1024;

/** Size of the buffers in which Node unpacks, in bytes. A usual bundle fits into one buffer. */
const chunkBytes = 1024 * 1024;

const isCode = (path: string): boolean => /\.(py|ts)$/.test(path);

const isTest = (path: string): boolean =>
  /(^|\/)(tests?|__tests__)\//.test(path) ||
  /\.test\.ts$|(^|\/)test_[^/]*\.py$|_test\.py$/.test(path);

const comparePaths = (a: TreeFile, b: TreeFile): number => compareTexts(a.path, b.path);

/** Returns true if a path is in a place where a host loads code. */
const isUserCode = ({ api }: Contract, path: string): boolean => {
  const handlers = api?.handlers ?? '';
  const home = handlers.slice(0, handlers.lastIndexOf('/') + 1);
  if (isTest(path)) return false;
  if (!path.includes('/')) return isCode(path);
  return path.startsWith('api/') || (home !== '' && path.startsWith(home));
};

/**
 * Returns the files of a tree that a host runs: modules at the top of the tree and everything below `api/`. If the
 * contract names a handlers module elsewhere, everything below the folder of that module is included. Folders that are
 * never part of a world are left out (`leftOutFolder`).
 */
export const selectUserCode = (contract: Contract, files: readonly TreeFile[]): TreeFile[] =>
  files
    .filter(({ path }) => isUserCode(contract, path) && leftOutFolder(path) === undefined)
    .sort(comparePaths);

/**
 * Returns the sorted paths of modules that a host would run if they were not in folders that are never part of a world.
 */
export const leftOutCode = (contract: Contract, files: readonly TreeFile[]): string[] =>
  files
    .map(({ path }) => path)
    .filter((path) => isCode(path) && isUserCode(contract, path))
    .filter((path) => leftOutFolder(path) !== undefined)
    .sort();

/** Encodes a bundle: zstd over its head and the contents of its files. */
export const encodeBundle = ({ contract, files }: Bundle): Uint8Array => {
  const sorted = [...files].sort(comparePaths);
  const stored = sorted.map(({ path, content }) => ({ path, sizeBytes: content.length }));
  const head: Head = { contract: hostedContract(contract), files: stored };
  const contents = sorted.map(({ content }) => content);
  return zstdCompressSync(Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), ...contents]));
};

/** Decodes a blob that `encodeBundle` made; throws for any other blob. */
export const decodeBundle = (blob: Uint8Array): Bundle => {
  const limits = { maxOutputLength: maxBundleBytes, chunkSize: chunkBytes };
  const bytes = zstdDecompressSync(blob, limits);
  const end = bytes.indexOf(lineEnd);
  const headBytes = end === -1 ? bytes : bytes.subarray(0, end);
  const { contract, files } = JSON.parse(headBytes.toString('utf8')) as Head;
  let at = headBytes.length + 1;
  const restore = (file: StoredFile): TreeFile => {
    if ('content' in file) {
      return { path: file.path, content: new Uint8Array(Buffer.from(file.content, 'base64')) };
    }
    const start = at;
    at += file.sizeBytes;
    return { path: file.path, content: new Uint8Array(bytes.subarray(start, at)) };
  };
  return { contract, files: files.map(restore) };
};
