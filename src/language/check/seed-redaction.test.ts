import { describe, expect, it } from 'vitest';
import { redactedWorld } from '#test/support/worlds/redacted-world.ts';
import { textFile } from '#test/support/worlds/small-world.ts';
import { compileTree, replaceFiles } from '../compile/compile.ts';
import type { Row } from '../contract.ts';

const seedFile = 'scenarios/meet/seed/people.json';
const scenarioFile = 'scenarios/meet/scenario.toml';

const treeOf = (
  rows: readonly unknown[],
  scenario: string,
  world: Parameters<typeof redactedWorld>[0] = {},
) => [
  ...redactedWorld(world),
  textFile(seedFile, JSON.stringify(rows)),
  textFile(scenarioFile, scenario),
];

const compiled = (...given: Parameters<typeof treeOf>) => {
  const result = compileTree(treeOf(...given));
  if (!result.ok) throw new Error(JSON.stringify(result.problems, null, 2));
  return result;
};
const problems = (...given: Parameters<typeof treeOf>) => {
  const result = compileTree(treeOf(...given));
  return result.ok ? [] : result.problems;
};

const clear: Row[] = [{ id: 1, name: 'Ada', email: 'ada@mail.example', ssn: '12', lat: 59.123 }];
const kept = {
  id: 1,
  name: expect.stringMatching(/^[A-Z][a-z]{2}$/),
  email: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
  lat: 59.1,
};

describe('redact of a scenario', () => {
  it('is off by default, and rows stay as they were written', () => {
    const { contract, rewritten } = compiled(clear, '[seed]\n');
    expect(contract.tasks[0]?.seed).toEqual({ mode: 'append', rows: { people: clear } });
    expect(rewritten).toEqual([]);
  });

  it.each([
    '[seed]\nredact = "apply"  # of people\n',
    "description = 'redact = \"apply\"'\n[seed]\nmode = 'append'\nredact='apply'\n",
    'seed = { redact = "apply" }\n',
    'seed.redact = "apply"\n',
  ])('with "apply", redacts the rows, and the files that are to be stored: %j', (scenario) => {
    const { contract, rewritten, generated } = compiled(clear, scenario);
    const rows = contract.tasks[0]?.seed.rows.people;
    expect(rows).toEqual([kept]);
    expect(rewritten.map(({ path }) => path)).toEqual([seedFile, scenarioFile]);
    const texts = rewritten.map(({ content }) => new TextDecoder().decode(content));
    expect(JSON.parse(texts[0] ?? '')).toEqual(rows);
    expect(texts[1]).toBe(scenario.replace(/(.*)apply/s, '$1refuse'));
    // The stored tree compiles to the same contract and rewrites no further files.
    const again = compileTree(replaceFiles(treeOf(clear, scenario), rewritten));
    expect(again).toMatchObject({ ok: true, contract: { tasks: contract.tasks }, rewritten: [] });
    expect(again.ok && again.generated).toEqual(generated);
  });

  it('with "refuse", reports entity, row, field and policy of plaintext without quoting it', () => {
    expect(problems(clear, '[seed]\nredact = "refuse"\n')).toMatchObject([
      { file: seedFile, pointer: '/0/email', code: 'bad_row' },
    ]);
    const [problem] = problems([{ id: 1, email: 'ada@mail.example' }], 'seed.redact = "refuse"\n');
    expect(problem?.message).toBe(
      'people, row 0: email [hash] is plaintext, but the policy requires its digest, sha256:<64 hex>; import with "redact": "apply", or store the redacted form',
    );
    const { contract } = compiled([{ id: 1, name: 'Xyz', lat: 1.5 }], 'seed.redact = "refuse"\n');
    expect(contract.tasks[0]?.seed.rows.people).toEqual([{ id: 1, name: 'Xyz', lat: 1.5 }]);
  });

  it('reports problems of redacted rows without quoting them', () => {
    const secret = 'Canary';
    const rows = [{ id: secret }, { id: 2, [secret]: 1 }, secret, { id: 3, lat: secret }];
    const found = problems(rows, 'seed.redact = "apply"\n');
    expect(found.map(({ pointer }) => pointer)).toEqual(['/0/id', '/1', '/2', '/3/lat']);
    expect(JSON.stringify(found)).not.toContain(secret);
  });

  it('is refused if there is no connector, and if its value is no mode', () => {
    for (const mode of ['apply', 'refuse']) {
      expect(problems(clear, `seed.redact = "${mode}"\n`, { withConnector: false })).toMatchObject([
        {
          file: scenarioFile,
          pointer: '/seed/redact',
          message: expect.stringMatching(/no connector\.toml/),
        },
      ]);
    }
    expect(problems(clear, 'seed.redact = """apply"""\n')).toMatchObject([
      { pointer: '/seed/redact', hint: 'write the key as: redact = "apply"' },
    ]);
    expect(problems(clear, 'seed.redact = "on"\n')).toHaveLength(1);
  });
});
