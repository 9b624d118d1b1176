/**
 * Older routes for worlds and their versions, which call them containers and bundles. They return the same objects,
 * accept slugs or ids as names, and take the bodies of the version routes. Dataset runs can be started here, too.
 */

import { limits } from '#domain/limits.ts';
import { getOperation, operation } from '../../operation.ts';
import { IdempotencyHeaders } from '../../schemas.ts';
import { Type } from '../../type.ts';
import { DispatchBody, StartedRun } from '../evaluation/dataset.ts';
import { PageOnly, pageOf } from '../lists.ts';
import {
  BranchBody,
  LabelView,
  PinBody,
  PushBody,
  PushView,
  VersionDetail,
  VersionListView,
} from './version.ts';
import { WorldDetail } from './world.ts';

const containerId = Type.String({ maxLength: 64, description: 'the slug of a world, or its id' });
const ContainerParams = Type.Object({ containerId });

export const getContainer = getOperation({
  id: 'getContainer',
  summary: 'A world with its head version, under its older name, container',
  path: '/benchmark-containers/{containerId}',
  access: 'read',
  params: ContainerParams,
  answer: WorldDetail,
});

export const listBundles = getOperation({
  id: 'listBundles',
  summary: 'The bundles of a container, newest first; a bundle is a version of the world',
  path: '/benchmark-containers/{containerId}/bundles',
  access: 'read',
  params: ContainerParams,
  query: PageOnly,
  answer: pageOf(VersionListView),
});

export const getBundle = getOperation({
  id: 'getBundle',
  summary: 'A bundle with its files, by number, label or id',
  path: '/benchmark-containers/{containerId}/bundles/{bundle}',
  access: 'read',
  params: Type.Object({ containerId, bundle: Type.String({ maxLength: 64 }) }),
  answer: VersionDetail,
});

export const pushBundle = operation({
  id: 'pushBundle',
  summary: 'Push a tree as the next bundle of a container',
  method: 'POST',
  path: '/benchmark-containers/{containerId}/bundles',
  access: 'write',
  params: ContainerParams,
  headers: IdempotencyHeaders,
  body: PushBody,
  bodyBytes: limits.worldBodyBytes,
  answers: { 200: PushView, 201: PushView },
  refusals: {
    409:
      'The head is no longer the bundle `base`: `head` names it. Or files were left out that the project  ' +
      'has in no bundle: `missing` has their digests.',
    429: 'Too many builds of the project are queued, or a quota is used up: `quota` names it.',
  },
});

export const pinBundle = operation({
  id: 'pinBundle',
  summary: 'Move a label of a container to a bundle',
  method: 'POST',
  path: '/benchmark-containers/{containerId}/pin',
  access: 'write',
  params: ContainerParams,
  body: PinBody,
  answers: { 200: LabelView },
});

export const branchContainer = operation({
  id: 'branchContainer',
  summary: 'Create a world from a bundle, with its files and rows',
  method: 'POST',
  path: '/benchmark-containers/{containerId}/branch',
  access: 'write',
  params: ContainerParams,
  headers: IdempotencyHeaders,
  body: BranchBody,
  answers: { 200: WorldDetail, 201: WorldDetail },
  refusals: {
    409: 'The slug is taken, or the world is archived.',
    429: 'The project already has the maximum number of worlds, or its storage quota is used up: `quota` names the limit.',
  },
});

export const dispatchRun = operation({
  id: 'dispatchRun',
  summary: 'Run a dataset on a container, as `POST /datasets/{name}/runs` does',
  method: 'POST',
  path: '/benchmark-containers/{containerId}/runs',
  access: 'write',
  params: ContainerParams,
  body: DispatchBody,
  answers: { 202: StartedRun },
  refusals: {
    409: 'The existing run of this name uses another world, or another build of an agent.',
  },
});
