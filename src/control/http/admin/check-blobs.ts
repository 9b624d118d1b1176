/** GET /doctor/blobs */
import { checkBlobs as operation } from '#wire/admin-api/operations.ts';
import type { Parts } from '../../parts.ts';
import { findDamaged } from '../../worlds/damaged.ts';
import { endpoint, respond } from '../endpoint.ts';

/** One answer: what is read within a few seconds from a slow store. */
const bounds = { mostBytes: 256 * 2 ** 20, mostMs: 5_000 };

export const checkBlobs = ({ blobs, db }: Pick<Parts, 'blobs' | 'db'>) =>
  endpoint(operation, async ({ query: { after = null } }) => {
    const damage = await findDamaged({ blobs, db }, { after, ...bounds });
    return respond(200, { ...damage, place: blobs.place });
  });
