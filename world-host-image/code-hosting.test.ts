/**
 * The tools of the template `code-hosting` and its task: what an agent sees and does without the HTTP
 * API, and how its work is judged.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Row } from '#language/contract.ts';
import { type ServedWorld, serveWorld } from '#test/support/serve-world.ts';
import { templateTree } from '#test/support/worlds.ts';

const repository = { owner: 'northquay', repo: 'berth' };
const on = (number: number) => ({ ...repository, issue_number: number });

let world: ServedWorld;

/** The output of a tool; throws what the call failed with. */
const tool = async (name: string, input: Row): Promise<unknown> => {
  const { output, error } = await world.call('tool', name, input);
  if (error !== undefined) throw new Error(`${name}: ${JSON.stringify(error)}`);
  return output;
};

/** The names of the checks that do not pass, and whether the grade does. */
const grade = async () => {
  const { output } = await world.call('grade');
  const { passed, checks } = output as {
    passed: boolean;
    checks: { name: string; passed: boolean }[];
  };
  return { passed, failed: checks.filter((check) => !check.passed).map(({ name }) => name) };
};

beforeAll(async () => {
  world = await serveWorld(templateTree('code-hosting'));
});
beforeEach(() => world.reset());
afterAll(() => world?.stop());

describe('tools', () => {
  it('are each bound to what implements them', () => {
    const bindings = world.contract.tools.map(({ name, binding }) => [name, binding.kind]);
    expect(Object.fromEntries(bindings)).toEqual({
      list_repositories: 'convention',
      list_issues: 'convention',
      get_issues: 'convention',
      list_comments: 'convention',
      list_labels: 'convention',
      list_issue_labels: 'convention',
      create_issue: 'operation',
      update_issue: 'operation',
      add_labels: 'operation',
      create_comment: 'operation',
      triage_summary: 'python',
      find_duplicates: 'typescript',
    });
  });

  it('list and get rows by convention', async () => {
    const open = (await tool('list_issues', { ...repository, state: 'open' })) as Row[];
    expect(open).toHaveLength(23);
    expect(await tool('get_issues', { ...repository, number: 139 })).toMatchObject({
      title: 'Arrival reminders go out an hour early since the clocks went back',
      user: 'jonas-eide',
    });
    expect(await tool('list_comments', on(157))).toHaveLength(1);
    expect(await tool('list_labels', repository)).toHaveLength(15);
    expect(await tool('list_issue_labels', on(139))).toHaveLength(2);
    expect(await tool('list_repositories', {})).toHaveLength(3);
  });

  it('open, change, label and comment as the API does', async () => {
    const made = (await tool('create_issue', {
      ...repository,
      title: 'A',
      labels: ['bug'],
    })) as Row;
    expect(made).toMatchObject({ number: 159, user: { login: 'quay-triage' } });
    const { error } = await world.call('tool', 'create_issue', { ...repository, title: '' });
    expect(error).toMatchObject({
      code: 'refused',
      details: { status: 422, body: { message: 'Validation Failed' } },
    });
  });

  it('sum up what waits in a repository', async () => {
    const summary = await tool('triage_summary', repository);
    expect(summary).toMatchObject({
      open: 23,
      closed: 25,
      without_label: [],
      without_comment: [88, 158],
      longest_quiet: { number: 55 },
    });
    const { error } = await world.call('tool', 'triage_summary', { ...repository, repo: 'none' });
    expect(error).toMatchObject({
      code: 'not_found',
      message: 'there is no repository northquay/none',
    });
  });

  it('find the issue that another repeats', async () => {
    const alike = (await tool('find_duplicates', { ...repository, number: 157 })) as Row[];
    expect(alike[0]).toMatchObject({ number: 139, state: 'open' });
    const known = (await tool('find_duplicates', { ...repository, number: 41, limit: 1 })) as Row[];
    expect(known).toMatchObject([{ number: 40, state: 'closed' }]);
    const { error } = await world.call('tool', 'find_duplicates', { ...repository, number: 9_999 });
    expect(error).toMatchObject({ code: 'not_found' });
  });
});

describe('the task close-duplicate', () => {
  const work = async (duplicate = 157, original = 139): Promise<void> => {
    await tool('add_labels', { ...on(duplicate), labels: ['duplicate'] });
    await tool('create_comment', { ...on(duplicate), body: `Duplicate of #${original}` });
    const closing = { state: 'closed', state_reason: 'not_planned' };
    await tool('update_issue', { ...on(duplicate), ...closing });
  };

  it('fails an agent that does nothing', async () => {
    expect(await grade()).toEqual({
      passed: false,
      failed: [
        '#157 is labelled as a duplicate',
        'a comment on #157 names the original, #139',
        '#157 is closed as not planned',
      ],
    });
  });

  it('passes one that does what the instruction says', async () => {
    await work();
    expect(await grade()).toEqual({ passed: true, failed: [] });
  });

  it('passes whatever the order and the words', async () => {
    const closing = { state: 'closed', state_reason: 'not_planned' };
    await tool('update_issue', { ...on(157), ...closing, labels: ['area: emails', 'duplicate'] });
    const page = 'https://code.example/northquay/berth/issues/139';
    await tool('create_comment', {
      ...on(157),
      body: `Thank you, Claire. We follow this in ${page}.`,
    });
    expect(await grade()).toEqual({ passed: true, failed: [] });
  });

  it('fails one that names a look-alike', async () => {
    await work(157, 131);
    expect((await grade()).failed).toEqual(['a comment on #157 names the original, #139']);
  });

  it('fails one that closes the original instead', async () => {
    await work(139, 157);
    expect((await grade()).failed).toContain('the original, #139, is still open');
  });

  it('fails one that closes the look-alike as well', async () => {
    await work();
    await work(158, 139);
    expect((await grade()).failed).toEqual([
      'no other open issue was closed',
      'no other open issue was labelled as a duplicate',
    ]);
  });

  it('fails one that closes it for another reason', async () => {
    await work();
    await tool('update_issue', { ...on(157), state: 'closed', state_reason: 'completed' });
    expect((await grade()).failed).toEqual(['#157 is closed as not planned']);
  });
});
