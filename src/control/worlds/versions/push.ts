/**
 * Creates the next version of a world from a tree. The client sends only the contents that no version of the project
 * has; the other contents are read from the store. A push names the version on which it is based. That version must
 * stay the head until the new version is written. Of two concurrent pushes, one succeeds; the other gets `conflict`
 * with the current head.
 */

import pMap from 'p-map';
import { AppError, type FieldProblem } from '#domain/error.ts';
import { limits } from '#domain/limits.ts';
import { createPathCheck, showPath } from '#domain/tree-path.ts';
import type { Digest, TreeFile } from '#domain/world.ts';
import type { PushBody } from '#wire/public-api/worlds/version.ts';
import type { Made } from '../../db/core/idempotency-keys.ts';
import type { Upload } from '../../db/projects/uploads.ts';
import { type NewRun, newRun } from '../../db/worlds/test-runs.ts';
import { findCandidate } from '../../db/worlds/version-gates.ts';
import { findHeldBlobs } from '../../db/worlds/versions.ts';
import {
  insertNextVersion,
  type ManifestFile,
  type NewVersion,
  type WorldRow,
} from '../../db/worlds/worlds.ts';
import { digestOf, isLost } from '../../platform/blobs/blobs.ts';
import { runsTopic } from '../../platform/notifications/notifications.ts';
import type { Version } from '../caches/versions.ts';
import type { BaseVersion } from '../compile/kept-rows.ts';
import { checkTree, dataFolder, decodeContent, isProblem } from '../compile/tree.ts';
import type { WorldParts } from '../parts.ts';
import { checkInUse, getVersionOf, getWorld, reloadWorld } from './address.ts';
import { carryKeptRows, rowsLost, withFolder } from './carried-rows.ts';
import { builtOrRefused, type Creator } from './create.ts';
import { makeOnce } from './idempotency.ts';
import { linkVersion } from './links.ts';
import {
  builtRows,
  contentHashOf,
  type Source,
  sourceOf,
  storeVersion,
  withUpload,
} from './store-version.ts';

const readsAtOnce = 16;

/**
 * Result of a push: the version that has the pushed tree; it may still wait to become the head. `changed` is true if
 * the push created the version.
 */
export type Pushed = {
  world: WorldRow;
  version: Version;
  changed: boolean;
  /** True if an earlier push with the same `Idempotency-Key` created the version. */
  isRepeated: boolean;
  keptRows: number;
  leftOutRows: number;
};

const toDigest = (sha256: string): Digest => `sha256:${sha256}`;

const movedError = (slug: string, base: number, head: Version): AppError =>
  new AppError(
    'conflict',
    `the head of "${slug}" is now version ${head.number}, and this push is based on version ${base}: pull the head, make the change there, and push again`,
    { detail: { head: { id: head.id, number: head.number } } },
  );

/** Returns the given files that no version of the project has. */
export const findMissing = async (
  { db }: WorldParts,
  projectId: string,
  head: Version,
  digests: readonly Digest[],
): Promise<Digest[]> => {
  const ofHead = new Set(head.files.map(({ sha256 }) => sha256));
  const asked = [...new Set(digests)].filter((digest) => !ofHead.has(digest));
  const held = await findHeldBlobs(db, projectId, asked);
  return asked.filter((digest) => !held.has(digest));
};

const missingError = (missing: readonly Digest[]): AppError =>
  new AppError('conflict', `${missing.length} files must be sent with their content`, {
    detail: { missing: missing.map((digest) => digest.slice('sha256:'.length)) },
  });

type Sent = { path: string; sha256: Digest; content: Uint8Array | undefined };

const readFile = (
  { path, sha256, content }: PushBody['files'][number],
  place: string[],
  pathFault: (path: string) => string | undefined,
): Sent | FieldProblem => {
  const fault = pathFault(path);
  if (fault !== undefined) {
    return { path: [...place, 'path'], message: `the path ${showPath(path)} ${fault}` };
  }
  if (content === undefined) return { path, sha256: toDigest(sha256), content };
  const decoded = decodeContent({ path, content }, place);
  if (isProblem(decoded)) return decoded;
  if (digestOf(decoded.content) === toDigest(sha256))
    return { ...decoded, sha256: toDigest(sha256) };
  return { path: [...place, 'sha256'], message: `${path}: the digest is not that of the content` };
};

const readFiles = (files: PushBody['files']): Sent[] => {
  const pathFault = createPathCheck();
  const sent: Sent[] = [];
  const problems: FieldProblem[] = [];
  for (const [index, file] of files.entries()) {
    const read = readFile(file, ['files', String(index)], pathFault);
    if ('message' in read) problems.push(read);
    else sent.push(read);
  }
  if (problems.length === 0) return sent;
  throw new AppError('invalid', 'the files do not form a tree', { fields: problems });
};

