/**
 * Turns a compiled tree into a version: reserves quota, registers the blobs, writes them, and records the changes. The
 * caller inserts the version itself, either as the first version of a new world or as the next one of an existing
 * world.
 */
import { newId } from '#domain/id.ts';
import type { Digest, TreeFile, VersionLink } from '#domain/world.ts';
import { compareFiles, sumRows } from '../../base/contracts/version-changes.ts';
import { quotaError } from '../../base/fairness/quotas.ts';
import { hashOf } from '../../base/json/canonical.ts';
import { abandonUpload, beginUpload, type Upload } from '../../db/projects/uploads.ts';
import type { ManifestFile, NewVersion, VersionRow } from '../../db/worlds/worlds.ts';
import { type Blobs, digestOf } from '../../platform/blobs/blobs.ts';
import type { Built, BuiltRows } from '../compile/build.ts';
import { overlay } from '../compile/tree.ts';
import type { WorldParts } from '../parts.ts';

/** Maximum number of blobs written at the same time. */
const writesAtOnce = 16;

/** Rows of a version. The snapshot is in memory, or in a file if there may be many rows. */
export type StoredRows = Omit<BuiltRows, 'snapshot'> & {
  snapshot: {
    blob: Digest;
    sizeBytes: number;
    from: { bytes: Uint8Array } | { file: string };
    /** Number of rows of each entity. */
    counts: Record<string, number>;
    /** Digest of the state that the rows form. */
    digest: Digest;
  };
};

/** Content of a version: the compiled tree, the tree with its generated files, and the manifest of that tree. */
export type Source = Omit<
  Extract<Built, { ok: true }>,
  'ok' | 'generated' | 'dependencies' | 'linkedTaskTools' | 'rows'
> &
  StoredRows & {
    links: VersionLink[];
    tree: TreeFile[];
    files: ManifestFile[];
  };

/** Fields of a version that are not content; `base` is the version on which it is based. */
export type VersionNote = Pick<NewVersion, 'message' | 'author' | 'origin' | 'replaced'> & {
  base: Pick<VersionRow, 'number' | 'files' | 'entityCounts'> | null;
};

/** Returns the manifest of a tree: the list of its files with their sizes and digests. */
export const manifestOf = (tree: readonly TreeFile[]): ManifestFile[] =>
  tree.map(({ path, content }) => ({
    path,
    sizeBytes: content.byteLength,
    sha256: digestOf(content),
  }));

/** Converts rows that were built together with the tree to the form in which they are stored. */
export const builtRows = ({ snapshot, ...rows }: BuiltRows): StoredRows => {
  const { bytes, counts, digest } = snapshot;
  const from = { bytes };
  const blob = digestOf(bytes);
  return { ...rows, snapshot: { blob, sizeBytes: bytes.byteLength, from, counts, digest } };
};

/** Combines a compiled tree with its rows, its links, and the texts that depend on the links. */
export const sourceOf = (
  given: readonly TreeFile[],
  { generated, ok: _, ...built }: Extract<Built, { ok: true }>,
  { rows, ...linked }: Pick<Source, 'links' | 'texts'> & { rows: StoredRows },
): Source => {
  const {
    dependencies: _dependencies,
    linkedTaskTools: _linkedTaskTools,
    rows: _rows,
    ...rest
  } = built;
  const tree = overlay(given, generated);
  return { ...rest, ...linked, ...rows, tree, files: manifestOf(tree) };
};

/** Returns the blobs of a version, each once. The snapshot is included only if it is in memory. */
const blobsOf = ({ tree, files, bundle, snapshot }: Source): Map<Digest, Uint8Array> => {
  const contents = new Map(files.map(({ sha256 }, at) => [sha256, tree[at]?.content ?? bundle]));
  contents.set(digestOf(bundle), bundle);
  if ('bytes' in snapshot.from) contents.set(snapshot.blob, snapshot.from.bytes);
  return contents;
};

