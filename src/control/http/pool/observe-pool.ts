/** GET /view */
import { observePool as operation } from '#wire/pool-api/operations.ts';
import { observe } from '../../hosts/observe.ts';
import type { Parts } from '../../parts.ts';
import { endpoint, respond } from '../endpoint.ts';
import { toMs } from '../waits.ts';

export const observePool = (parts: Pick<Parts, 'db' | 'notices'>) =>
  endpoint(operation, async ({ query }, { signal }) => {
    const { installation, after, hold, brief } = query;
    const isBrief = brief === true;
    const question = { installation, after, holdMs: toMs(hold), signal, isBrief };
    return respond(200, await observe(parts, question));
  });
