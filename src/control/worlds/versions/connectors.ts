/**
 * Connectors: trees that a project publishes in its organization, in versions that never change. Every project of the
 * organization can create worlds from them, and can publish the next version.
 */
import pMap from 'p-map';
import { AppError } from '#domain/error.ts';
import { newId } from '#domain/id.ts';
import { isSlug, type TreeFile } from '#domain/world.ts';
import { suggestName } from '#language/read/suggest.ts';
import type { PublishConnectorBody } from '#wire/public-api/projects/connector.ts';
import { hashOf } from '../../base/json/canonical.ts';
import {
  type ConnectorRow,
  findConnector,
  findConnectorFiles,
  insertConnectorVersion,
  listConnectorSlugs,
} from '../../db/worlds/connectors.ts';
import type { ManifestFile } from '../../db/worlds/worlds.ts';
import { type Blobs, digestOf } from '../../platform/blobs/blobs.ts';
import { checkTree, decodeTree, overlay } from '../compile/tree.ts';
import type { WorldParts } from '../parts.ts';
import { resolveAddress } from './address.ts';
import { refusedWorld } from './problems.ts';
import { manifestOf, reserve, withUpload, writeBlobs } from './store-version.ts';

const readsAtOnce = 16;

/** Prefix that a connector's name has in the field `from` of a request to create a world. */
export const connectorPrefix = 'workspace:';

const readFiles = (blobs: Blobs, files: readonly ManifestFile[]): Promise<TreeFile[]> =>
  pMap(files, async ({ path, sha256 }) => ({ path, content: await blobs.get(sha256) }), {
    concurrency: readsAtOnce,
  });

const invalid = (field: string, message: string): AppError =>
  new AppError('invalid', message, { fields: [{ path: [field], message }] });

/** Builds the `not_found` error for a connector, with similar slugs that exist. */
export const noConnector = async (
  { db }: Pick<WorldParts, 'db'>,
  projectId: string,
  slug: string,
): Promise<AppError> => {
  const hint = suggestName(slug, await listConnectorSlugs(db, projectId));
  const known = hint ?? 'none is published: see "svc worlds connector publish"';
  return new AppError('not_found', `the organization has no connector "${slug}"; ${known}`);
};

/** Returns true if the text is a version number; longer numbers cannot exist. */
const isNumber = (ref: string): boolean => /^[1-9]\d{0,8}$/.test(ref);

/**
 * Returns the tree that `workspace:<slug>[@<version>]` names. Throws `invalid` at the field `from` if it does not
 * exist.
 */
export const readConnector = async (
  { db, blobs }: Pick<WorldParts, 'db' | 'blobs'>,
  projectId: string,
  from: string,
): Promise<TreeFile[]> => {
  const [slug = '', ref = 'latest'] = from.slice(connectorPrefix.length).split('@');
  if (ref !== 'latest' && !isNumber(ref)) {
    throw invalid('from', `"${ref}" is no version of a connector: give a number, or "latest"`);
  }
  const number = ref === 'latest' ? null : Number(ref);
  const files = isSlug(slug) ? await findConnectorFiles(db, projectId, slug, number) : undefined;
  if (files !== undefined) return readFiles(blobs, files);
  const known = isSlug(slug) ? await findConnector(db, projectId, slug) : undefined;
  if (known === undefined)
    throw invalid('from', (await noConnector({ db }, projectId, slug)).message);
  const { number: latest } = known.latest;
  throw invalid('from', `connector "${slug}" has no version ${ref}; its latest is ${latest}`);
};

const readGiven = async (
  parts: WorldParts,
  projectId: string,
  { world, files }: PublishConnectorBody,
): Promise<TreeFile[]> => {
  if ((world === undefined) === (files === undefined)) {
    throw new AppError('invalid', 'name what to publish: either "world" or "files"');
  }
  if (world !== undefined) {
    const { version } = await resolveAddress(parts, projectId, world);
    return readFiles(parts.blobs, version.files);
  }
  const tree = decodeTree(files ?? [], 'files');
  checkTree(tree, 'files');
  return tree;
};

type Publisher = { projectId: string; publicKey: string };

export type PublishedConnector = { connector: ConnectorRow; changed: boolean };

/**
 * Compiles a tree before it is published, so that every world created from it will compile. Returns its name and its
 * files.
 */
const compileNamed = async (
  parts: WorldParts,
  projectId: string,
  files: readonly TreeFile[],
  signal: AbortSignal,
): Promise<{ name: string; tree: TreeFile[] }> => {
  const job = { kind: 'compile', files } as const;
  const compiled = await parts.compiler.run(job, { project: projectId, signal });
  if (!compiled.ok) throw refusedWorld(compiled.problems);
  return { name: compiled.contract.name, tree: overlay(files, compiled.rewritten) };
};

/**
 * Publishes a tree as the next or the first version of a connector. Changes nothing if the latest version has the same
 * files. Throws `invalid` with all problems, and `exhausted` with the quota that is used up.
 */
export const publishConnector = async (
  parts: WorldParts,
  { projectId, publicKey: author }: Publisher,
  { slug, body }: { slug: string; body: PublishConnectorBody },
  signal: AbortSignal,
): Promise<PublishedConnector> => {
  if (!isSlug(slug)) {
    throw invalid('slug', `"${slug}" is not 1 to 64 lower-case letters, digits and inner hyphens`);
  }
  const given = await readGiven(parts, projectId, body);
  const { name, tree } = await compileNamed(parts, projectId, given, signal);
  const files = manifestOf(tree).toSorted((a, b) => (a.path < b.path ? -1 : 1));
  const contentHash = `sha256:${hashOf(files)}`;
  const before = await findConnector(parts.db, projectId, slug);
  if (before?.latest.contentHash === contentHash) return { connector: before, changed: false };
  await withUpload(parts, { projectId, makesWorld: false }, async (upload) => {
    const contents = new Map(tree.map(({ content }) => [digestOf(content), content]));
    const bytes = [...contents.values()].reduce((sum, { byteLength }) => sum + byteLength, 0);
    await reserve(parts, { ...upload, blobs: [...contents.keys()], bytes });
    await writeBlobs(parts.blobs, [...contents.values()]);
    const { description = null, message = null } = body;
    await insertConnectorVersion(parts.db, {
      ...{
        id: newId('con'),
        projectId,
        slug,
        name,
        description,
        message,
        author,
        contentHash,
        files,
      },
      uploadId: upload.id,
    });
  });
  const connector = await findConnector(parts.db, projectId, slug);
  if (connector === undefined)
    throw new Error(`the database has no connector ${slug} after its version was published`);
  return { connector, changed: true };
};
