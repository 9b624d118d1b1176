/**
 * Makes a world: a template's tree or the client's own, files laid over it, rows put beside the
 * tree's; all of it compiled, then stored as blobs, then written as the world's first version. Nothing
 * is written of a world that the contract refuses.
 */
import { AppError } from '#domain/error.ts';
import { newId } from '#domain/id.ts';
import { type Digest, isSlug, type TreeFile } from '#domain/world.ts';
import type { BuiltSnapshot } from '#store/snapshot.ts';
import { type Blobs, digestOf } from '../blobs/blobs.ts';
import { allOf } from '../bodies/all-of.ts';
import type { KeptWorld } from '../bodies/keep.ts';
import type { RefusedRow } from '../compile/build.ts';
import { checkTree, decodeTree, overlay } from '../compile/tree.ts';
import type { ContractFacts, VersionTexts } from '../contracts/contract-view.ts';
import { violates } from '../db/errors.ts';
import { abandonUpload, beginUpload, type Upload } from '../db/uploads.ts';
import {
  findHeadBlobs,
  findWorld,
  insertNextVersion,
  insertWorld,
  type ManifestFile,
  type NewVersion,
  type VersionRow,
  type WorldRow,
  worldSlugConstraint,
} from '../db/worlds.ts';
import { hashOf } from '../json/canonical.ts';
import type { Parts } from '../parts.ts';
import { quotaError } from '../shares/quotas.ts';
import { findLost } from './lost.ts';
import { refusedWorld } from './problems.ts';
import { readTemplate } from './templates.ts';

/** Slugs that are words of the routes below `/worlds`. */
const reservedSlugs = ['templates', 'runtime'];

/** Blobs that are written at once. */
const writesAtOnce = 16;

const field = (name: string, message: string): AppError =>
  new AppError('invalid', message, { fields: [{ path: [name], message }] });

const checkSlug = (slug: string): void => {
  if (!isSlug(slug)) {
    throw field('slug', `"${slug}" is not 1 to 64 lower-case letters, digits and inner hyphens`);
  }
  if (reservedSlugs.includes(slug)) throw field('slug', `"${slug}" is a word of the API itself`);
};

const slugTaken = (slug: string): AppError =>
  new AppError('conflict', `world slug "${slug}" is taken in this project`);

const readSource = (templatesDir: string, body: KeptWorld): TreeFile[] => {
  const { from = [] } = body;
  const base =
    typeof from === 'string' ? readTemplate(templatesDir, from) : decodeTree(from, 'from');
  const tree = overlay(base, decodeTree(body.overlay ?? [], 'overlay'));
  if (tree.length === 0) {
    throw field('from', 'there is nothing to make a world from: name a template or give files');
  }
  checkTree(tree);
  return tree;
};

const rowRefused = ({ message, field }: RefusedRow): AppError =>
  new AppError('invalid', `a row is refused: ${message}`, { fields: [field] });

/** What is wrong with the slug, and then with the files, too; these are read only when it is right. */
const checkNames = async ({ config }: Parts, body: KeptWorld): Promise<void> => {
  try {
    checkSlug(body.slug);
  } catch (error) {
    await allOf(
      () => {
        throw error;
      },
      () => readSource(config.templatesDir, body),
    );
  }
};

type Source = {
  tree: TreeFile[];
  name: string;
  contractJson: string;
  texts: VersionTexts;
  facts: ContractFacts;
  snapshot: BuiltSnapshot;
  bundle: Uint8Array;
  warnings: string[];
};

/** Stores the tree's files and returns its manifest. */
const storeFiles = async (blobs: Blobs, tree: readonly TreeFile[]): Promise<ManifestFile[]> => {
  const manifest: ManifestFile[] = [];
  for (let start = 0; start < tree.length; start += writesAtOnce) {
    const stored = tree.slice(start, start + writesAtOnce).map(async ({ path, content }) => ({
      path,
      sizeBytes: content.byteLength,
      sha256: await blobs.put(content),
    }));
    manifest.push(...(await Promise.all(stored)));
  }
  return manifest;
};

/** The blobs that a version consists of, each once. */
const blobsOf = ({ tree, bundle, snapshot }: Source): Map<Digest, Uint8Array> =>
  new Map(
    [...tree.map(({ content }) => content), bundle, snapshot.bytes].map(
      (bytes) => [digestOf(bytes), bytes] as const,
    ),
  );

const storeVersion = async (
  blobs: Blobs,
  { tree, contractJson, texts, facts, snapshot, bundle, warnings }: Source,
  { message, number, ...stored }: Pick<NewVersion, 'message' | 'number' | 'blobs' | 'bytes'>,
): Promise<NewVersion> => {
  const files = await storeFiles(blobs, tree);
  const bundleDigest = await blobs.put(bundle);
  return {
    id: newId('ver'),
    number,
    contentHash: `sha256:${hashOf({ files, bundle: bundleDigest, state: snapshot.digest })}`,
    message,
    contractJson,
    texts,
    facts,
    files,
    entityCounts: snapshot.counts,
    bundle: bundleDigest,
    snapshot: await blobs.put(snapshot.bytes),
    warnings,
    ...stored,
  };
};

