/** A request as clients see it. */
import type { RequestView } from '#wire/public-api/request.ts';
import type { RequestRow } from '../db/requests.ts';

export const viewRequest = ({ at, ...row }: RequestRow): RequestView => ({
  ...row,
  at: at.toISOString(),
});
