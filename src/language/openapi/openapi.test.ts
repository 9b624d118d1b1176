/** Tests the OpenAPI document of a world: paths, answers, errors and credentials. */
import { describe, expect, it } from 'vitest';
import { lintOpenApi } from '#test/support/control/openapi-lint.ts';
import {
  card,
  definitions,
  documentOf,
  equals,
  type Loose,
} from '#test/support/worlds/card-routes.ts';
import { sampleContract, sampleEntity } from '#test/support/worlds/sample-contract.ts';
import { sampleApi, sampleErrors, sampleRoute } from '#test/support/worlds/sample-world.ts';
import { contractOf } from '#test/support/worlds/small-world.ts';
import type { ApiContract, RouteContract } from '../contract.ts';
import { openApiOf } from './openapi.ts';

describe('openApiOf', () => {
  it('returns a valid document for a complete world', async () => {
    const document = openApiOf(sampleContract({ api: sampleApi }));
    expect(await lintOpenApi(document)).toEqual([]);
    expect(await lintOpenApi(openApiOf(contractOf()))).toEqual([]);
    expect(Object.keys(document.paths as object)).toEqual([
      '/repos/{owner}/{repo}/issues',
      '/repos/{owner}/{repo}/issues/{number}',
      '/users',
      '/users/{login}',
      '/repos/{owner}/{repo}/issues/{number}/labels',
    ]);
  });

  it('writes arguments inside segments unchanged, and describes arguments that may contain slashes', async () => {
    const document = documentOf([
      card('GET', '/cards/{id}.json'),
      card('GET', '/files/{path...}/raw'),
      card('DELETE', '/files/{name}/raw'),
    ]);
    expect(await lintOpenApi(document)).toEqual([]);
    expect(Object.keys(document.paths)).toEqual(['/cards/{id}.json', '/files/{path}/raw']);
    const { get, delete: remove } = document.paths['/files/{path}/raw'];
    const path = { name: 'path', in: 'path', required: true, schema: { type: 'string' } };
    expect(get.parameters).toEqual([{ ...path, description: 'It may hold slashes.' }]);
    expect(remove.parameters).toEqual([path]);
  });

  it('uses the schemas that handlers declare for their bodies and answers', async () => {
    const person = { $ref: '#/$defs/Person' };
    const document = documentOf([
      card('POST', '/people', {
        ...{ operation: 'make', action: 'handler', handler: 'make', status: 201 },
        ...{ request: person, response: person },
      }),
      card('GET', '/people', {
        ...{ operation: 'list', action: 'handler', handler: 'list' },
        response: { type: 'array', items: person },
      }),
      card('PUT', '/people/{id}', {
        ...{ operation: 'put', action: 'handler', handler: 'put' },
        request: { $ref: '#/$defs/Id' },
      }),
    ]);
    expect(await lintOpenApi(document)).toEqual([]);
    const ref = { $ref: '#/components/schemas/Person' };
    const { post, get } = document.paths['/people'];
    const json = (schema: unknown) => ({ 'application/json': { schema } });
    expect(post.requestBody).toEqual({ required: true, content: json(ref) });
    expect(post.responses['201'].content).toEqual(json(ref));
    expect(get.responses['200'].content).toEqual(json({ type: 'array', items: ref }));
    expect(document.paths['/people/{id}'].put.requestBody.required).toBe(false);
  });

  it('returns a document without paths for a world without an API', async () => {
    const document = openApiOf(sampleContract());
    expect(document).toEqual({
      openapi: '3.1.0',
      info: { title: 'sample', version: '1' },
      paths: {},
    });
    expect(await lintOpenApi(document)).toEqual([]);
  });

  it('gives valid names to definitions, and changes references to them except in values such as `const`', async () => {
    const document = documentOf([card('GET', '/cards')]);
    expect(await lintOpenApi(document)).toEqual([]);
    const { schemas } = document.components;
    expect(Object.keys(schemas)).toEqual([
      'cards',
      'Id',
      'people.Login',
      'people.Login_2',
      'cards_2',
      'Person',
    ]);
    expect(schemas.cards.properties.id).toEqual({ $ref: '#/components/schemas/Id' });
    expect(schemas.Person.properties.login).toEqual({ $ref: '#/components/schemas/people.Login' });
    expect(schemas.cards_2).toEqual(definitions.cards);
  });

  it('does not constrain bodies and answers of handlers without schemas', async () => {
    const handler = (method: 'GET' | 'PUT', name: string): RouteContract =>
      card(method, '/anything', {
        action: 'handler',
        operation: name,
        handler: name,
        entity: null,
      });
    const document = documentOf([handler('PUT', 'do_it'), handler('GET', 'see_it')]);
    expect(await lintOpenApi(document)).toEqual([]);
    const { get, put } = document.paths['/anything'];
    expect(put.requestBody).toEqual({
      required: false,
      content: { 'application/json': { schema: {} } },
    });
    expect(get).not.toHaveProperty('requestBody');
    expect(Object.keys(put.responses)).toEqual(['200', '401', '404', '422', 'default']);
    expect(put.responses['200'].content['application/json'].schema).toEqual({});
  });

  it("includes the vendor's error bodies as examples, grouped by status", async () => {
    const gone = { status: 410, body: '<gone/>' };
    const xml = documentOf([card('GET', '/cards/{id}', { single: true, notFound: gone })], {
      errorContentType: 'application/xml',
      unauthorized: { status: 401, body: '' },
    });
    expect(await lintOpenApi(xml)).toEqual([]);
    expect(xml.paths['/cards/{id}'].get.responses['410'].content).toEqual({
      'application/xml': { examples: { notFound: { value: '<gone/>' } } },
    });
    expect(xml.components.responses.Unauthorized).toEqual({ description: 'No valid credential.' });

    const bad = { status: 400, body: '{"why":"bad"}' };
    const route = card('DELETE', '/cards/{id}', { action: 'delete', notFound: bad });
    const merged = documentOf([route], { invalid: bad });
    expect(await lintOpenApi(merged)).toEqual([]);
    const { responses } = merged.paths['/cards/{id}'].delete;
    expect(responses['401']).toEqual({ $ref: '#/components/responses/Unauthorized' });
    expect(responses['400'].content['application/json'].examples).toEqual({
      notFound: { value: { why: 'bad' } },
      invalid: { $ref: '#/components/examples/Invalid' },
    });
    expect(merged.components.examples.Invalid).toEqual({ value: { why: 'bad' } });
  });

  it('includes the errors of writing routes by cause', async () => {
    const routes = [
      card('POST', '/cards', { action: 'create' }),
      card('GET', '/cards/{id}', { single: true }),
    ];
    const taken = { status: 409, body: '{"taken":"{field}"}' };
    const document = documentOf(routes, { invalidBy: { duplicate: taken } });
    expect(await lintOpenApi(document)).toEqual([]);
    expect(document.paths['/cards'].post.responses['409']).toEqual({
      description: 'Another row has the key.',
      content: { 'application/json': { examples: { duplicate: { value: { taken: '{field}' } } } } },
    });
    expect(document.paths['/cards/{id}'].get.responses).not.toHaveProperty('409');
  });

  it('does not repeat long parts for each route', async () => {
    const long = 'x'.repeat(100_000);
    const wide = sampleEntity('wide', {
      properties: {
        id: { type: 'integer' },
        kind: { enum: [long] },
        part: { type: 'object', properties: { kind: { enum: [long] } } },
      },
    });
    const routes = Array.from({ length: 100 }, (_, index) =>
      sampleRoute('POST', `/${index}/{kind}/{inner}`, {
        operation: `make_${index}`,
        entity: 'wide',
        action: index % 2 === 0 ? 'create' : 'update',
        filter: [equals('kind', 'kind'), equals('inner', 'part', 'kind')],
        body:
          index % 4 < 2
            ? []
            : [
                { field: ['kind'], from: ['a'] },
                { field: ['part', 'kind'], from: ['b'] },
              ],
      }),
    );
    const error = { status: 404, body: JSON.stringify(long) };
    const api = { ...sampleApi, notFound: error, invalid: error, routes };
    const document = openApiOf(sampleContract({ entities: [wide], api }));
    expect(await lintOpenApi(document)).toEqual([]);
    expect(JSON.stringify(document).length).toBeLessThan(700_000);
  });

  it('joins paths that differ only by the names of their arguments', async () => {
    const document = documentOf([
      card('GET', '/cards/{id}', { single: true, filter: [equals('id', 'id')] }),
      card('PATCH', '/cards/{card}', { action: 'update', filter: [equals('card', 'id')] }),
      card('DELETE', '/cards/{card}/{list}', { action: 'delete' }),
    ]);
    expect(await lintOpenApi(document)).toEqual([]);
    expect(Object.keys(document.paths)).toEqual(['/cards/{id}', '/cards/{card}/{list}']);
    expect(document.paths['/cards/{id}'].patch.parameters).toMatchObject([
      { name: 'id', in: 'path', schema: { type: 'integer', minimum: 1 } },
    ]);
  });

  it('lists every scheme in which a session accepts its token', async () => {
    const auths: [ApiContract['auth'], unknown][] = [
      [{ scheme: 'bearer', name: null, tokenPath: null, scope: null }, undefined],
      [{ scheme: 'none', name: null, tokenPath: null, scope: null }, undefined],
      [
        { scheme: 'query', name: 'key', tokenPath: null, scope: null },
        { type: 'apiKey', in: 'query', name: 'key' },
      ],
      [
        { scheme: 'header', name: 'X-Key', tokenPath: null, scope: null },
        { type: 'apiKey', in: 'header', name: 'X-Key' },
      ],
      [
        { scheme: 'basic', name: null, tokenPath: null, scope: null },
        { type: 'http', scheme: 'basic' },
      ],
      [
        { scheme: 'oauth2', name: null, tokenPath: '/oauth/token', scope: 'read, write' },
        {
          type: 'oauth2',
          description: 'Bearers that the world mints.',
          flows: {
            clientCredentials: {
              tokenUrl: 'https://s.example/oauth/token',
              refreshUrl: 'https://s.example/oauth/token',
              scopes: { read: '', write: '' },
            },
          },
        },
      ],
    ];
    for (const [auth, vendor] of auths) {
      const document = documentOf(
        [card('GET', '/')],
        { auth },
        { serverUrl: 'https://s.example/' },
      );
      expect(await lintOpenApi(document)).toEqual([]);
      expect(document.components.securitySchemes.vendor).toEqual(vendor);
      expect(document.security).toHaveLength(vendor === undefined ? 1 : 2);
      expect(document.servers).toEqual([{ url: 'https://s.example/' }]);
    }
  });

  it('returns a valid document for hostile names and values', async () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    const document = documentOf(
      [
        card('POST', '/a"b/<i>/{constructor}', {
          action: 'create',
          body: [
            { field: ['title'], from: Array.from({ length: 100_000 }, () => 'a') },
            { field: ['list'], from: ['__proto__'] },
            { field: ['size'], from: ['sizes', '999999999'] },
          ],
          envelope: '__proto__',
        }),
      ],
      { notFound: { status: 404, body: deep }, invalid: { ...sampleErrors.invalid, body: deep } },
    );
    const text = JSON.stringify(document);
    expect(await lintOpenApi(JSON.parse(text))).toEqual([]);
    expect(text).toContain('"__proto__":{"type":"integer"}');
    expect(({} as Loose).type).toBeUndefined();
  });
});