const tooLargeTree = (): AppError => {
  const message = `the tree has more than ${limits.treeBytes} bytes, the maximum`;
  return new AppError('invalid', message, { fields: [{ path: ['files'], message }] });
};

/** Returns the bytes of files from the store. Throws `conflict` with the files whose bytes are lost. */
export const readHeld = async (
  { blobs }: Pick<WorldParts, 'blobs'>,
  digests: readonly Digest[],
): Promise<Map<Digest, Uint8Array>> => {
  const found = new Map<Digest, Uint8Array>();
  const lost: Digest[] = [];
  let bytes = 0;
  const read = async (digest: Digest): Promise<void> => {
    try {
      // Checked before the bytes are read: a short list may name more than fits into memory.
      const size = await blobs.size(digest);
      bytes += size;
      if (bytes > limits.treeBytes) throw tooLargeTree();
      found.set(digest, await blobs.get(digest));
    } catch (error) {
      if (!isLost(error)) throw error;
      lost.push(digest);
    }
  };
  await pMap(new Set(digests), read, { concurrency: readsAtOnce });
  if (lost.length > 0) throw missingError(lost);
  return found;
};

const assembleTree = async (
  parts: WorldParts,
  projectId: string,
  head: Version,
  body: PushBody,
): Promise<TreeFile[]> => {
  const sent = readFiles(body.files);
  const bare = sent.filter(({ content }) => content === undefined).map(({ sha256 }) => sha256);
  const missing = await findMissing(parts, projectId, head, bare);
  if (missing.length > 0) throw missingError(missing);
  const held = await readHeld(parts, bare);
  const tree = sent.flatMap(({ path, sha256, content = held.get(sha256) }) =>
    content === undefined ? [] : [{ path, content }],
  );
  checkTree(tree, 'files');
  return tree;
};

const hasOtherRows = ({ entityCounts, treeRows }: Version): boolean =>
  treeRows === null ||
  Object.entries(entityCounts).some(([entity, count]) => count > (treeRows[entity] ?? 0));

const isRows = ({ path }: ManifestFile): boolean => path.startsWith(dataFolder);

/**
 * Returns the parts of the base version that the push needs; undefined if they are lost and the push replaces all rows.
 * Throws `conflict` if they are lost and rows are to be kept.
 */
const readBase = async (
  { blobs }: WorldParts,
  head: Version,
  data: PushBody['data'],
): Promise<BaseVersion | undefined> => {
  const keeps = data !== 'replace' && hasOtherRows(head);
  const replaced = data === 'replace' ? [] : head.replaced;
  try {
    const bundle = await blobs.get(head.bundle);
    if (head.treeRows !== null || !keeps)
      return { bundle, treeRows: keeps ? (head.treeRows ?? {}) : undefined, replaced };
    const files = head.files.filter(isRows).map(async ({ path, sha256 }) => ({
      path,
      content: await blobs.get(sha256),
    }));
    return { bundle, treeRows: await Promise.all(files), replaced };
  } catch (error) {
    if (!isLost(error)) throw error;
    if (data === 'replace') return undefined;
    throw rowsLost(head, error);
  }
};

/**
 * Push of a tree. `madeFrom` is the version on which the tree is based: the head, or a version that waits for its gate
 * and then becomes the head.
 */
type Push = {
  creator: Creator;
  world: WorldRow;
  head: Version;
  madeFrom: Version;
  body: PushBody;
};

const build = async (
  parts: WorldParts,
  { projectId, world, head, body }: Omit<Push, 'creator' | 'madeFrom'> & { projectId: string },
  folder: string,
  signal: AbortSignal | undefined,
): Promise<Source> => {
  const tree = await assembleTree(parts, projectId, head, body);
  const job = { kind: 'build', files: tree, rowsJson: null } as const;
  // Bundles may be large, so that of the head is read only when this job's turn has come.
  const complete = async () => {
    const base = await readBase(parts, head, body.data);
    return base === undefined ? job : { ...job, base };
  };
  const context = { project: projectId, signal, complete };
  const built = builtOrRefused(await parts.compiler.run(job, context));
  const { id, slug } = world;
  const linked = await linkVersion(parts, { projectId, id, slug }, built);
  const carry = { projectId, head, built, replaced: head.replaced, folder, signal };
  const rows =
    built.rows.kind === 'built'
      ? builtRows(built.rows)
      : await carryKeptRows(parts, { ...carry, rows: built.rows });
  return sourceOf(tree, built, { ...linked, rows });
};

/**
 * Returns the name of the world after a push. If the current name differs from the name in the manifest of the head,
 * the world keeps it. Otherwise the world gets the name in the new manifest.
 */
const nameAfter = (world: WorldRow, head: Version, source: Source): string =>
  world.name === head.contract.name ? source.name : world.name;

/** Builds the error for a push whose base is no longer the head. */
const moved = async (parts: WorldParts, now: WorldRow, base: number): Promise<AppError> =>
  movedError(now.slug, base, await getVersionOf(parts, now, 'latest'));