/** Writes blobs that an upload has registered. */
export const writeBlobs = async (blobs: Blobs, contents: readonly Uint8Array[]): Promise<void> => {
  for (let start = 0; start < contents.length; start += writesAtOnce) {
    const writes = contents.slice(start, start + writesAtOnce).map((bytes) => blobs.put(bytes));
    await Promise.all(writes);
  }
};

/**
 * Returns the content hash of a version in the form `sha256:…`. It covers the files, the bundle, the rows, and the
 * versions to which the version links.
 */
export const contentHashOf = ({ bundle, snapshot, ...source }: Source): string =>
  hashContent({ ...source, bundle: digestOf(bundle), state: snapshot.digest });

/** Returns the content hash of a version whose content is known only by its digests. */
export const hashContent = ({
  files,
  bundle,
  state,
  links,
}: Pick<VersionRow, 'files' | 'bundle' | 'links'> & { state: string }): string => {
  const linked = links.map(({ alias, versionId }) => ({ alias, versionId }));
  const content = { files, bundle, state };
  return `sha256:${hashOf(links.length === 0 ? content : { ...content, links: linked })}`;
};

/** Gives up an upload. If the database is unreachable, the upload stays and is garbage-collected later. */
const abandon = async ({ db, log }: WorldParts, { id, projectId }: Upload): Promise<void> => {
  try {
    await abandonUpload(db, id);
  } catch (error) {
    log.warn({ err: error, projectId, upload: id }, 'an upload was not released; it will expire');
  }
};

/** Checks the project's quotas: the number of worlds before a world is compiled, the bytes before any are written. */
export const reserve = async ({ config, db }: WorldParts, upload: Upload): Promise<void> => {
  const refusal = await beginUpload(db, upload, config.quotas);
  if (refusal !== undefined) throw quotaError(refusal);
};

/** Runs the work of an upload. If the work fails, the blobs that it has written are garbage-collected. */
export const withUpload = async <Value>(
  parts: WorldParts,
  begun: Pick<Upload, 'projectId' | 'makesWorld'>,
  work: (upload: Upload) => Promise<Value>,
): Promise<Value> => {
  const upload = { ...begun, id: newId('upl'), blobs: [], bytes: 0 };
  await reserve(parts, upload);
  try {
    return await work(upload);
  } catch (error) {
    await abandon(parts, upload);
    throw error;
  }
};

const changesOf = (source: Source, base: VersionNote['base']): NewVersion['changes'] => ({
  base: base?.number ?? null,
  files: compareFiles(base?.files ?? [], source.files),
  entities: source.entities,
  rows: { before: sumRows(base?.entityCounts ?? {}), after: sumRows(source.snapshot.counts) },
});

/** Reserves quota for a version and writes its blobs. Returns the row to insert. */
export const storeVersion = async (
  parts: WorldParts,
  upload: Upload,
  source: Source,
  { base, ...note }: VersionNote,
): Promise<NewVersion> => {
  const contents = blobsOf(source);
  const { from, blob, sizeBytes } = source.snapshot;
  const isFile = 'file' in from;
  const lengths = [
    ...[...contents.values()].map(({ byteLength }) => byteLength),
    ...(isFile ? [sizeBytes] : []),
    ...Object.values(source.texts).map((text) => Buffer.byteLength(text)),
  ];
  const needed = {
    blobs: [...contents.keys(), ...(isFile ? [blob] : [])],
    bytes: lengths.reduce((sum, length) => sum + length, 0),
  };
  await reserve(parts, { ...upload, ...needed });
  await writeBlobs(parts.blobs, [...contents.values()]);
  if (isFile) await parts.blobs.putFile(from.file);
  const { files, contractJson, texts, facts, snapshot, bundle, warnings, treeRows, links } = source;
  return {
    ...note,
    ...needed,
    id: newId('ver'),
    contentHash: contentHashOf(source),
    changes: changesOf(source, base),
    contractJson,
    texts,
    facts,
    files,
    entityCounts: snapshot.counts,
    treeRows,
    links,
    bundle: digestOf(bundle),
    snapshot: blob,
    warnings,
  };
};
