/** Invalid route tables, rejected when the world is compiled. */
import { describe, expect, it } from 'vitest';
import { compileTree } from '#language/compile/compile.ts';
import { apiTree, operation } from '#test/support/worlds/api-world.ts';

const list = operation('GET', '/notes', 'filter = { state = "state" }', { params: ['state'] });

describe('[operations.api]', () => {
  const problemOf = (lines: string, method = 'GET'): unknown => {
    const compiled = compileTree(
      apiTree({ operations: operation(method, '/notes/{id}', lines, { params: ['q'] }) }),
    );
    return compiled.ok ? 'accepted' : compiled.problems.map(({ code, pointer }) => [code, pointer]);
  };
  const at = (key: string) => `/operations/0/api/${key}`;

  it.each([
    ['action = "list"', [['bad_value', at('action')]]],
    ['action = "update"', [['missing_key', at('filter')]]],
    ['action = "delete"', [['missing_key', at('filter')]]],
    ['action = "handler"', [['missing_key', at('handler')]]],
    [
      'handler = "x"',
      [
        ['missing_file', '/api/handlers'],
        ['unexpected_key', at('handler')],
      ],
    ],
    ['filter = { nope = "id" }', [['unknown_argument', at('filter/nope')]]],
    ['filter = { q = "nope" }', [['unknown_field', at('filter/q')]]],
    ['match = { q = "prefix" }', [['unknown_argument', at('match/q')]]],
    ['filter = { q = "title" }\nmatch = { q = "fuzzy" }', [['bad_value', at('match/q')]]],
    ['filter = { q = "id" }\nmatch = { q = "prefix" }', [['type_mismatch', at('filter/q')]]],
    ['status = 199', [['bad_value', at('status')]]],
    ['status = 300', [['bad_value', at('status')]]],
    ['status = 299', 'accepted'],
    ['body = { title = "t" }', [['unexpected_key', at('body')]]],
    ['defaults = { title = "t" }', [['unexpected_key', at('defaults')]]],
    ['generate = { id = "int" }', [['unexpected_key', at('generate')]]],
    ['action = "create"\ngenerate = { id = "uuid" }', [['type_mismatch', at('generate/id')]]],
    ['action = "create"\ngenerate = { id = "random" }', [['bad_value', at('generate/id')]]],
    ['action = "create"\ndefaults = { state = "lost" }', [['type_mismatch', at('defaults/state')]]],
    ['not_found_status = 399', [['bad_value', at('not_found_status')]]],
    ['not_found_status = 600', [['bad_value', at('not_found_status')]]],
    ['not_found_status = 599', 'accepted'],
    ['not_found = "{"', [['bad_value', at('not_found')]]],
    ['page = "keyset"', [['bad_value', at('page')]]],
    ['page = "cursor"', [['bad_paging', at('page')]]],
    ['page = "offset"\nsingle = true', [['unexpected_key', at('page')]]],
    ['sample = { nope = 1 }', [['unknown_argument', at('sample/nope')]]],
    ['colour = 1', [['unknown_key', at('colour')]]],
  ])('is refused: %s', (lines, problems) => {
    expect(problemOf(lines)).toEqual(problems);
  });
});

describe('[api]', () => {
  const problemOf = (lines: string): unknown => {
    const compiled = compileTree(apiTree({ api: lines, operations: list }));
    return compiled.ok ? 'accepted' : compiled.problems.map(({ code, pointer }) => [code, pointer]);
  };
  const badValue = (key: string) => [['bad_value', `/api/${key}`]];

  it.each<[string, unknown]>([
    ['page = "pages"', badValue('page')],
    ['page = "cursor"', [['bad_paging', '/operations/0/api/page']]],
    ['page_size = 0', badValue('page_size')],
    ['page_size = 10001', badValue('page_size')],
    ['page_size = 10000', 'accepted'],
    ['page_size = "ten"', [['wrong_type', '/api/page_size']]],
    ['limit_param = ""', badValue('limit_param')],
    ['offset_param = "a b"', badValue('offset_param')],
    ['page = "offset"\nlimit_param = "offset"', [['duplicate', '/api/offset_param']]],
    ['cursor_param = "limit"', [['duplicate', '/api/cursor_param']]],
    ['envelope = "hits"', [['duplicate', '/api/hits_key']]],
    ['cursor_key = ""', badValue('cursor_key')],
    ['previous_key = ""', badValue('previous_key')],
    ['page_headers = { cursor = "a b" }', badValue('page_headers/cursor')],
    ['page_headers = { next = "X-Next" }', [['unknown_key', '/api/page_headers/next']]],
    ['page_links = 1', [['wrong_type', '/api/page_links']]],
    ['previous_key = 1', [['wrong_type', '/api/previous_key']]],
    ['unauthorized_status = 399', badValue('unauthorized_status')],
    ['not_found_status = 600', badValue('not_found_status')],
    ['invalid_status = 200', badValue('invalid_status')],
    ['invalid_status = 599', 'accepted'],
    ['invalid_by = { duplicate = \'{"taken":"{field}"}\', shape = { status = 422 } }', 'accepted'],
    ["invalid_by = { duplicate = 'taken' }", badValue('invalid_by/duplicate')],
    ['invalid_by = { reference = { status = 200 } }', badValue('invalid_by/reference/status')],
    ['invalid_by = { taken = "" }', [['unknown_key', '/api/invalid_by/taken']]],
    ['invalid = "{"', badValue('invalid')],
    ['invalid = "{"\nerror_content_type = "text/plain"', 'accepted'],
    ['error_content_type = "text"', badValue('error_content_type')],
    ['handlers = "api/handlers.js"', badValue('handlers')],
    ['before = "check"', [['missing_file', '/api/handlers']]],
    ['token_path = "/token"', [['unexpected_key', '/api/token_path']]],
    ['colour = 1', [['unknown_key', '/api/colour']]],
  ])('is refused: %s', (lines, problems) => {
    expect(problemOf(lines)).toEqual(problems);
  });
});
