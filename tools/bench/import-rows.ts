/**
 * Rows for measuring imports: customers with a unique address that is stored as a digest, their orders, and the lines
 * of the orders. The rows are in chunks as a client sends them, children before their parents.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { ImportChunk } from '#data/import/plan.ts';
import type { ApiContract, Contract, Row } from '#language/contract.ts';
import { sampleContract, sampleEntity } from '../../test/support/worlds/sample-contract.ts';

const text = { type: 'string' };
const whole = { type: 'integer' };

export const importContract: Contract = sampleContract({
  api: {} as ApiContract,
  redact: { slug: 'shop', hash: ['email'], drop: [], preserve: [], round: {} },
  entities: [
    sampleEntity('customers', {
      properties: {
        id: text,
        email: text,
        name: text,
        country: { enum: ['NO', 'DE', 'FR'], type: 'string' },
      },
      unique: [[['email']]],
    }),
    sampleEntity('orders', {
      properties: {
        id: whole,
        customer: text,
        status: { enum: ['open', 'paid', 'shipped'], type: 'string' },
        total: { type: 'number' },
        note: text,
        created_at: { type: 'string', format: 'date-time' },
      },
      relationships: [{ fields: ['customer'], target: 'customers' }],
    }),
    sampleEntity('lines', {
      properties: { id: whole, order: whole, sku: text, quantity: { type: 'integer', minimum: 1 } },
      relationships: [{ fields: ['order'], target: 'orders' }],
    }),
  ],
});

const rowsAChunk = 50_000;
/** Makes neighbouring rows refer to rows that are far from one another. */
const scatter = (index: number, count: number): number => (index * 7_919) % count;

type Making = { entity: string; count: number; make(index: number): Row };

const makings = (rows: number): Making[] => {
  const customers = rows / 10;
  const orders = (rows * 3) / 10;
  const lines = rows - customers - orders;
  return [
    {
      entity: 'lines',
      count: lines,
      make: (index) => ({
        id: index + 1,
        order: scatter(index, orders) + 1,
        sku: `sku-${index % 1_000}`,
        quantity: (index % 9) + 1,
      }),
    },
    {
      entity: 'orders',
      count: orders,
      make: (index) => ({
        id: index + 1,
        customer: `c${scatter(index, customers)}`,
        status: ['open', 'paid', 'shipped'][index % 3],
        total: (index % 100_000) / 100,
        note: `order ${index} of the year`,
        created_at: '2026-01-01T00:00:00Z',
      }),
    },
    {
      entity: 'customers',
      count: customers,
      make: (index) => ({
        id: `c${index}`,
        email: `person${index}@example.test`,
        name: `Person ${index}`,
        country: ['NO', 'DE', 'FR'][index % 3],
      }),
    },
  ];
};

/** Yields this many rows one after the other, each with its entity. */
export function* importRows(rows: number): Generator<{ entity: string; row: Row }> {
  for (const { entity, count, make } of makings(rows)) {
    for (let index = 0; index < count; index += 1) yield { entity, row: make(index) };
  }
}

/** Writes this many rows, a multiple of ten, into the folder. */
export const writeImportChunks = (folder: string, rows: number): ImportChunk[] => {
  mkdirSync(folder, { recursive: true });
  const chunks: ImportChunk[] = [];
  for (const { entity, count, make } of makings(rows)) {
    for (let from = 0; from < count; from += rowsAChunk) {
      const length = Math.min(rowsAChunk, count - from);
      const lines = Array.from({ length }, (_, at) => `${JSON.stringify(make(from + at))}\n`);
      const file = join(folder, `${chunks.length}.jsonl.gz`);
      writeFileSync(file, gzipSync(lines.join(''), { level: 1 }));
      chunks.push({ ordinal: chunks.length, file, entity, rows: length });
    }
  }
  return chunks;
};
