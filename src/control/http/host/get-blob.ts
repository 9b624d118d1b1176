/** GET /blobs/{digest} */
import { AppError } from '#domain/error.ts';
import { getBlob as operation } from '#wire/host-api/operations.ts';
import { mayReadBlob } from '../../db/hosts.ts';
import type { Parts } from '../../parts.ts';
import { endpoint, respond } from '../endpoint.ts';

export const getBlob = ({ blobs, db }: Pick<Parts, 'blobs' | 'db'>) =>
  endpoint(operation, async ({ params }, { caller: { hostId } }) => {
    if (!(await mayReadBlob(db, hostId, params.digest))) {
      throw new AppError('forbidden', `${hostId} is not assigned a version with ${params.digest}`);
    }
    return respond(200, await blobs.get(params.digest));
  });