/**
 * Returns the test run for a new version if the world runs its tests on each push or in its gate; otherwise undefined.
 */
const testsOf = (
  { projectId, publicKey: author }: Creator,
  { id: worldId }: WorldRow,
  { id: versionId }: NewVersion,
  { onPush, gate }: Source,
): NewRun | undefined => {
  if (![...onPush, ...gate].includes('tests')) return undefined;
  return newRun({
    kind: 'tests',
    origin: 'push',
    author,
    version: { id: versionId, projectId, worldId },
    input: {},
  });
};

const writeVersion = async (
  parts: WorldParts,
  upload: Upload,
  { creator, world, head, madeFrom, body }: Push,
  source: Source,
): Promise<string> => {
  const { projectId } = creator;
  // Compiling takes a while, so the head is checked again before anything is stored.
  const now = await reloadWorld(parts, projectId, world);
  if (now.headVersionId !== head.id) throw await moved(parts, now, body.base);
  const version = await storeVersion(parts, upload, source, {
    message: body.message ?? null,
    author: creator.publicKey,
    origin: 'push',
    replaced: body.data === 'replace' ? [] : head.replaced,
    base: head,
  });
  const next = { ...now, projectId, name: nameAfter(now, head, source), base: head.id };
  const { keptRows, leftOutRows } = source;
  const tests = testsOf(creator, world, version, source);
  const gate = source.gate.length === 0 ? undefined : { madeFrom: madeFrom.id };
  const askedBy = { once: creator.once, detail: { keptRows, leftOutRows }, tests, gate };
  if (await insertNextVersion(parts.db, next, version, upload.id, askedBy)) {
    if (tests !== undefined) parts.notifications.notify(runsTopic);
    return version.id;
  }
  throw await moved(parts, await reloadWorld(parts, projectId, world), body.base);
};

const findHead = async (
  parts: WorldParts,
  projectId: string,
  slug: string,
): Promise<{ world: WorldRow; version: Version }> => {
  const world = await getWorld(parts, projectId, slug);
  return { world, version: await getVersionOf(parts, world, 'latest') };
};

/**
 * Returns the version on which a push is based. Throws `conflict` unless it is the head, or waits to become the head.
 */
const findMadeFrom = async (
  parts: WorldParts,
  world: WorldRow,
  head: Version,
  { base }: PushBody,
): Promise<Version> => {
  if (head.number === base) return head;
  const of = { worldId: world.id, headId: head.id, number: base };
  const candidate = await findCandidate(parts.db, of);
  if (candidate === undefined) throw movedError(world.slug, base, head);
  return getVersionOf(parts, world, candidate);
};

const pushNew = async (
  parts: WorldParts,
  creator: Creator,
  { slug, body }: { slug: string; body: PushBody },
  signal?: AbortSignal,
): Promise<Pushed> => {
  const { projectId } = creator;
  const { world, version: head } = await findHead(parts, projectId, slug);
  checkInUse(world);
  const madeFrom = await findMadeFrom(parts, world, head, body);
  return withFolder(parts, async (folder) => {
    const push = { projectId, world, head, madeFrom, body };
    const source = await build(parts, push, folder, signal);
    const { keptRows, leftOutRows } = source;
    const said = { world, isRepeated: false, keptRows, leftOutRows };
    const hash = contentHashOf(source);
    const same = [head, madeFrom].find(({ contentHash }) => contentHash === hash);
    if (same !== undefined) return { ...said, version: same, changed: false };
    const id = await withUpload(parts, { projectId, makesWorld: false }, (upload) =>
      writeVersion(parts, upload, { ...push, creator }, source),
    );
    return { ...said, version: await getVersionOf(parts, world, id), changed: true };
  });
};

/** Returns the result of an earlier push with the same `Idempotency-Key`. */
const repeatPush = async (
  parts: WorldParts,
  projectId: string,
  { worldId, versionId, detail }: Made,
): Promise<Pushed> => {
  const world = await getWorld(parts, projectId, worldId);
  const version = await getVersionOf(parts, world, versionId);
  const rows = detail as Pick<Pushed, 'keptRows' | 'leftOutRows'>;
  return { world, version, changed: true, isRepeated: true, ...rows };
};

/**
 * Pushes a tree. Throws `invalid` with all problems, `conflict` if the head is not the version on which the push is
 * based or if files must be sent, and `exhausted` if too many jobs wait to be compiled or a quota is used up. A push
 * that is refused or changes nothing writes nothing.
 */
export const pushVersion = (
  parts: WorldParts,
  creator: Creator,
  push: { slug: string; body: PushBody },
  signal?: AbortSignal,
): Promise<Pushed> =>
  makeOnce(
    parts,
    creator,
    () => pushNew(parts, creator, push, signal),
    (made) => repeatPush(parts, creator.projectId, made),
  );
