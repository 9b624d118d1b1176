/**
 * Tests a fleet whose inventories are too large for the answer to one query: operations that go through all devices
 * still work.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Row } from '#language/contract.ts';
import { textFile } from '#language/edit/tree-text.ts';
import { type ServedWorld, serveWorld } from '#test/support/host/serve-world.ts';
import { templateTree } from '#test/support/worlds/worlds.ts';

const added = 1_000;
let world: ServedWorld;
let own: number;

const numbered = (model: Row, index: number): Row => ({
  ...model,
  id: 10_001 + index,
  udid: `9C7ED1D3-45A3-4B25-8320-${String(index).padStart(12, '0')}`,
  management_id: `876bb4a4-2e58-477d-8f02-${String(index).padStart(12, '0')}`,
  general: { ...(model.general as Row), name: `fleet-${index}` },
  hardware: { ...(model.hardware as Row), serialNumber: `FLEET${index}` },
});

beforeAll(async () => {
  const path = 'data/computers.json';
  const tree = templateTree('device-management').filter(
    (file) => !file.path.startsWith('scenarios/'),
  );
  const text = new TextDecoder().decode(tree.find((file) => file.path === path)?.content);
  const rows = JSON.parse(text) as Row[];
  own = rows.length;
  const [model = {}] = rows;
  const more = Array.from({ length: added }, (_, index) => numbered(model, index));
  const file = textFile(path, JSON.stringify([...rows, ...more]));
  expect(file.content.length).toBeGreaterThan(4 * 2 ** 20);
  world = await serveWorld([...tree.filter((one) => one.path !== path), file]);
});

afterAll(() => world.stop());

const ask = async (path: string): Promise<Row> => {
  const headers = { authorization: `Bearer ${world.token}`, accept: 'application/json' };
  const response = await fetch(`${world.url}${path}`, { headers });
  const text = await response.text();
  expect(response.status, `${path}: ${text}`).toBe(200);
  return JSON.parse(text) as Row;
};

it('a large fleet is listed page by page to its last computer by both APIs', async () => {
  const page = await ask('/api/v1/computers-inventory?page=11&page-size=100&sort=id:asc');
  expect(page.totalCount).toBe(own + added);
  expect((page.results as Row[]).map(({ id }) => id).at(-1)).toBe(String(10_000 + added));
  const { computers } = await ask('/JSSResource/computers');
  expect(computers).toHaveLength(own + added);
});

it('a large fleet is searched, counted and sorted into groups', async () => {
  const filter = encodeURIComponent('general.name=="fleet-99*"');
  const found = await ask(`/api/v1/computers-inventory?section=GENERAL&filter=${filter}`);
  expect(found.totalCount).toBe(11);
  const { computers } = await ask('/JSSResource/computers/match/fleet-99*');
  expect(computers).toHaveLength(11);
  const { output } = await world.call('tool', 'fleet_summary', {});
  expect((output as Row).computers).toBe(own + added);
  const searched = await world.call('tool', 'search_computers', {
    filter: 'general.name=="fleet-9"',
  });
  expect(searched.output).toMatchObject({ total: 1, computers: [{ id: 10_010 }] });
  const groups = (await ask('/JSSResource/computergroups')).computer_groups as Row[];
  const smart = groups.find(({ is_smart }) => is_smart === true);
  const { computer_group: group } = await ask(
    `/JSSResource/computergroups/id/${String(smart?.id)}`,
  );
  expect((group as Row).computers).toBeInstanceOf(Array);
});
