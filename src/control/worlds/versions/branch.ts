/**
 * Creates a new world from a version of another world. The new world refers to the same blobs for its files, contract
 * and rows, so nothing is compiled or copied. Afterwards the two worlds are independent.
 */
import { newId } from '#domain/id.ts';
import type { BranchBody } from '#wire/public-api/worlds/version.ts';
import { factsOf, versionTextNames, writeTexts } from '../../base/contracts/contract-view.ts';
import { violates } from '../../db/core/errors.ts';
import type { Upload } from '../../db/projects/uploads.ts';
import { fillVersion, findHeld, findVersionTexts } from '../../db/worlds/version-summaries.ts';
import { insertWorld, type NewVersion, worldSlugConstraint } from '../../db/worlds/worlds.ts';
import type { Version } from '../caches/versions.ts';
import type { WorldParts } from '../parts.ts';
import { getVersionOf, getWorld, reloadWorld } from './address.ts';
import { type Creator, checkSlug, type MadeWorld, slugTaken } from './create.ts';
import { makeOnce } from './idempotency.ts';
import { reserve, withUpload } from './store-version.ts';

/** Fields of the new world's first version that are not taken from the copied version. */
type Note = Pick<NewVersion, 'message' | 'author'>;

const copyOf = async (
  { db }: WorldParts,
  version: Version,
  held: Pick<NewVersion, 'blobs' | 'bytes'>,
  note: Note,
): Promise<NewVersion> => {
  const { contract } = version;
  const found = (await findVersionTexts(db, [version.id], versionTextNames)).get(version.id);
  const rows = Object.values(version.entityCounts).reduce((sum, count) => sum + count, 0);
  return {
    ...version,
    ...held,
    ...note,
    id: newId('ver'),
    origin: 'create',
    changes: {
      base: null,
      files: { added: version.files.length, changed: 0, removed: 0 },
      entities: { added: [], changed: [], removed: [] },
      rows: { before: 0, after: rows },
    },
    contractJson: JSON.stringify(contract),
    texts: { ...writeTexts(contract), ...found },
    facts: factsOf(contract),
  };
};

type Branch = { creator: Creator; address: string; body: BranchBody };

const makeBranch = async (
  parts: WorldParts,
  upload: Upload,
  { creator, address, body }: Branch,
): Promise<MadeWorld> => {
  const { projectId, publicKey: author } = creator;
  const from = await getWorld(parts, projectId, address);
  const version = await getVersionOf(parts, from, body.bundle ?? 'latest');
  await fillVersion(parts.db, version.id);
  await reserve(parts, { ...upload, ...(await findHeld(parts.db, version.id)) });
  // From here on the upload protects the blobs. They may have been garbage-collected before, so the world is read
  // again.
  await reloadWorld(parts, projectId, from);
  const held = await findHeld(parts.db, version.id);
  const message = body.message ?? `branched from ${from.slug}@${version.number}`;
  const copy = await copyOf(parts, version, held, { message, author });
  const world = {
    id: newId('wld'),
    projectId,
    slug: body.slug,
    kind: from.kind,
    name: body.name ?? from.name,
    description: body.description ?? from.description,
  };
  try {
    await insertWorld(parts.db, world, copy, upload.id, { once: creator.once });
    return { worldId: world.id, versionId: copy.id, isNew: true };
  } catch (error) {
    throw violates(error, worldSlugConstraint) ? slugTaken(body.slug) : error;
  }
};

/** Branches a world. Throws the errors of `createWorld`. */
export const branchWorld = (
  parts: WorldParts,
  creator: Creator,
  branch: Omit<Branch, 'creator'>,
): Promise<MadeWorld> => {
  const make = async (): Promise<MadeWorld> => {
    checkSlug(branch.body.slug);
    const begun = { projectId: creator.projectId, makesWorld: true };
    return withUpload(parts, begun, (upload) => makeBranch(parts, upload, { creator, ...branch }));
  };
  return makeOnce(parts, creator, make, async (made) => ({ ...made, isNew: false }));
};
