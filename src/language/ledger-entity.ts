/**
 * The request ledger as an entity: its columns, for those who query it. A host keeps it in a database
 * of its own; a verifier finds it beside the tables of the world.
 */
import { ledgerEntity, ledgerFields } from '#domain/ledger.ts';
import type { EntityContract } from './contract.ts';

export const ledgerEntityContract: EntityContract = {
  name: ledgerEntity,
  schema: {
    type: 'object',
    properties: Object.fromEntries(ledgerFields.map((field) => [field, {}])),
    additionalProperties: false,
  },
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
