/**
 * Request ledger as an entity: the schema of an entry, against which conditions are checked, and its columns, for
 * queries. A host stores the ledger in a database of its own; a verifier sees the ledger among the tables of the world.
 */
import { ledgerEntity, type ledgerFields, ledgerOrigins } from '#domain/ledger.ts';
import type { EntityContract, JsonSchema } from '../contract.ts';

const integer = { type: 'integer' };
const text = { type: 'string' };
const textOrNull = { type: ['string', 'null'] };

const closed = (properties: Record<string, JsonSchema>): JsonSchema => ({
  type: 'object',
  properties,
  additionalProperties: false,
});

/**
 * Schemas of the ledger's fields. Requests and answers are not constrained, because those of tools and routes are not.
 */
const schemas: Record<(typeof ledgerFields)[number], JsonSchema> = {
  id: integer,
  at: text,
  via: { enum: [...ledgerOrigins] },
  operation: textOrNull,
  method: textOrNull,
  path: textOrNull,
  status: { type: ['integer', 'null'] },
  request: {},
  response: {},
  duration_ms: { type: 'number' },
  changes: {
    type: 'object',
    additionalProperties: closed({ inserted: integer, updated: integer, deleted: integer }),
  },
  rows: {
    type: 'array',
    items: closed({
      entity: text,
      key: { type: ['object', 'null'] },
      kind: { enum: ['inserted', 'updated', 'deleted'] },
      fields: { type: 'array', items: text },
    }),
  },
  call_id: textOrNull,
};

export const ledgerEntityContract: EntityContract = {
  name: ledgerEntity,
  schema: closed(schemas),
  primaryKey: ['id'],
  unique: [],
  relationships: [],
  columns: [
    { name: 'id', type: 'INTEGER' },
    { name: 'at', type: 'TEXT' },
    { name: 'via', type: 'TEXT' },
    { name: 'operation', type: 'TEXT' },
    { name: 'method', type: 'TEXT' },
    { name: 'path', type: 'TEXT' },
    { name: 'status', type: 'INTEGER' },
    { name: 'duration_ms', type: 'REAL' },
    { name: 'call_id', type: 'TEXT' },
  ],
};
