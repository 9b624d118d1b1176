/** Operations on versions of worlds. */

import { limits } from '#domain/limits.ts';
import { deleteOperation, getOperation, operation } from '../../operation.ts';
import { Bytes, IdempotencyHeaders } from '../../schemas.ts';
import { Type } from '../../type.ts';
import { PageOnly, pageOf } from '../lists.ts';
import {
  LabelBody,
  LabelParams,
  LabelView,
  ManifestBody,
  MissingView,
  PushBody,
  PushView,
  RenameBody,
  VersionDetail,
  VersionListView,
  WorldParams,
} from './version.ts';
import { WorldDetail } from './world.ts';

const SlugParams = Type.Object({ slug: Type.String({ maxLength: 64 }) });

export const listVersions = getOperation({
  id: 'listVersions',
  summary: 'The versions of a world, newest first',
  path: '/worlds/{slug}/versions',
  access: 'read',
  tools: [{ name: 'list_world_versions' }],
  params: SlugParams,
  query: PageOnly,
  answer: pageOf(VersionListView),
});

export const getVersion = getOperation({
  id: 'getVersion',
  summary: 'A version of a world with its files, by number, label or id',
  path: '/worlds/{slug}/versions/{version}',
  access: 'read',
  tools: [{ name: 'get_world_version' }],
  params: Type.Object({
    slug: Type.String({ maxLength: 64 }),
    version: Type.String({ maxLength: 64 }),
  }),
  answer: VersionDetail,
});

export const getWorldFile = getOperation({
  id: 'getWorldFile',
  summary: "The bytes of a file of a world, by the digest in the world's list of files",
  path: '/worlds/{slug}/files/{sha256}',
  access: 'read',
  params: Type.Interface([WorldParams], {
    sha256: Type.String({ maxLength: 64, description: 'SHA-256 of the file, as 64 hex digits' }),
  }),
  answer: Bytes,
});

export const findMissingFiles = operation({
  id: 'findMissingFiles',
  summary:
    'The digests among those of a push that no version of the project contains, so that the push must send these files',
  method: 'POST',
  path: '/worlds/{slug}/versions/missing',
  access: 'write',
  params: SlugParams,
  body: ManifestBody,
  answers: { 200: MissingView },
});

export const pushVersion = operation({
  id: 'pushVersion',
  summary: 'Push a tree as the next version of a world',
  method: 'POST',
  path: '/worlds/{slug}/versions',
  access: 'write',
  params: SlugParams,
  headers: IdempotencyHeaders,
  body: PushBody,
  bodyBytes: limits.worldBodyBytes,
  answers: { 200: PushView, 201: PushView },
  refusals: {
    409:
      'The head is no longer the version `base`: `head` names it. Or files were left out that the project  ' +
      'has in no version: `missing` has their digests.',
    429: 'Too many builds of the project are queued, or a quota is used up: `quota` names it.',
    524: 'The existing rows are too many to be carried over in ten minutes: push with `data` set to `replace`.',
  },
});

export const renameWorld = operation({
  id: 'renameWorld',
  summary:
    'Change the slug, name or description of a world; other worlds can use its old slug at once',
  method: 'PATCH',
  path: '/worlds/{slug}',
  access: 'write',
  tools: [{ name: 'rename_world', as: { slug: 'newSlug' } }],
  params: SlugParams,
  body: RenameBody,
  answers: { 200: WorldDetail },
  refusals: { 409: 'Another world of the project already has the slug.' },
});

export const archiveWorld = operation({
  id: 'archiveWorld',
  summary: 'Archive a world, which makes it read-only, or restore it from the archive',
  method: 'PUT',
  path: '/worlds/{slug}/archived',
  access: 'write',
  tools: [{ name: 'archive_world' }],
  params: SlugParams,
  body: Type.Object({ archived: Type.Boolean() }, { additionalProperties: false }),
  answers: { 200: Type.Object({ slug: Type.String(), archived: Type.Boolean() }) },
});

export const deleteWorld = deleteOperation({
  id: 'deleteWorld',
  summary:
    'Delete a world with all its versions; open sessions continue, and other worlds can use the slug',
  path: '/worlds/{slug}',
  access: 'write',
  tools: [{ name: 'delete_world' }],
  params: SlugParams,
  answer: Type.Object({ slug: Type.String(), id: Type.String() }),
});

export const setLabel = operation({
  id: 'setLabel',
  summary: 'Move a label to a version of a world',
  method: 'PUT',
  path: '/worlds/{slug}/labels/{label}',
  access: 'write',
  tools: [{ name: 'set_world_label' }],
  params: LabelParams,
  body: LabelBody,
  answers: { 200: LabelView },
});

export const removeLabel = deleteOperation({
  id: 'removeLabel',
  summary: 'Remove a label; the version that it pointed to stays',
  path: '/worlds/{slug}/labels/{label}',
  access: 'write',
  tools: [{ name: 'remove_world_label' }],
  params: LabelParams,
  answer: Type.Object({ slug: Type.String(), label: Type.String() }),
});
