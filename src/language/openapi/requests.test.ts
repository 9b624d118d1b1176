/** Tests the OpenAPI document of a world for requests: parameters, pagination and bodies. */
import { describe, expect, it } from 'vitest';
import { lintOpenApi } from '#test/support/control/openapi-lint.ts';
import { card, cards, documentOf, equals, type Loose } from '#test/support/worlds/card-routes.ts';
import { plainPaging } from '../contract.ts';

describe('the OpenAPI document', () => {
  it('gives parameters the types of their fields', async () => {
    const document = documentOf([
      card('GET', '/lists/{list}/cards', {
        params: ['state', 'login', 'label', 'q', 'size', 'free'].map((name) => ({
          name,
          repeated: name === 'label',
        })),
        filter: [
          equals('list', 'list'),
          equals('state', 'state'),
          equals('login', 'author', 'boss', 'login'),
          { argument: 'label', path: ['labels'], match: 'contains' },
          { argument: 'q', path: ['title'], match: 'prefix' },
          equals('size', 'size'),
        ],
        sample: { list: 3, label: ['a'] },
      }),
    ]);
    expect(await lintOpenApi(document)).toEqual([]);
    const { parameters } = document.paths['/lists/{list}/cards'].get;
    expect(parameters).toMatchObject([
      { name: 'list', in: 'path', required: true, schema: { type: 'integer' }, example: 3 },
      { name: 'state', required: false, schema: { type: 'string', enum: ['open', 'done'] } },
      { name: 'login', schema: { type: 'string', maxLength: 40 } },
      {
        name: 'label',
        style: 'form',
        explode: true,
        schema: { type: 'array', items: { type: 'string', pattern: '^[a-z]+$' } },
      },
      { name: 'q', schema: { type: 'string' } },
      { name: 'size', schema: { type: 'number', minimum: 0 } },
      { name: 'free', schema: { type: 'string' } },
    ]);
    expect(parameters[4].schema).toEqual({ type: 'string' });
    expect(parameters[4].description).toBe("Beginning of the row's title.");
  });

  it('describes pagination by parameters, keys and headers', async () => {
    const paging = {
      ...plainPaging,
      limitParam: 'per_page',
      previousKey: 'prev',
      headers: { cursor: 'X-Next', total: 'X-Total' },
    };
    const document = documentOf(
      [
        card('GET', '/by-cursor', {
          operation: 'by_cursor',
          page: 'cursor',
          envelope: 'data',
          params: [{ name: 'per_page', repeated: false }],
        }),
        card('GET', '/by-offset', { operation: 'by_offset', page: 'offset', envelope: 'data' }),
        card('GET', '/bare', { operation: 'bare', page: 'cursor' }),
      ],
      { paging },
    );
    expect(await lintOpenApi(document)).toEqual([]);
    const cursor = document.paths['/by-cursor'].get;
    expect(cursor.parameters.map(({ name, schema }: Loose) => [name, schema.type])).toEqual([
      ['per_page', 'integer'],
      ['cursor', 'string'],
    ]);
    expect(cursor.responses['200'].content['application/json'].schema).toEqual({
      type: 'object',
      required: ['data'],
      properties: {
        hits: { type: 'integer', minimum: 0 },
        cursor: { type: ['string', 'null'] },
        prev: { type: ['string', 'null'] },
        data: { type: 'array', items: { $ref: '#/components/schemas/cards' } },
      },
    });
    expect(Object.keys(cursor.responses['200'].headers)).toEqual(['X-Next', 'X-Total']);
    const offset = document.paths['/by-offset'].get;
    expect(offset.parameters.map(({ name }: Loose) => name)).toEqual(['per_page', 'offset']);
    expect(Object.keys(offset.responses['200'].headers)).toEqual(['X-Total']);
    const counted = offset.responses['200'].content['application/json'].schema.properties;
    expect(Object.keys(counted)).toEqual(['hits', 'data']);
    const bare = document.paths['/bare'].get.responses['200'].content['application/json'].schema;
    expect(bare).toEqual({ type: 'array', items: { $ref: '#/components/schemas/cards' } });
  });

  it('nests the fields of the body, and requires the fields that a row requires', async () => {
    const document = documentOf([
      card('POST', '/lists/{list}/cards', {
        action: 'create',
        status: 201,
        filter: [equals('list', 'list')],
        body: [
          { field: ['title'], from: ['card', 'title'] },
          { field: ['author', 'login'], from: ['by'] },
          { field: ['labels'], from: ['card', 'labels'] },
          { field: ['size'], from: ['card', 'sizes', '1'] },
          { field: ['state'], from: ['card', 'state'] },
        ],
        defaults: { state: 'open' },
        generate: [{ field: 'id', with: 'int' }],
      }),
    ]);
    expect(await lintOpenApi(document)).toEqual([]);
    const { requestBody } = document.paths['/lists/{list}/cards'].post;
    expect(requestBody).toEqual({
      required: true,
      content: {
        'application/json': {
          schema: {
            type: 'object',
            required: ['card', 'by'],
            properties: {
              card: {
                type: 'object',
                required: ['title'],
                properties: {
                  title: { type: 'string', minLength: 1 },
                  labels: { type: 'array', items: { type: 'string', pattern: '^[a-z]+$' } },
                  sizes: {
                    type: 'array',
                    prefixItems: [
                      {},
                      { anyOf: [{ type: 'number', minimum: 0 }, { type: 'null' }] },
                    ],
                  },
                  state: { enum: ['open', 'done', null], default: 'open' },
                },
              },
              by: { $ref: '#/components/schemas/people.Login' },
            },
          },
        },
      },
    });
  });

  it('has all fields of the entity if no fields are mapped, and requires none for an update', async () => {
    const document = documentOf([
      card('POST', '/cards', { action: 'create', generate: [{ field: 'id', with: 'int' }] }),
      card('PATCH', '/cards/{id}', { action: 'update', filter: [equals('id', 'id')] }),
      card('DELETE', '/cards', {
        action: 'delete',
        filter: [equals('id', 'id')],
        params: [{ name: 'id', repeated: false }],
      }),
    ]);
    expect(await lintOpenApi(document)).toEqual([]);
    const { post, delete: remove } = document.paths['/cards'];
    expect(post.requestBody.content['application/json'].schema.allOf).toEqual([
      { $ref: '#/components/schemas/cards.fields' },
      { required: ['list', 'title', 'state', 'author'] },
    ]);
    const fields = document.components.schemas['cards.fields'].properties;
    expect(Object.keys(fields)).toEqual(Object.keys(cards.schema.properties as object));
    expect(fields.id).toEqual({ $ref: '#/components/schemas/cards/properties/id' });
    const { requestBody } = document.paths['/cards/{id}'].patch;
    expect(requestBody.required).toBe(false);
    expect(remove.parameters).toMatchObject([{ name: 'id', in: 'query', required: true }]);
    expect(remove.responses['204']).toEqual({ description: 'It is done.' });
    expect(remove).not.toHaveProperty('requestBody');
  });
});