/** Gives up an upload; one that stays because the database is away is given up for dead later. */
const abandon = async ({ db, log }: Parts, { id, projectId }: Upload): Promise<void> => {
  try {
    await abandonUpload(db, id);
  } catch (error) {
    log.warn({ err: error, projectId, upload: id }, 'an upload was not given up; it will be');
  }
};

/** Holds the project to its quotas: of worlds before one is compiled, of bytes before any is written. */
const reserve = async ({ config, db }: Parts, upload: Upload): Promise<void> => {
  const refusal = await beginUpload(db, upload, config.quotas);
  if (refusal !== undefined) throw quotaError(refusal);
};

const build = async (
  { compiler, config }: Parts,
  projectId: string,
  body: KeptWorld,
  signal: AbortSignal | undefined,
): Promise<Source> => {
  const tree = readSource(config.templatesDir, body);
  const { rowsJson } = body;
  const asker = { project: projectId, signal };
  const built = await compiler.run({ kind: 'build', files: tree, rowsJson }, asker);
  if (!built.ok) throw 'row' in built ? rowRefused(built.row) : refusedWorld(built.problems);
  const { generated, ...source } = built;
  return { ...source, tree: overlay(tree, generated) };
};

/** A world whose slug is taken and whose bytes are lost. */
type LostWorld = Pick<WorldRow, 'id' | 'description'> & { head: Pick<VersionRow, 'id' | 'number'> };

/**
 * The world that has the slug, if it is made again because nothing of it can be served any more; undefined
 * when the slug is free. Throws `conflict` when it is taken.
 */
const findLostWorld = async (
  { db, blobs }: Parts,
  projectId: string,
  slug: string,
): Promise<LostWorld | undefined> => {
  const world = await findWorld(db, projectId, slug);
  if (world === undefined) return undefined;
  const head = await findHeadBlobs(db, world.id);
  if (head === undefined) throw slugTaken(slug);
  if ((await findLost(blobs, [head.bundle, head.snapshot])).size === 0) throw slugTaken(slug);
  return { ...world, head };
};

/** Compiles, stores and writes what an upload is for. */
const makeWorld = async (
  parts: Parts,
  { id: uploadId, projectId }: Upload,
  { body, lost }: { body: KeptWorld; lost: LostWorld | undefined },
  signal: AbortSignal | undefined,
): Promise<void> => {
  const { db, blobs } = parts;
  const { slug } = body;
  const source = await build(parts, projectId, body, signal);
  const contents = blobsOf(source);
  const lengths = [
    ...[...contents.values()].map(({ byteLength }) => byteLength),
    ...Object.values(source.texts).map((text) => Buffer.byteLength(text)),
  ];
  const needed = {
    blobs: [...contents.keys()],
    bytes: lengths.reduce((sum, length) => sum + length, 0),
  };
  await reserve(parts, { id: uploadId, projectId, ...needed });
  const version = await storeVersion(blobs, source, {
    message: body.message ?? null,
    number: (lost?.head.number ?? 0) + 1,
    ...needed,
  });
  const world = {
    id: lost?.id ?? newId('wld'),
    projectId,
    slug,
    kind: 'mock-tools',
    name: body.name ?? source.name,
    description: body.description ?? lost?.description ?? null,
  };
  if (lost !== undefined) {
    await insertNextVersion(db, { ...world, lost: lost.head.id }, version, uploadId);
    return;
  }
  try {
    await insertWorld(db, world, version, uploadId);
  } catch (error) {
    throw violates(error, worldSlugConstraint) ? slugTaken(slug) : error;
  }
};

/**
 * Creates the world, or, where it is there and its bytes are lost, its next version. `invalid` lists what is wrong with it, `conflict` says that the slug is taken,
 * `exhausted` that too many worlds wait to be compiled, or that a quota is used up. A signal that aborts meanwhile takes it out of
 * them; later it has no effect.
 */
export const createWorld = async (
  parts: Parts,
  projectId: string,
  body: KeptWorld,
  signal?: AbortSignal,
): Promise<void> => {
  const { slug } = body;
  await checkNames(parts, body);
  const lost = await findLostWorld(parts, projectId, slug);
  const upload = { id: newId('upl'), projectId, blobs: [], bytes: 0 };
  await reserve(parts, upload);
  try {
    await makeWorld(parts, upload, { body, lost }, signal);
  } catch (error) {
    await abandon(parts, upload);
    throw error;
  }
};
