/**
 * Makes a world: a template's tree or the client's own, files laid over it, rows put beside the
 * tree's; all of it compiled, then stored as blobs, then written as the world's first version. Nothing
 * is written of a world that the contract refuses.
 */
import { AppError, type FieldProblem } from '#domain/error.ts';
import { newId } from '#domain/id.ts';
import { isSlug, type TreeFile } from '#domain/world.ts';
import { encodeBundle, selectUserCode } from '#language/bundle.ts';
import { compileTree } from '#language/compile.ts';
import type { Contract, Row } from '#language/contract.ts';
import type { Problem } from '#language/problem.ts';
import { StoreRefusal } from '#store/refusal.ts';
import { type BuiltSnapshot, buildSnapshot } from '#store/snapshot.ts';
import type { CreateWorldBody } from '#wire/public-api/world.ts';
import type { Blobs } from '../blobs/blobs.ts';
import { hashOf } from '../canonical.ts';
import { violates } from '../db/errors.ts';
import type { Database } from '../db/pool.ts';
import {
  findWorld,
  insertWorld,
  type ManifestFile,
  type NewVersion,
  worldSlugConstraint,
} from '../db/worlds.ts';
import { readTemplate } from './templates.ts';
import { checkTree, decodeTree, overlay } from './tree.ts';

type Rows = Record<string, Row[]>;

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

const readSource = async (templatesDir: string, body: CreateWorldBody): Promise<TreeFile[]> => {
  const { from = [] } = body;
  const base =
    typeof from === 'string' ? await readTemplate(templatesDir, from) : decodeTree(from, 'from');
  const tree = overlay(base, decodeTree(body.overlay ?? [], 'overlay'));
  if (tree.length === 0) {
    throw field('from', 'there is nothing to make a world from: name a template or give files');
  }
  checkTree(tree);
  return tree;
};

const toFieldProblem = ({ file, pointer, message, hint }: Problem): FieldProblem => ({
  path: [file, ...pointer.split('/').slice(1)],
  message: hint === undefined ? message : `${message}; ${hint}`,
});

/** What the contract refused, as the contract's own problems and as problems of fields. */
const refused = (problems: readonly Problem[]): AppError => {
  const [first] = problems;
  const count = problems.length === 1 ? 'a problem' : `${problems.length} problems`;
  return new AppError(
    'invalid',
    `the world has ${count}; ${first?.file}${first?.pointer ?? ''}: ${first?.message}`,
    { fields: problems.map(toFieldProblem), detail: { problems } },
  );
};

const joinRows = (base: Rows, more: Rows): Rows => {
  const joined = { ...base };
  for (const [entity, rows] of Object.entries(more)) {
    joined[entity] = [...(base[entity] ?? []), ...rows];
  }
  return joined;
};

/** Where a refused row stands: in the tree's data, or in the body after those. */
const placeRefusal = (refusal: StoreRefusal, base: Rows): FieldProblem => {
  const { entity, index, detail } = refusal;
  const pointer = refusal.pointer?.split('/').slice(1) ?? [];
  const ofTree = base[entity]?.length ?? 0;
  const isOfBody = index === undefined ? base[entity] === undefined : index >= ofTree;
  const position = index === undefined ? [] : [String(isOfBody ? index - ofTree : index)];
  const place = isOfBody ? ['data', 'rows', entity] : [`data/${entity}.json`];
  return { path: [...place, ...position, ...pointer], message: detail };
};

const snapshotOf = (contract: Contract, base: Rows, more: Rows): BuiltSnapshot => {
  try {
    return buildSnapshot(contract, joinRows(base, more));
  } catch (error) {
    if (!(error instanceof StoreRefusal)) throw error;
    const problem = placeRefusal(error, base);
    throw new AppError('invalid', `a row is refused: ${error.message}`, { fields: [problem] });
  }
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

type Source = { tree: TreeFile[]; contract: Contract; snapshot: BuiltSnapshot };

const storeVersion = async (
  blobs: Blobs,
  { tree, contract, snapshot }: Source,
  message: string | null,
): Promise<NewVersion> => {
  const files = await storeFiles(blobs, tree);
  const bundle = await blobs.put(encodeBundle({ contract, files: selectUserCode(contract, tree) }));
  return {
    id: newId('ver'),
    number: 1,
    contentHash: `sha256:${hashOf({ files, bundle, state: snapshot.digest })}`,
    message,
    contract,
    files,
    entityCounts: snapshot.counts,
    bundle,
    snapshot: await blobs.put(snapshot.bytes),
  };
};

export type CreateParts = { db: Database; blobs: Blobs; templatesDir: string };

/** Creates the world. `invalid` lists what is wrong with it, `conflict` says that the slug is taken. */
export const createWorld = async (
  { db, blobs, templatesDir }: CreateParts,
  projectId: string,
  body: CreateWorldBody,
): Promise<void> => {
  const { slug } = body;
  checkSlug(slug);
  if ((await findWorld(db, projectId, slug)) !== undefined) throw slugTaken(slug);
  const tree = await readSource(templatesDir, body);
  const compiled = compileTree(tree);
  if (!compiled.ok) throw refused(compiled.problems);
  const { contract, baseRows, generated } = compiled;
  const snapshot = snapshotOf(contract, baseRows, (body.data?.rows ?? {}) as Rows);
  const source = { tree: overlay(tree, generated), contract, snapshot };
  const version = await storeVersion(blobs, source, body.message ?? null);
  const world = {
    id: newId('wld'),
    projectId,
    slug,
    kind: 'mock-tools',
    name: body.name ?? contract.name,
    description: body.description ?? null,
  };
  try {
    await insertWorld(db, world, version);
  } catch (error) {
    throw violates(error, worldSlugConstraint) ? slugTaken(slug) : error;
  }
};
