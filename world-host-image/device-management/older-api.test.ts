/**
 * Tests the older API as its clients use it: XML in requests and answers, refused requests, and the members that groups
 * select.
 */
import { describe, expect, it } from 'vitest';
import { serveDeviceManager } from '#test/support/templates/device-management.ts';

const world = await serveDeviceManager();
const asXml = { accept: 'application/xml' };
const idIn = (text: string): string => /<id>(\d+)<\/id>/.exec(text)?.[1] ?? '';

describe('the older API', { timeout: 60_000 }, () => {
  it('answers in XML, with markup escaped, unless the client accepts JSON', async () => {
    const name = '<department><name>R&amp;D &lt;North&gt;</name></department>';
    const made = await world.ask('POST', '/JSSResource/departments/id/0', name);
    expect([made.status, made.headers.get('content-type')]).toEqual([
      201,
      'application/xml;charset=UTF-8',
    ]);
    const path = `/JSSResource/departments/id/${idIn(made.text)}`;
    expect((await world.ask('GET', path)).text).toContain('<name>R&amp;D &lt;North&gt;</name>');
    const json = await world.ask('GET', path, undefined, { accept: 'application/json' });
    expect(json.json).toEqual({ department: { id: Number(idIn(made.text)), name: 'R&D <North>' } });
    const list = await world.ask('GET', '/JSSResource/departments', undefined, asXml);
    expect(list.text).toContain('<departments><size>10</size><department><id>1</id>');
  });

  it.each([
    ['no XML', '<policy>', 400],
    ['another root', '<script><name>a</name></script>', 409],
    ['a document type', '<!DOCTYPE p><policy/>', 400],
    [
      'an entity',
      '<!DOCTYPE p [<!ENTITY a "b">]><policy><general><name>&a;</name></general></policy>',
      400,
    ],
    ['a name that is taken', '<policy><general><name>install slack</name></general></policy>', 409],
    ['no name', '<policy><general><enabled>true</enabled></general></policy>', 409],
    [
      'a category that does not exist',
      '<policy><general><name>a</name><category><id>99</id></category></general></policy>',
      409,
    ],
    ['a deep tree', `<policy>${'<a>'.repeat(60)}${'</a>'.repeat(60)}</policy>`, 400],
  ])('refuses %s with the vendor’s HTML page, and changes nothing', async (_, body, status) => {
    const before = world.rows('policies', {});
    const {
      headers,
      status: answered,
      text,
    } = await world.ask('POST', '/JSSResource/policies/id/0', body);
    expect([answered, headers.get('content-type')]).toEqual([status, 'text/html; charset=utf-8']);
    expect(text).toContain('<title>Status page</title>');
    expect(world.rows('policies', {})).toEqual(before);
  });

  it('refuses bodies that are neither XML nor JSON', async () => {
    const type = { 'content-type': 'text/csv' };
    const { status, json } = await world.ask('PUT', '/JSSResource/policies/id/1', 'a,b', type);
    expect(status).toBe(415);
    expect(json).toMatchObject({ errors: [{ description: expect.stringContaining('text/csv') }] });
  });

  it('evaluates criteria of groups: `and` before `or`, parentheses, versions, and membership in other groups', async () => {
    const criterion = (
      name: string,
      type: string,
      value: string,
      { andOr = 'and', at = 0, opens = false, closes = false } = {},
    ) =>
      `<criterion><name>${name}</name><priority>${at}</priority><and_or>${andOr}</and_or><search_type>${type}</search_type><value>${value}</value><opening_paren>${opens}</opening_paren><closing_paren>${closes}</closing_paren></criterion>`;
    const count = async (criteria: string): Promise<number> => {
      const body = `<computer_group><name>Tried</name><is_smart>true</is_smart><criteria>${criteria}</criteria></computer_group>`;
      const made = await world.ask('POST', '/JSSResource/computergroups/id/0', body);
      expect(made.status, made.text).toBe(201);
      const path = `/JSSResource/computergroups/id/${idIn(made.text)}`;
      const read = await world.ask('GET', path, undefined, { accept: 'application/json' });
      await world.ask('DELETE', path);
      return (read.json as { computer_group: { computers: unknown[] } }).computer_group.computers
        .length;
    };
    const rows = world.rows('computers', {}) as unknown as {
      site_id: number;
      hardware: { model: string; appleSilicon: boolean };
      operatingSystem: { version: string };
    }[];
    const where = (test: (row: (typeof rows)[number]) => boolean) => rows.filter(test).length;
    const bergen = criterion('Site', 'is', 'Bergen');
    const iMac = (more = {}) => criterion('Model', 'like', 'iMac', { at: 1, ...more });
    const intel = (more = {}) => criterion('Apple Silicon', 'is', 'false', { at: 2, ...more });
    const isBergen = (row: (typeof rows)[number]) => row.site_id === 1;
    const isMac = (row: (typeof rows)[number]) => row.hardware.model.includes('iMac');
    const isIntel = (row: (typeof rows)[number]) => !row.hardware.appleSilicon;
    expect(await count(bergen + iMac() + intel({ andOr: 'or' }))).toBe(
      where((row) => (isBergen(row) && isMac(row)) || isIntel(row)),
    );
    expect(await count(bergen + iMac({ opens: true }) + intel({ andOr: 'or', closes: true }))).toBe(
      where((row) => isBergen(row) && (isMac(row) || isIntel(row))),
    );
    expect(await count(criterion('Operating System Version', 'less than', '14.10'))).toBe(
      where(
        ({ operatingSystem: { version } }) =>
          Number(version.split('.')[0]) < 14 || /^14\.[0-9](\.|$)/.test(version),
      ),
    );
    expect(await count(criterion('Computer Group', 'member of', 'Pilot ring'))).toBe(12);
    const refused = `<computer_group><name>T</name><is_smart>true</is_smart><criteria>${criterion('Model', 'matches regex', '(a+)+$')}</criteria></computer_group>`;
    expect((await world.ask('POST', '/JSSResource/computergroups/id/0', refused)).status).toBe(409);
  });

  it('notifies each enabled webhook of API events, with the webhook’s name in the body', async () => {
    const hook = (name: string, event: string, enabled = true) =>
      `<webhook><name>${name}</name><enabled>${enabled}</enabled><url>https://receiver.example/${name}</url><content_type>application/json</content_type><event>${event}</event></webhook>`;
    for (const body of [
      hook('a', 'RestAPIOperation'),
      hook('b', 'RestAPIOperation'),
      hook('c', 'RestAPIOperation', false),
    ]) {
      expect((await world.ask('POST', '/JSSResource/webhooks/id/0', body)).status).toBe(201);
    }
    await world.ask('POST', '/JSSResource/sites/id/0', '<site><name>Hull</name></site>');
    await world.ask('POST', '/JSSResource/sites/id/0', '<site><name>Hull</name></site>');
    const bodies = (await world.deliveries()).map(({ request }) => JSON.stringify(request));
    const ofSites = bodies.filter((text) => text.includes('Hull'));
    expect(ofSites).toHaveLength(2);
    expect(
      ofSites.map((text) => /"name":"([abc])"/.exec(text.replaceAll('\\"', '"'))?.[1]).sort(),
    ).toEqual(['a', 'b']);
  });

  it('clears references to a building that is deleted', async () => {
    expect((await world.ask('DELETE', '/JSSResource/buildings/id/3')).status).toBe(200);
    expect(world.rows('computers', { building_id: 3 })).toEqual([]);
  });

  it('removes deleted objects from policies', async () => {
    for (const path of [
      'packages/id/1',
      'computergroups/id/1',
      'scripts/id/1',
      'mobiledevices/id/3',
    ]) {
      expect((await world.ask('DELETE', `/JSSResource/${path}`)).status, path).toBe(200);
    }
    const json = { accept: 'application/json' };
    const { json: read } = await world.ask('GET', '/JSSResource/policies/id/2', undefined, json);
    expect(read).toMatchObject({
      policy: { package_configuration: { packages: [] }, scope: { computer_groups: [] } },
    });
    const { json: other } = await world.ask('GET', '/JSSResource/policies/id/7', undefined, json);
    expect(other).toMatchObject({ policy: { scripts: [] } });
  });
});
