/**
 * Older routes for worlds and their versions, under the names containers and bundles. They return the same objects,
 * named by slug or id, with the bodies of the version routes. Dataset runs are dispatched there, too.
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
  summary: 'A world with its head version, under the older spelling',
  path: '/benchmark-containers/{containerId}',
  access: 'read',
  params: ContainerParams,
  answer: WorldDetail,
});

export const listBundles = getOperation({
  id: 'listBundles',
  summary: 'The bundles of a container, which are the versions of the world, newest first',
  path: '/benchmark-containers/{containerId}/bundles',
  access: 'read',
  params: ContainerParams,
  query: PageOnly,
  answer: pageOf(VersionListView),
});

export const getBundle = getOperation({
  id: 'getBundle',
  summary: 'One bundle with its files, by number, label or id',
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
      'The head is another bundle than `base`: `head` says which. Or files were left out that the project ' +
      'has in none: `missing` has their digests.',
    429: 'Too many builds of the project are queued, or a quota is used up: see `quota`.',
  },
});

export const pinBundle = operation({
  id: 'pinBundle',
  summary: 'Move a label to a bundle',
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
    409: 'The slug is taken, or the world archived.',
    429: 'The project has no room for another world, or for its bytes: see `quota`.',
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
  refusals: { 409: 'The run of this name is on another world, or of another build.' },
});
