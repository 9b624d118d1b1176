/** Tests `svc worlds data query` and `svc worlds data show` against a control plane. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createWorld } from '#wire/public-api/operations.ts';
import { createDesk, type Desk } from '../../support/cli/commands-on-control.ts';
import type { TestControl } from '../../support/control/control.ts';
import { shareControl } from '../../support/control/shared-control.ts';
import { peopleBody } from '../../support/worlds/people-world.ts';

let control: TestControl;
let desk: Desk;

beforeAll(async () => {
  control = await shareControl();
  desk = createDesk(control);
  const others = [{ id: 7, email: 'ann@example.test', plan: 'free' }];
  const links = `\
[dependencies.billing]
pin = "billing@1"
[dependencies.billing.entities]
"people.email" = "people.email"
"people.plan" = "people.plan"
`;
  const people = [
    { id: 1, email: 'ann@example.test', plan: 'pro' },
    { id: 2, email: 'bob@example.test', plan: 'free', address: { city: 'Bergen' } },
    { id: 3, email: 'cat@example.test', plan: null },
  ];
  await control.send(createWorld, { body: peopleBody({ slug: 'billing', rows: others }) });
  await control.send(createWorld, { body: peopleBody({ slug: 'crm', rows: people, links }) });
});

afterAll(async () => {
  desk.clear();
});

/** Runs a command and returns its output; fails the test if the command fails. */
const svc = async (words: string): Promise<string> => {
  const { status, out, err } = await desk.svc(words);
  expect(status, err).toBe(0);
  return out;
};

describe('svc worlds data show', () => {
  it('prints the row counts, or the rows of an entity', async () => {
    expect(await svc('worlds data show crm')).toBe(
      'ENTITY  ROWS\npeople  3\n3 rows in version 1 of crm\n',
    );
    expect(await svc('worlds data show crm people --limit 2')).toBe(
      `\
id  email             plan  address
1   ann@example.test  pro
2   bob@example.test  free  {"city":"Bergen"}
rows 1 to 2 of 3; --offset 2 shows the next page
`,
    );
  });
});

describe('svc worlds data query', () => {
  it('finds rows by values given as JSON or as plain text', async () => {
    const ids = async (words: string): Promise<unknown[]> => {
      const out = await svc(`worlds data query crm people ${words} --json`);
      return JSON.parse(out).data.map(({ id }: { id: number }) => id);
    };
    expect(await ids('--where id=2')).toEqual([2]);
    expect(await ids('--where id=[1,3]')).toEqual([1, 3]);
    expect(await ids('--where plan=pro --where plan=null')).toEqual([1, 3]);
    expect(await ids('--where address.city=Bergen --where plan=free')).toEqual([2]);
    expect(await svc('worlds data query crm@1 people --where plan=gold')).toBe('no rows match\n');
  });

  it('prints the rows of linked worlds and how they compare', async () => {
    const words = 'worlds data query crm people --where email=ann@example.test --across --compare';
    expect(await svc(words)).toBe(`\
people of crm@1
id  email             plan
1   ann@example.test  pro
row 1 of 1

people of billing@1 (linked as billing)
id  email             plan
7   ann@example.test  free
row 1 of 1

people here and people of billing@1, by email: 1 in both, 0 only here, 0 only there
  email: 1 equal, 0 differing, 0 only here, 0 only there
  plan: 0 equal, 1 differing, 0 only here, 0 only there
    "ann@example.test": "pro" here, "free" there
`);
  });

  it('reports the error of an invalid query', async () => {
    const { status, err } = await desk.svc('worlds data query crm people --where mail=1');
    expect([status, err]).toEqual([1, expect.stringContaining('did you mean "email"?')]);
    expect((await desk.svc('worlds data query crm people --where mail')).err).toContain(
      'The filter does not have the form <field>=<value>.',
    );
  });
});
