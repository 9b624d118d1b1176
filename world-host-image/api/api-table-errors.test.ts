/** Effect of each `[api]` key on errors and on rate limit headers, over HTTP. */
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Row } from '#language/contract.ts';
import type { ServeOptions } from '#test/support/host/serve-world.ts';
import {
  type Answer,
  type ApiClient,
  type ApiWorld,
  operation,
  serveApi,
} from '#test/support/worlds/api-world.ts';

let api: ApiClient;

const serve = async (world: ApiWorld, options: ServeOptions = {}): Promise<void> => {
  api = await serveApi(world, options);
  onTestFinished(api.stop);
};

describe('errors', () => {
  const operations = [
    operation('GET', '/notes/{id}', 'single = true\nfilter = { id = "id" }'),
    operation('POST', '/notes', 'action = "create"'),
  ].join('');

  const answers = async () => ({
    unauthorized: await api.ask('GET', '/notes/1', { headers: { authorization: 'Bearer no' } }),
    missing: await api.get('/notes/1'),
    unknown: await api.get('/nowhere'),
    invalid: await api.ask('POST', '/notes', { body: {} }),
    broken: await api.ask('POST', '/notes', { body: '{' }),
    method: await api.ask('PUT', '/notes', { body: {} }),
  });

  it('are JSON with status 401, 404 or 400 by default', async () => {
    await serve({ operations });
    const shown = Object.entries(await answers()).map(([name, { status, text, headers }]) => [
      name,
      status,
      text,
      headers.get('content-type'),
    ]);
    const type = 'application/json; charset=utf-8';
    expect(shown).toEqual([
      ['unauthorized', 401, '{"error":"unauthorized"}', type],
      ['missing', 404, '{"error":"not_found"}', type],
      ['unknown', 404, '{"error":"not_found"}', type],
      ['invalid', 400, '{"error":"invalid"}', type],
      ['broken', 400, '{"error":"invalid"}', type],
      ['method', 405, '{"error":"invalid"}', type],
    ]);
  });

  it('are answered as declared, with status and content type', async () => {
    await serve({
      api: `error_content_type = "application/xml"
unauthorized = "<no who=\\"you\\"/>"
unauthorized_status = 403
not_found = "<gone/>"
not_found_status = 410
invalid = "<bad>é</bad>"
invalid_status = 422`,
      operations,
    });
    const { unauthorized, missing, unknown, invalid, method } = await answers();
    expect([unauthorized.status, unauthorized.text]).toEqual([403, '<no who="you"/>']);
    expect([missing.status, missing.text]).toEqual([410, '<gone/>']);
    expect([unknown.status, unknown.text]).toEqual([410, '<gone/>']);
    expect([invalid.status, invalid.text]).toEqual([422, '<bad>é</bad>']);
    expect([method.status, method.text]).toEqual([405, '<bad>é</bad>']);
    expect(invalid.headers.get('content-type')).toBe('application/xml; charset=utf-8');
  });

  it('have no body if the declared body is empty', async () => {
    await serve({ api: 'unauthorized = ""\nnot_found = ""\ninvalid = ""', operations });
    for (const { text, headers } of Object.values(await answers())) {
      expect([text, headers.get('content-type')]).toEqual(['', null]);
    }
  });

  it('are recorded in the ledger with a reason, which the client does not get', async () => {
    await serve({ operations });
    await answers();
    const reasons = (await api.requests()).map(({ response }) => (response as Row).reason);
    expect(reasons).toEqual([
      expect.stringContaining('token'),
      'no row of notes matches',
      'no route has this path',
      expect.stringContaining('/id'),
      'the body is not JSON',
      'the path does not take PUT',
    ]);
  });
});

describe('rate_limits', () => {
  const limit = (lines: string, headers: string): string =>
    `[[api.rate_limits]]\n${lines}\n[api.rate_limits.headers]\n${headers}\n\n`;
  const minutes = 'limit = 30\nseconds = 60';
  const limits = [
    limit(
      `name = "few"\n${minutes}\npaths = ["/few*"]`,
      'X-Name = "name"\nX-Limit = "limit"\nX-Few = "seconds"',
    ),
    limit(
      'name = "all"\nlimit = 5000\nseconds = 3600\nuncounted = ["/free"]',
      'X-Name = "name"\nX-Limit = "limit"\nX-Used = "used"\nX-Left = "remaining"\nX-Reset = "reset"\nX-After = "reset_after"',
    ),
  ].join('');
  const limitHeaders = ({ headers }: Answer): Row =>
    Object.fromEntries([...headers].filter(([name]) => name.startsWith('x-')));
  const clock = { at: '2026-03-01T09:30:00Z', mode: 'stepped', rate: 600 } as const;
  const hour = Date.parse('2026-03-01T10:00:00Z') / 1_000;

  it('set headers on all answers of their routes; if two limits declare a header, the first one sets it', async () => {
    const paths = ['/few', '/free', '/notes/{id}'];
    const get = paths.map((path) =>
      operation('GET', path, path.includes('{') ? 'single = true\nfilter = { id = "id" }' : ''),
    );
    const handler = operation('POST', '/refuse', 'action = "handler"\nhandler = "refuse"');
    await serve(
      {
        operations: limits + get.join('') + handler,
        files: {
          'api/handlers.py': 'def refuse(ctx):\n    ctx.fail(409, None, {"x-left": "0"})\n',
        },
      },
      { clock },
    );
    const all = { 'x-name': 'all', 'x-limit': '5000' };
    const few = { 'x-name': 'few', 'x-limit': '30', 'x-few': '60' };
    const counted = { 'x-used': '1', 'x-left': '4999' };
    const resets = (after: number) => ({ 'x-reset': `${hour}`, 'x-after': `${after}` });
    expect(limitHeaders(await api.get('/few'))).toEqual({ ...few, ...counted, ...resets(1_200) });
    const missing = await api.get('/notes/7');
    expect([missing.status, limitHeaders(missing)]).toEqual([
      404,
      { ...all, ...counted, ...resets(600) },
    ]);
    expect(limitHeaders(await api.get('/free'))).toEqual({
      ...all,
      'x-used': '0',
      'x-left': '5000',
      'x-reset': `${hour + 3_600}`,
      'x-after': '3600',
    });
    expect(limitHeaders(await api.ask('POST', '/refuse'))).toMatchObject({ ...all, 'x-left': '0' });
    expect(limitHeaders(await api.get('/nowhere'))).toEqual({});
  });
});
