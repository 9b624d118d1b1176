/**
 * The other two templates besides `code-hosting`: a thousand issues of `issue-tracking`, a thousand computers of
 * `device-management`, and for each the same five kinds of request. They have no peer: no other product serves these
 * APIs.
 */
import type { Row } from '../../src/language/contract.ts';
import { templateTree } from '../../test/support/worlds/worlds.ts';
import type { LoadRequest } from './host-load.ts';
import { startHostOf } from './host-ours.ts';
import { type BuiltVersion, buildVersion, file } from './host-world.ts';
import { requestCount, type WorldOperation } from './world-requests.ts';
import { topicOf } from './world-rows.ts';

const count = 1_000;

/** A template; `name` is part of the names of its figures: `world.issues.get`. */
export type Template = {
  name: string;
  slug: string;
  build(): BuiltVersion;
  requestsOf(token: string): Record<WorldOperation, LoadRequest[]>;
};

/** Builds the template with a thousand rows of an entity in place of its own, and without its tasks. */
const withRows = (slug: string, entity: string, make: (given: Row[]) => Row[]): BuiltVersion => {
  const path = `data/${entity}.json`;
  const tree = templateTree(slug).filter((one) => !one.path.startsWith('scenarios/'));
  const own = tree.find((one) => one.path === path);
  const given = JSON.parse(new TextDecoder().decode(own?.content)) as Row[];
  return buildVersion([
    ...tree.filter((one) => one !== own),
    file(path, JSON.stringify([...given, ...make(given)])),
  ]);
};

const cycle = (make: (index: number) => LoadRequest): LoadRequest[] =>
  Array.from({ length: requestCount }, (_, index) => make(index));

/** Returns the number of a row, in a pseudo-random order. */
const numberAt = (index: number): number => ((index * 617 + 131) % count) + 1;

const firstIssue = 1_001;

const issues: Template = {
  name: 'issues',
  slug: 'issue-tracking',
  build: () =>
    withRows('issue-tracking', 'issues', (given) => {
      const model = given.find(({ key }) => key === 'BERTH-101') as Row;
      return Array.from({ length: count }, (_, index) => ({
        ...model,
        id: 50_000 + index,
        key: `BERTH-${firstIssue + index}`,
        number: firstIssue + index,
        summary: `The ${topicOf(index)} at pier ${index % 47} is shown twice`,
      }));
    }),
  requestsOf(token) {
    const headers = { Authorization: `Bearer ${token}` };
    const get = (path: string): LoadRequest => ({ method: 'GET', path, headers });
    const page = (index: number, size: number) =>
      get(
        `/rest/api/3/search?jql=project+%3D+BERTH&maxResults=${size}` +
          `&startAt=${(index % Math.floor(count / size)) * size}`,
      );
    const keyAt = (index: number) => `BERTH-${firstIssue - 1 + numberAt(index)}`;
    return {
      get: cycle((index) => get(`/rest/api/3/issue/${keyAt(index)}`)),
      list30: cycle((index) => page(index, 30)),
      list100: cycle((index) => page(index, 100)),
      search: cycle((index) =>
        get(`/rest/api/3/search?jql=project+%3D+BERTH+AND+summary+~+${topicOf(index)}`),
      ),
      create: cycle((index) => ({
        method: 'POST',
        path: `/rest/api/2/issue/${keyAt(index)}/comment`,
        headers: { ...headers, 'Content-Type': 'application/json' },
        body: JSON.stringify({ body: `Seen again at pier ${index % 47}, on the plan.` }),
      })),
    };
  },
};

const tailOf = (index: number): string => String(index).padStart(12, '0');
const managementOf = (index: number): string => `876bb4a4-2e58-477d-8f02-${tailOf(index)}`;

const devices: Template = {
  name: 'devices',
  slug: 'device-management',
  build: () =>
    withRows('device-management', 'computers', (given) => {
      const [model] = given as [Row];
      return Array.from({ length: count }, (_, index) => ({
        ...model,
        id: 10_001 + index,
        udid: `9C7ED1D3-45A3-4B25-8320-${tailOf(index)}`,
        management_id: managementOf(index),
        general: { ...(model.general as Row), name: `${topicOf(index)}-${index}` },
        hardware: { ...(model.hardware as Row), serialNumber: `BENCH${index}` },
      }));
    }),
  requestsOf(token) {
    const headers = { Authorization: `Bearer ${token}` };
    const get = (path: string): LoadRequest => ({ method: 'GET', path, headers });
    const list = '/api/v1/computers-inventory?section=GENERAL&section=HARDWARE';
    const page = (index: number, size: number) =>
      get(`${list}&page=${index % Math.floor(count / size)}&page-size=${size}`);
    return {
      get: cycle((index) => get(`/api/v1/computers-inventory-detail/${10_000 + numberAt(index)}`)),
      list30: cycle((index) => page(index, 30)),
      list100: cycle((index) => page(index, 100)),
      search: cycle((index) =>
        get(`${list}&filter=${encodeURIComponent(`general.name=="${topicOf(index)}*"`)}`),
      ),
      create: cycle((index) => ({
        method: 'POST',
        path: '/api/v2/mdm/commands',
        headers: { ...headers, 'Content-Type': 'application/json' },
        body: JSON.stringify({
          clientData: [{ managementId: managementOf(numberAt(index) - 1) }],
          commandData: { commandType: 'DEVICE_LOCK', pin: '482913' },
        }),
      })),
    };
  },
};

export const templates: readonly Template[] = [issues, devices];

/** Starts a host that serves a template, and checks that each request is answered as intended. */
export const startTemplate = async ({ slug, build, requestsOf }: Template) => {
  const host = await startHostOf(slug, build());
  const requests = requestsOf(host.token);
  for (const [operation, [first]] of Object.entries(requests)) {
    const { path, ...init } = first as LoadRequest;
    const answer = await fetch(host.url + path, init as RequestInit);
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${slug} answers ${operation} with ${answer.status}: ${text}`);
  }
  return { ...host, name: slug, requests };
};
