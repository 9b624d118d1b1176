/** The operations on versions of worlds. `operations.ts` has them with all others. */

import { operation } from '../operation.ts';
import { Bytes } from '../schemas.ts';
import { Type } from '../type.ts';
import { ListMeta, PageQuery } from './lists.ts';
import { VersionDetail, VersionListView, WorldParams } from './version.ts';

export const listVersions = operation({
  id: 'listVersions',
  summary: 'The versions of a world, newest first',
  method: 'GET',
  path: '/worlds/{slug}/versions',
  access: 'read',
  params: Type.Object({ slug: Type.String({ maxLength: 64 }) }),
  query: Type.Object(PageQuery, { additionalProperties: false }),
  answers: { 200: Type.Object({ data: Type.Array(VersionListView), meta: ListMeta }) },
});

export const getVersion = operation({
  id: 'getVersion',
  summary: 'One version of a world with its files, by number, label or id',
  method: 'GET',
  path: '/worlds/{slug}/versions/{version}',
  access: 'read',
  params: Type.Object({
    slug: Type.String({ maxLength: 64 }),
    version: Type.String({ maxLength: 64 }),
  }),
  answers: { 200: VersionDetail },
});

export const getWorldFile = operation({
  id: 'getWorldFile',
  summary: 'The bytes of a file of a world, by the digest that its list of files has',
  method: 'GET',
  path: '/worlds/{slug}/files/{sha256}',
  access: 'read',
  params: Type.Interface([WorldParams], {
    sha256: Type.String({ maxLength: 64, description: '64 hex digits' }),
  }),
  answers: { 200: Bytes },
});
