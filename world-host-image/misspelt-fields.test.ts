/**
 * Tests that a query for a field that no row can have is refused everywhere, so that a misspelling is never mistaken
 * for an empty result.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ApiClient, notesUpTo, operation, serveApi } from '#test/support/worlds/api-world.ts';

const toolsPy = `
from svc_env import query, ids, Refused

def py_where():
    return query("notes", {"titel": "Note 1"})

def py_order():
    return query("notes", order_by=["-id", "owner.logn"])

def py_next():
    return ids.next("notes", "idd")

def py_caught():
    try:
        query("notes", {"titel": "Note 1"})
    except Refused as refused:
        return [refused.entity, refused.kind, refused.field, refused.detail]
`;

const toolsTs = `
import { query, ids, Refused } from 'svc_env';

export const ts_where = () => query('notes', { where: { titel: 'Note 1' } });
export const ts_order = () => query('notes', { orderBy: ['-id', 'owner.logn'] });
export const ts_next = () => ids.next('notes', 'idd');

export async function ts_caught() {
  try {
    await query('notes', { where: { titel: 'Note 1' } });
  } catch (refused) {
    if (!(refused instanceof Refused)) throw refused;
    return [refused.entity, refused.kind, refused.field, refused.detail];
  }
}
`;

const kinds = ['where', 'order', 'next', 'caught'];
const tool = { input: { type: 'object' }, output: true };

let world: ApiClient;
beforeAll(async () => {
  world = await serveApi({
    operations: operation('GET', '/notes'),
    notes: notesUpTo(2),
    tools: Object.fromEntries(
      ['py', 'ts'].flatMap((language) => kinds.map((kind) => [`${language}_${kind}`, tool])),
    ),
    files: { 'tools.py': toolsPy, 'tools.ts': toolsTs },
  });
});
afterAll(() => world.stop());

const titel = 'there is no field "titel"; did you mean "title"?';

it.each(['py', 'ts'])(
  'a query by a misspelt field is refused in user code (%s)',
  async (language) => {
    const failed = async (kind: string) => (await world.call('tool', `${language}_${kind}`)).error;
    expect(await failed('where')).toMatchObject({
      code: 'refused',
      message: `notes: ${titel}`,
      details: { entity: 'notes', kind: 'shape', field: 'titel' },
    });
    expect((await failed('order'))?.message).toBe(
      'notes: there is no field "owner.logn"; did you mean "login"?',
    );
    expect((await failed('next'))?.message).toContain('there is no field "idd"');
    const caught = await world.call('tool', `${language}_caught`);
    expect(caught.output).toEqual(['notes', 'shape', 'titel', titel]);
  },
);

it('a query by a misspelt field is refused in a `state` call, for rows and for the ledger', async () => {
  const failed = async (entity: string, field: string) =>
    (await world.call('state', undefined, { entity, where: { [field]: 'x' } })).error;
  expect(await failed('notes', 'titel')).toMatchObject({
    code: 'shape',
    message: `notes: ${titel}`,
    path: '/where',
    details: { entity: 'notes', field: 'titel' },
  });
  expect((await failed('svc_requests', 'operatoin'))?.message).toBe(
    'svc_requests: there is no field "operatoin"; did you mean "operation"?',
  );
  expect(await failed('svc_requests', 'request.body.anything')).toBeUndefined();
  expect(await failed('svc_requests', 'rows.0.entity')).toBeUndefined();
});
