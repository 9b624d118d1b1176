import { describe, expect, it } from 'vitest';
import { smallWorld, toTree } from '#test/support/worlds/small-world.ts';
import { leadOf, summarizeTemplate } from './template-summary.ts';

describe('summarizeTemplate', () => {
  it('lists the parts of the template', () => {
    const world = smallWorld();
    world.text['README.md'] = '# Board\n\nCards on\nlists.\n\nMore.\n';
    const result = summarizeTemplate('board', toTree(world));
    expect(result).toMatchObject({
      ok: true,
      summary: {
        slug: 'board',
        name: 'Board',
        description: 'Cards on lists.',
        entities: expect.arrayContaining(['lists', 'cards']),
        tools: expect.arrayContaining(['summarize', 'get_card']),
        routes: expect.arrayContaining(['GET /cards/{card_id}', 'PATCH /cards/{card_id}']),
        tasks: expect.arrayContaining(['finish']),
      },
    });
    if (!result.ok) return;
    const { entities, tools, routes, tasks, counts } = result.summary;
    expect(counts).toEqual({
      entities: entities.length,
      tools: tools.length,
      routes: routes.length,
      tasks: tasks.length,
      rows: expect.any(Number),
    });
    expect(counts.rows).toBeGreaterThan(3);
  });

  it('returns the problems of a tree that is no world', () => {
    const result = summarizeTemplate('empty', []);
    expect(result).toMatchObject({ ok: false, problems: [{ code: 'missing_file' }, {}] });
  });
});

describe('leadOf', () => {
  it('returns the first paragraph that is no heading', () => {
    expect(leadOf('# A\n\n## B\n\n  one\ntwo  \n\nthree')).toBe('one two');
    expect(leadOf('# A')).toBe('');
  });
});
