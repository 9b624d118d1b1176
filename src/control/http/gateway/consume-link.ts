/** POST /routes/{sessionId}/entries */
import { consumeLink as operation } from '#wire/gateway-api/operations.ts';
import { consumeLink as consume } from '../../db/routes.ts';
import type { Parts } from '../../parts.ts';
import { hashSecretKey } from '../auth.ts';
import { endpoint, respond } from '../endpoint.ts';

export const consumeLink = ({ db }: Pick<Parts, 'db'>) =>
  endpoint(operation, async ({ params: { sessionId }, body: { surface, token } }) => {
    const accepted = await consume(db, { sessionId, surface, tokenHash: hashSecretKey(token) });
    return respond(200, { accepted });
  });
