import { expect, it } from 'vitest';
import { sampleContract, sampleEntity } from '#test/support/worlds/sample-contract.ts';
import { labelsOf } from './labels.ts';

const integer = { type: 'integer' };
const text = { type: 'string' };

const people = sampleEntity('people', { properties: { id: integer, name: text } });
const rooms = sampleEntity('rooms', { properties: { id: integer, floor: integer } });
const visits = sampleEntity('visits', {
  properties: { id: integer, host: integer, guest: { type: ['integer', 'null'] }, room: integer },
  relationships: [
    { fields: ['host'], target: 'people' },
    { fields: ['guest'], target: 'people' },
    { fields: ['room'], target: 'rooms' },
  ],
});
const contract = sampleContract({ entities: [people, rooms, visits] });

const names: Record<number, string> = { 1: 'Ada', 2: '', 3: 'x'.repeat(300) };
const store = {
  get: (entity: string, key: Record<string, unknown>): string | undefined => {
    const name = names[Number(key.id)];
    if (entity === 'rooms') return JSON.stringify({ id: key.id, floor: 1 });
    return name === undefined ? undefined : JSON.stringify({ id: key.id, name });
  },
};

const labels = (...rows: object[]) =>
  labelsOf(
    { contract, store },
    visits,
    rows.map((row) => JSON.stringify(row)),
  );

it('labels contain the titles of referenced rows by field and key, if the rows have a title', () => {
  expect(labels({ id: 1, host: 1, guest: null, room: 7 }, { id: 2, host: 1, guest: 1 })).toEqual({
    host: { 1: 'Ada' },
    guest: { 1: 'Ada' },
  });
});

it('labels leave out rows that do not exist or have no title, and cut long titles', () => {
  expect(labels({ id: 1, host: 9, guest: 2 })).toEqual({});
  const { host } = labels({ id: 1, host: 3 });
  expect(host?.['3']?.length).toBeLessThanOrEqual(100);
});
