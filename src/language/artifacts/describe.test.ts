import { describe, expect, it } from 'vitest';
import { contractOf } from '#test/support/worlds/small-world.ts';
import { describeContract } from './describe.ts';

const description = describeContract(contractOf());
const fieldsOf = (name: string) =>
  description.entities.find((entity) => entity.name === name)?.fields ?? [];
const fieldOf = (entity: string, path: string) =>
  fieldsOf(entity).find((field) => field.path === path);

describe('describeContract', () => {
  it('lists entities, tools, routes and tasks', () => {
    expect(description).toMatchObject({
      name: 'Board',
      package: { id: 'board', version: '1.0.0' },
      redactSalt: 'board',
      tools: expect.arrayContaining([expect.objectContaining({ name: 'cards.archive' })]),
      routes: expect.arrayContaining([
        {
          operation: 'get_card',
          method: 'GET',
          path: '/cards/{card_id}',
          action: 'read',
          entity: 'cards',
          params: [],
        },
      ]),
      tasks: expect.arrayContaining([
        { name: 'finish', description: 'Finish a card.', tools: null },
        { name: 'queried', description: null, tools: ['list_cards'] },
      ]),
    });
  });

  it('returns keys, unique fields and relationships of an entity', () => {
    expect(description.entities.find(({ name }) => name === 'cards')).toMatchObject({
      primaryKey: ['id'],
      unique: [['author.login', 'title']],
      relationships: [{ fields: ['list_id'], target: 'lists' }],
    });
  });

  it('returns the types of fields at any depth, and whether they are required', () => {
    expect(fieldOf('cards', 'id')).toMatchObject({ types: ['integer'], required: true });
    expect(fieldOf('cards', 'estimate')).toMatchObject({
      types: ['null', 'number'],
      required: false,
    });
    expect(fieldOf('cards', 'cover.url')).toMatchObject({ types: ['string'] });
    expect(fieldOf('cards', 'labels')).toMatchObject({ types: ['array'] });
    expect(fieldOf('cards', 'labels.*')).toMatchObject({ types: ['string'] });
  });

  it('returns the redaction policy of a field', () => {
    expect(fieldOf('cards', 'author.login')?.policy).toBe('hash');
    expect(fieldOf('cards', 'estimate')?.policy).toBe('round:1');
    expect(fieldOf('cards', 'title')?.policy).toBeNull();
  });

  it('ends for schemas that contain themselves', () => {
    const paths = fieldsOf('cards').map(({ path }) => path);
    expect(paths.filter((path) => path.startsWith('author'))).toEqual([
      'author',
      'author.login',
      'author.reports_to',
    ]);
  });
});
