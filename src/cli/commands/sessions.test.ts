/** Tests commands about sessions by whole command lines, against a service whose answers each test sets. */
import { describe, expect, it } from 'vitest';
import { call, runAnswered, session } from '#test/support/cli/service.ts';

describe('svc worlds session', () => {
  it('prints a session for people, or with --json as the API answered it', async () => {
    const text = await runAnswered('worlds session show ses-1', { body: session });
    expect(text.status).toBe(0);
    expect(text.out).toContain('state    READY\nready    after 21 ms');
    expect(text.out).toMatch(/\n\n {2}Do it\.\n$/);
    expect(text.asked[0]?.authorization).toBe(`Basic ${btoa('pk:sk')}`);
    const json = await runAnswered('worlds session show ses-1 --json', { body: session });
    expect(JSON.parse(json.out)).toEqual(session);
  });

  it('opens a session and waits until it is ready', async () => {
    const opening = { ...session, state: 'PROVISIONING', ready: false, readyAt: null };
    const { status, asked, out } = await runAnswered(
      'worlds session open notes -t finish --reuse-warm --surface api --size large --isolation kata',
      { status: 201, body: opening },
      { body: opening },
      { body: session },
    );
    expect(status).toBe(0);
    expect(out).toContain('READY');
    expect(asked.map(({ method, url }) => `${method} ${url.replace(/=[\d.]+$/, '=N')}`)).toEqual([
      'POST /api/public/world-sessions?wait=N',
      'GET /api/public/world-sessions/ses-1?wait=N',
      'GET /api/public/world-sessions/ses-1?wait=N',
    ]);
    expect(asked[0]?.body).toEqual({
      slug: 'notes',
      task: 'finish',
      reuseWarm: true,
      surfaces: ['api'],
      size: 'large',
      isolation: 'kata',
    });
  });

  it('does not wait with --no-wait', async () => {
    const opening = { ...session, state: 'PROVISIONING', ready: false, readyAt: null };
    const { status, asked } = await runAnswered('worlds session open notes --no-wait', {
      status: 201,
      body: opening,
    });
    expect(status).toBe(0);
    expect(asked).toHaveLength(1);
  });

  it('opens a session with a clock and a seed, and shows both', async () => {
    const { out, asked } = await runAnswered(
      'worlds session open notes --clock-at 2026-03-01 --clock-mode stepped --clock-rate 60 --seed 7',
      { status: 201, body: session },
    );
    expect(asked[0]?.body).toEqual({
      slug: 'notes',
      clock: { at: '2026-03-01', mode: 'stepped', rate: 60 },
      seed: 7,
    });
    expect(out).toMatch(/clock +stepped by 60 s from 2026-03-01T00:00:00.000Z\nseed +7\n/);
  });

  it('open fails if the session cannot be started', async () => {
    const error = { code: 'load_failed', message: 'no such file' };
    const failed = { ...session, state: 'FAILED', ready: false, error };
    const { status, err } = await runAnswered('worlds session open notes', {
      status: 201,
      body: failed,
    });
    expect(status).toBe(1);
    expect(err).toBe('error: session ses-1 is FAILED: no such file [load_failed]\n');
  });

  it('explains why no session was opened, and when to try again', async () => {
    const message = 'the quota of opens is used up';
    const body = { error: 'exhausted', message, quota: 'opens_per_minute', retryAfterMs: 12_345 };
    const answer = { status: 429, body };
    const { status, err } = await runAnswered('worlds session open notes', answer);
    expect([status, err]).toEqual([1, `error: ${message}\nhint: try again in 13 s\n`]);
    const json = await runAnswered('worlds session open notes --json', answer);
    expect(JSON.parse(json.err)).toEqual({
      error: { code: 'exhausted', message, hint: 'try again in 13 s' },
    });
  });

  it("prints only a tool's output on standard output, and everything else on standard error", async () => {
    const { status, out, err, asked } = await runAnswered('worlds session call ses-1 list_notes', {
      body: call,
    });
    expect(status).toBe(0);
    expect(JSON.parse(out)).toEqual([{ id: 1 }]);
    expect(err).toBe('no rows changed · 12 ms\n');
    expect(asked[0]?.body).toEqual({ kind: 'tool', name: 'list_notes', input: {} });
  });

  it('waits for a call that takes longer than one request', async () => {
    const queued = { ...call, state: 'queued', output: null, answeredAt: null };
    const { out, asked } = await runAnswered(
      'worlds session call ses-1 list_notes',
      { status: 202, body: queued },
      { body: { ...queued, state: 'claimed' } },
      { body: call },
    );
    expect(JSON.parse(out)).toEqual([{ id: 1 }]);
    expect(asked.map(({ method }) => method)).toEqual(['POST', 'GET', 'GET']);
  });

  it('shows why a tool failed, with its trace', async () => {
    const error = {
      code: 'raised',
      message: 'KeyError: 7',
      details: { trace: 'tools.py:12 in list_notes' },
    };
    const { status, err } = await runAnswered('worlds session call ses-1 list_notes', {
      body: { ...call, state: 'failed', error },
    });
    expect(status).toBe(1);
    expect(err).toBe('error: list_notes failed: KeyError: 7 [raised]\ntools.py:12 in list_notes\n');
  });

  it("lists every place of an input that does not match a tool's schema", async () => {
    const problems = [
      { path: '/a', message: 'must be string, is number 5' },
      { path: '/b', message: 'is missing' },
    ];
    const message = "the input does not fit the tool's schema: /a must be string (and 1 more)";
    const error = { code: 'invalid_input', message, path: '/a', details: { problems } };
    const { err } = await runAnswered('worlds session call ses-1 list_notes', {
      body: { ...call, state: 'failed', error },
    });
    expect(err).toBe(
      `error: list_notes failed: ${message} [invalid_input]\n  /a must be string, is number 5\n  /b is missing\n`,
    );
  });

  const request = {
    sessionId: 'ses-1',
    id: 7,
    at: '2026-01-01T10:11:12.345Z',
    via: 'api',
    operation: 'get_note',
    method: 'GET',
    path: '/notes/1',
    status: 200,
    request: null,
    response: null,
    durationMs: 1.25,
    changes: {},
    rows: [],
    callId: null,
  };

  it('shows the requests of an open session, read from its host', async () => {
    const { sessionId: _, durationMs, callId, ...plain } = request;
    const row = { ...plain, duration_ms: durationMs, call_id: callId };
    const words = 'worlds session requests ses-1 --via api --status 200';
    const { out, asked } = await runAnswered(
      words,
      { body: session },
      { body: { ...call, kind: 'state', output: { rows: [row], total: 2 } } },
    );
    expect(asked[1]?.body).toMatchObject({
      kind: 'state',
      input: { entity: 'svc_requests', limit: 1_000, where: { via: 'api', status: 200 } },
    });
    expect(out).toMatch(/10:11:12.345 +api +get_note +GET \/notes\/1 +200 +1.3 ms +-\n1 of 2/);
    const json = await runAnswered(
      `${words} --json`,
      { body: session },
      { body: { ...call, kind: 'state', output: { rows: [row], total: 1 } } },
    );
    expect(JSON.parse(json.out)).toEqual({ data: [request], totalItems: 1 });
  });

  it('shows the requests of a session that has ended, page after page', async () => {
    const page = (number: number) => ({
      body: {
        data: [{ ...request, id: number }],
        meta: { page: number, limit: 100, totalItems: 2, totalPages: 2, dropped: 7 },
      },
    });
    const over = { body: { ...session, state: 'CLOSED' } };
    const { out, asked } = await runAnswered(
      'worlds session requests ses-1 --operation get_note --json',
      over,
      page(1),
      page(2),
    );
    const shown = JSON.parse(out);
    expect(shown.data.map(({ id }: { id: number }) => id)).toEqual([1, 2]);
    expect(shown.dropped).toBe(7);
    expect(asked[2]?.url).toBe(
      '/api/public/world-sessions/ses-1/requests?operation=get_note&page=2&limit=100',
    );
  });

  it('falls back on the stored requests when a session ends during the query', async () => {
    const { out, err, status } = await runAnswered(
      'worlds session requests ses-1',
      { body: session },
      { status: 409, body: { message: 'ses-1 is CLOSED', error: 'conflict' } },
      { body: { data: [], meta: { page: 1, limit: 100, totalItems: 0, totalPages: 0 } } },
    );
    expect([status, out]).toEqual([0, 'no requests\n']);
    expect(err).toContain('ses-1 ended meanwhile; these are the requests that were stored');
  });

  it('fails if the host of the session is lost during the query', async () => {
    const { out, err, resultStatus } = await runAnswered(
      'worlds session requests ses-1 --status 0',
      { body: session },
      { body: { ...call, kind: 'state', state: 'lost', output: null } },
      { body: { data: [], meta: { page: 1, limit: 100, totalItems: 0, totalPages: 0 } } },
    );
    expect([resultStatus, out]).toEqual([1, 'no requests\n']);
    expect(err).toContain('ses-1 ended meanwhile; these are the requests that were stored');
  });

  it('finds requests without a status', async () => {
    const { asked } = await runAnswered(
      'worlds session requests ses-1 --status 0',
      { body: session },
      { body: { ...call, kind: 'state', output: { rows: [], total: 0 } } },
    );
    expect(asked[1]?.body).toMatchObject({ input: { where: { status: [0, null] } } });
  });

  it('reads as many pages from a host as large requests need, up to the limit', async () => {
    const { sessionId: _, durationMs, callId, ...plain } = request;
    const page = (ids: number[], next?: number) => {
      const rows = ids.map((id) => ({ ...plain, id, duration_ms: durationMs, call_id: callId }));
      return { body: { ...call, kind: 'state', output: { rows, total: 9, next } } };
    };
    const { out, asked } = await runAnswered(
      'worlds session requests ses-1 --limit 5 --json',
      { body: session },
      page([1, 2], 2),
      page([3], 3),
      page([4, 5], 5),
    );
    expect(JSON.parse(out).data.map(({ id }: { id: number }) => id)).toEqual([1, 2, 3, 4, 5]);
    expect(asked.slice(1).map(({ body }) => (body as { input: object }).input)).toMatchObject([
      { limit: 5, offset: 0 },
      { limit: 3, offset: 2 },
      { limit: 2, offset: 3 },
    ]);
  });

  it('shows the requests to all sessions of a world', async () => {
    const meta = { page: 1, limit: 2, totalItems: 3, totalPages: 2 };
    const { out, asked } = await runAnswered(
      'worlds requests notes --via api --after 2026-01-01 --limit 2',
      { body: { data: [request], meta } },
    );
    expect(asked[0]?.url).toBe(
      '/api/public/worlds/notes/requests?page=1&limit=2&after=2026-01-01&via=api',
    );
    expect(out).toMatch(/AT +SESSION +VIA .*\n2026-01-01 10:11:12 +ses-1 +api +get_note/);
    expect(out).toContain('page 1 of 2, 3 in all');
  });

  const grade = {
    ...call,
    kind: 'grade',
    name: null,
    output: {
      verdict: 'fail',
      passed: false,
      checks: [
        { name: 'kept', verdict: 'pass', passed: true, expected: 1, found: 1, detail: null },
        {
          name: 'done',
          verdict: 'fail',
          passed: false,
          expected: 'one row',
          found: 'none',
          detail: 'nearest: 3',
        },
      ],
    },
  };

  it('exits with status 0 for a grade of fail, unless an option says otherwise', async () => {
    const plain = await runAnswered('worlds session grade ses-1', { body: grade });
    expect(plain).toMatchObject({ status: 0, resultStatus: 0 });
    expect(plain.out).toBe(
      '✓ kept\n✗ done\n    expected one row\n    found    none\n    nearest: 3\nfailed: 1 of 2 checks\n',
    );
    const strict = await runAnswered('worlds session grade ses-1 --exit-code', { body: grade });
    expect(strict).toMatchObject({ status: 0, resultStatus: 1 });
  });

  it('distinguishes a session that cannot be graded from a grade of fail', async () => {
    const error = { code: 'raised', message: 'KeyError' };
    const output = { verdict: 'unknown', passed: false, score: null, checks: [], error };
    const body = { ...grade, output };
    const { out, resultStatus } = await runAnswered('worlds session grade ses-1 --exit-code', {
      body,
    });
    expect(out).toBe('unknown: the grader failed: KeyError [raised]\n');
    expect(resultStatus).toBe(2);
  });

  const changed = {
    entity: 'notes',
    key: { id: 7 },
    change: 'updated',
    fields: { title: { before: 'a', after: 'b' } },
  };
  const counts = { inserted: 1, updated: 2, deleted: 0, unexplained: 12 };
  const answer = {
    ...grade,
    output: {
      ...grade.output,
      changes: { ...counts, rows: [{ ...changed, explainedBy: ['done', 'kept'] }], next: 6 },
      unexplained: [changed],
    },
  };

  it('shows changed rows that no check requires', async () => {
    const { out } = await runAnswered('worlds session grade ses-1', { body: answer });
    expect(out).toContain('changed without being required by a check: 12 rows\n');
    expect(out).toContain('  notes {"id":7} updated\n    title: "a" → "b"\n  and 11 more;');
  });

  it('shows a page of all changed rows, each with the checks that explain it', async () => {
    const line = 'worlds session grade ses-1 --changes --offset 5 --limit 1';
    const { out, asked } = await runAnswered(line, { body: answer });
    expect(asked[0]?.body).toMatchObject({ input: { changes: { offset: 5, limit: 1 } } });
    expect(out).toBe(
      '  notes {"id":7} updated · done, kept\n    title: "a" → "b"\n' +
        '1 inserted, 2 updated, 0 deleted, 12 unexplained; continue with --offset 6\n',
    );
    expect(
      (await runAnswered('worlds session grade ses-1 --limit 1', { body: answer })).status,
    ).toBe(1);
  });
});
