/** GET /worlds/templates */
import { listTemplates as operation } from '#wire/public-api/operations.ts';
import type { Parts } from '../../parts.ts';
import { listTemplates as list } from '../../worlds/templates.ts';
import { endpoint, respond } from '../endpoint.ts';

export const listTemplates = ({ config }: Pick<Parts, 'config'>) =>
  endpoint(operation, async () => respond(200, { data: list(config.templatesDir) }));
