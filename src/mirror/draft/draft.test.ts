/** Tests that drafts of very different documents compile, and that they mark what they leave open. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { compileTree } from '#language/compile/compile.ts';
import { draftWorld } from './draft.ts';
import { apiFromOpenApi } from './from-openapi.ts';
import { readOpenApi } from './read-openapi.ts';

const documents = fileURLToPath(
  new URL('../../../test/support/worlds/api-documents/', import.meta.url),
);

const draftOf = async (name: string) => {
  const { document, marks: unread } = await readOpenApi(documents + name, name);
  const { api, marks } = apiFromOpenApi(document);
  const draft = draftWorld(api, [...unread, ...marks]);
  const compiled = compileTree(draft.files);
  if (!compiled.ok) {
    const text = Buffer.from(draft.files[2]?.content ?? []).toString();
    throw new Error(`${JSON.stringify(compiled.problems, null, 1)}\n${text}`);
  }
  return { draft, contract: compiled.contract, rows: compiled.baseRows };
};

const marksOf = (draft: { marks: { place: string; message: string }[] }): string =>
  draft.marks.map(({ place, message }) => `${place}: ${message}`).join('\n');

describe('a draft', () => {
  it('contains entities, routes, pages, samples and example rows for plain resources', async () => {
    const { draft, contract, rows } = await draftOf('helpdesk.yaml');
    expect(draft.entities).toEqual([
      { name: 'tickets', key: ['id'], fields: 6, rows: 3 },
      { name: 'users', key: ['id'], fields: 3, rows: 2 },
    ]);
    expect(rows.tickets?.[1]).toMatchObject({ id: 2, subject: 'Refund', priority: null });
    const { api, vendor } = contract;
    expect(api?.paging).toMatchObject({
      cursorParam: 'cursor',
      cursorKey: 'next_cursor',
      hitsKey: 'total',
    });
    expect(vendor?.capture.cursor).toEqual({ param: 'cursor', from: { field: ['next_cursor'] } });
    expect(vendor?.auth).toMatchObject({ scheme: 'bearer', secretEnv: 'HELP_DESK_SECRET' });
    expect(api?.routes.map(({ operation, action, page }) => [operation, action, page])).toEqual([
      ['list_tickets', 'read', 'cursor'],
      ['create_ticket', 'create', 'none'],
      ['get_ticket', 'read', 'none'],
      ['update_ticket', 'update', 'none'],
      ['delete_ticket', 'delete', 'none'],
      ['list_users', 'read', 'cursor'],
    ]);
    expect(api?.routes[2]?.sample).toEqual({ ticket_id: 2 });
    expect(marksOf(draft)).toContain('operation close_ticket: it needs a handler');
    const connector = draft.files.find(({ path }) => path === 'connector.toml');
    expect(Buffer.from(connector?.content ?? []).toString()).toContain(
      '# - operation close_ticket',
    );
  });

  it('follows deep references, merges composed schemas, and stops at cycles', async () => {
    const { draft, contract } = await draftOf('ledger.yaml');
    expect(draft.entities.map(({ name, key }) => [name, key])).toEqual([
      ['accounts', ['id']],
      ['entries', ['id']],
    ]);
    expect(contract.vendor).toMatchObject({
      baseUrl: 'https://eu.ledger.example/v2',
      auth: { scheme: 'oauth2', clientIdEnv: 'LEDGER_CLIENT_ID' },
    });
    const [accounts, entries] = contract.entities;
    expect(accounts?.schema.properties).toMatchObject({
      kind: { type: 'string' },
      owner: { properties: { name: { type: ['string', 'null'] } } },
      balance: { type: ['object', 'null'], properties: { amount: { type: 'integer' } } },
    });
    expect(entries?.schema.properties).toMatchObject({
      debit: {},
      credit: {},
      account_id: { type: 'string' },
    });
    expect(entries?.relationships).toEqual([{ fields: ['account_id'], target: 'accounts' }]);
    const list = contract.vendor?.operations.find(({ path }) => path.endsWith('/entries'));
    expect(list?.ingest.carryArgs).toEqual([{ field: 'account_id', argument: 'accountId' }]);
    expect(contract.api?.paging).toMatchObject({ offsetParam: 'offset', limitParam: 'pageSize' });
    expect(marksOf(draft)).toContain('its answers also contain took');
  });

  it('leaves out and marks names that cannot be field names', async () => {
    const { draft, contract } = await draftOf('odd.json');
    expect(draft.entities).toEqual([{ name: 'devices', key: ['serial'], fields: 3, rows: 3 }]);
    expect(contract.vendor?.auth).toMatchObject({ scheme: 'header', name: 'X-Auth-Key' });
    expect(contract.vendor?.operations.map(({ name }) => name)).toEqual([
      'get_devices',
      'get_device',
      'get_device_2',
      'get_loops',
      'get_ping',
    ]);
    const marks = marksOf(draft);
    expect(marks).toContain('first-name, @type, payload');
    expect(marks).toContain('"page"');
    expect(marks).toContain('operation get_ping');
    expect(marks).toContain('its key is taken to be "serial"');
  });

  it('is refused for a document of another kind', async () => {
    const here = fileURLToPath(import.meta.url);
    await expect(readOpenApi(here, 'x.ts')).rejects.toThrow('x.ts is not an OpenAPI document');
    expect(readFileSync(here, 'utf8')).toContain('Drafts of documents');
  });
});
