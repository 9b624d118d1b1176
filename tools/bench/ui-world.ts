/** A world of orders with a generated page, and any number of its rows. */
import type { TreeFile } from '#domain/world.ts';
import type { WorldStore } from '#store/world-store.ts';
import { textFile } from '../../test/support/worlds/small-world.ts';

const text = { type: 'string' };

const entities = {
  customers: {
    schema: {
      type: 'object',
      additionalProperties: false,
      required: ['id', 'name'],
      properties: { id: { type: 'integer' }, name: text, city: text },
    },
    primary_key: ['id'],
  },
  orders: {
    schema: {
      type: 'object',
      additionalProperties: false,
      required: ['id', 'subject', 'state', 'total', 'customer_id', 'placed_at'],
      properties: {
        id: { type: 'integer' },
        subject: text,
        state: { type: 'string', enum: ['open', 'paid', 'shipped'] },
        total: { type: 'number' },
        customer_id: { type: 'integer' },
        placed_at: { type: 'string', format: 'date-time' },
        note: { type: ['string', 'null'] },
      },
    },
    primary_key: ['id'],
    relationships: [{ fields: ['customer_id'], target: 'customers', on_delete: 'restrict' }],
  },
};

const worldJson = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: 'urn:svc:bench:orders',
  'x-svc': {
    version: 1,
    domain_version: '1',
    package: { id: 'orders', version: '1' },
    entities,
    tools: {},
  },
};

const environment = `[schema]
language = "svc-world/1"

[environment]
name = "Orders"
kind = "mock-tools"

[tools]
serve = []
`;

const connector = `[connector]
slug = "orders"
base_url = "https://orders.example"

[auth]
scheme = "none"

[ui]
static = "ui"
generated = true
`;

export const ordersTree = (): TreeFile[] => [
  textFile('schema/world.json', JSON.stringify(worldJson)),
  textFile('svc-env.toml', environment),
  textFile('connector.toml', connector),
];

const customers = 500;
const wares = ['boat', 'mast', 'nail', 'rope', 'sail', 'anchor', 'compass'];

/** Returns a pseudo-random whole number from 0 to below `count`. */
const anyOf = (index: number, count: number): number => (index * 7_919) % count;

const orderOf = (index: number) => ({
  id: index + 1,
  subject: `${wares[anyOf(index, wares.length)]} ${anyOf(index, 1_000_003)} for pier ${index % 97}`,
  state: ['open', 'paid', 'shipped'][index % 3] ?? 'open',
  total: anyOf(index, 100_000) / 100,
  customer_id: 1 + anyOf(index, customers),
  placed_at: new Date(Date.UTC(2026, 0, 1) - index * 61_000).toISOString(),
  note: index % 5 === 0 ? null : `delivered by hand, ${index % 31} steps down`,
});

/** Inserts this many orders, and their customers, into an empty store. */
export const fillOrders = async (store: WorldStore, count: number): Promise<void> => {
  await store.atomically(() => {
    for (let id = 1; id <= customers; id += 1) {
      store.insertChecked('customers', { id, name: `Customer ${id}`, city: `City ${id % 40}` });
    }
    for (let index = 0; index < count; index += 1) store.insertChecked('orders', orderOf(index));
  });
};
