/** GET /blobs/{digest} */
import { AppError, describeError } from '#domain/error.ts';
import { getBlob as operation } from '#wire/host-api/operations.ts';
import { isLost, missing } from '../../blobs/blobs.ts';
import { mayReadBlob } from '../../db/hosts.ts';
import type { Parts } from '../../parts.ts';
import { endpoint, respond } from '../endpoint.ts';

export const getBlob = ({ blobs, db, log }: Pick<Parts, 'blobs' | 'db' | 'log'>) =>
  endpoint(operation, async ({ params: { digest } }, { caller: { hostId } }) => {
    if (!(await mayReadBlob(db, hostId, digest))) {
      throw new AppError('forbidden', `${hostId} is not assigned a version with ${digest}`);
    }
    try {
      return respond(200, await blobs.get(digest));
    } catch (error) {
      if (!isLost(error)) throw error;
      // One that is damaged is lost, too: a host that asked again and again would never load.
      log.error({ hostId }, `a world's blob is lost: ${describeError(error)}`);
      throw missing(digest, error);
    }
  });
