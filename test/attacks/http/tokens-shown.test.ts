/**
 * Tokens and keys of the service that a client sends in the wrong place. A later reader of the call
 * log, the ledger, an error or the control plane's log finds none of them.
 */
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hideCredentials } from '#domain/credentials.ts';
import { newSecret } from '#domain/id.ts';
import { basicAuthorization } from '#wire/client.ts';
import { enqueueCall, getSession, openSession } from '#wire/public-api/operations.ts';
import { type PlayedHost, warmHost } from '../../support/control/host.ts';
import { type OwnControl, startNotesControl } from '../../support/control/own-control.ts';

let control: OwnControl;
let host: PlayedHost;
let sessionId: string;
/** Secrets that must never be shown, in any spelling. */
let secrets: string[];
const lines: string[] = [];

const spell = (text: string): string =>
  [...text].map((one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`).join('');

beforeAll(async () => {
  const log = pino({}, { write: (line) => lines.push(hideCredentials(line)) });
  control = await startNotesControl({ log });
  host = await warmHost(control);
  const { body } = await control.send(openSession, { body: { slug: 'notes' } });
  sessionId = body.id;
  await host.poll();
  await host.ready();
  const token = host.assignment?.sessionToken ?? '';
  expect(token).toMatch(/^st-/);
  secrets = [token, host.token, newSecret('sk')];
});
afterAll(() => control.stop());

const keys = () => [
  `Bearer ${control.publicKey}`,
  basicAuthorization(control.publicKey, control.secretKey),
];

/** Returns the answers at a path for each key. */
const shownAt = async (path: string): Promise<string[]> => {
  const answers = keys().map((authorization) =>
    control.running.app.inject({ url: `/api/public${path}`, headers: { authorization } }),
  );
  return (await Promise.all(answers)).map(({ payload }) => payload);
};

const expectHidden = (texts: readonly string[]): void => {
  for (const text of texts) {
    expect(text).toContain('***');
    for (const secret of secrets) {
      expect(text).not.toContain(secret);
      expect(text).not.toContain(spell(secret));
      expect(text).not.toContain(basicAuthorization('agent', secret));
    }
  }
};

describe('a token that is sent in a call', () => {
  it('appears in no answer, reaches the host, and is masked in the output of the host', async () => {
    const input = {
      authorization: secrets,
      path: secrets.map((one) => `/x?token=${spell(one)}`),
      lines: secrets.map((one) => `first\n${one}\n\t${JSON.stringify({ text: `\n${one}` })}`),
      pairs: secrets.map((one) => basicAuthorization('agent', one)),
    };
    const params = { sessionId };
    const { body: call } = await control.send(enqueueCall, {
      params,
      headers: { 'idempotency-key': secrets[0] ?? '' },
      body: { kind: 'tool', name: 'list_notes', input },
    });
    expectHidden([JSON.stringify(call)]);
    expect((await host.calls()).call?.input).toEqual(input);
    await host.answer(call.id, { output: { echo: input } });
    const path = `/world-sessions/${sessionId}/calls`;
    expectHidden(await shownAt(`${path}/${call.id}`));
    expectHidden(await shownAt(`${path}?fields=input,output`));
    const { body: failing } = await control.send(enqueueCall, {
      params,
      body: { kind: 'tool', name: 'list_notes' },
    });
    await host.calls();
    const message = `no ${secrets.join(' ')}\n${secrets.join('\n')}`;
    await host.answer(failing.id, { error: { code: 'raised', message, details: input } });
    expectHidden(await shownAt(`${path}/${failing.id}`));
    expectHidden([(await shownAt(`${path}?fields=details`))[0] ?? '']);
  });

  it('is quoted in no error', async () => {
    for (const secret of secrets) {
      const name = { params: { sessionId }, body: { kind: 'tool' as const, name: secret } };
      const refused = control.send(enqueueCall, name).catch((error: unknown) => error);
      expect(JSON.stringify(await refused)).not.toContain(secret);
      const headers = { authorization: keys()[0] ?? '' };
      const path = `/api/public/${spell(secret)}`;
      const missing = await control.raw({ method: 'GET', path, headers });
      expectHidden([JSON.stringify(missing.body)]);
    }
  });
});

describe('a text without a token', () => {
  it('is returned unchanged, even if it looks like a token', async () => {
    const output = {
      share: '100 %',
      file: '/best-practices-for-writing-maintainable-javascript-applications-2024',
      name: 'default-backend-service-account-for-production-cluster-eu-west-1',
    };
    const params = { sessionId };
    const body = { kind: 'tool' as const, name: 'list_notes', input: output };
    const { body: call } = await control.send(enqueueCall, { params, body });
    expect(call.input).toEqual(output);
    await host.calls();
    await host.answer(call.id, { output });
    const shown = await shownAt(`/world-sessions/${sessionId}/calls/${call.id}`);
    for (const text of shown) expect(JSON.parse(text)).toMatchObject({ input: output, output });
  });
});

describe('a token in the ledger of a host that masks nothing', () => {
  it('is masked in every answer', async () => {
    await host.requests([
      {
        ...{ id: 1, at: '2026-01-01T00:00:00.000Z', via: 'api', operation: 'x', method: 'GET' },
        ...{ path: `/notes?token=${secrets[0]}&other=${spell(secrets[1] ?? '')}`, status: 200 },
        ...{ request: { headers: { 'x-own': secrets } }, response: { body: secrets } },
        ...{ duration_ms: 1, changes: {}, rows: [], call_id: null },
      },
    ]);
    expectHidden(await shownAt(`/world-sessions/${sessionId}/requests`));
    expectHidden(await shownAt('/worlds/notes/requests'));
  });
});

describe('the token of a session', () => {
  it('is masked in every answer, except to the secret key in the session itself', async () => {
    const params = { sessionId };
    const { surfaces } = (await control.read(getSession, { params })).body;
    expect(JSON.stringify(surfaces)).not.toContain(secrets[0]);
    const listed = (await shownAt('/world-sessions'))[0] ?? '';
    expect(listed).not.toContain(secrets[0]);
    for (const line of lines) for (const secret of secrets) expect(line).not.toContain(secret);
  });
});
