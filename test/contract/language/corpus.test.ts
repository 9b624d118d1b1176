/**
 * Checks the compiler against the corpus: accepted worlds, refused worlds, and the messages. After
 * a change of a message, `npx vitest run test/contract/language/corpus.test.ts -u` rewrites the golden files: review
 * the difference.
 */
import { describe, expect, it } from 'vitest';
import { problemCodes } from '#language/read/codes.ts';
import { corpus } from './all.ts';
import { otherwise } from './otherwise.ts';
import { problemsAfter, tellChapter } from './outcome.ts';

const rules = Object.values(corpus).flatMap((chapter) => chapter.rules);

describe.each(Object.entries(corpus))('corpus: %s', (name, chapter) => {
  it.each(chapter.rules.flatMap(({ accepts }) => accepts))('accepts %s', (_what, change) => {
    expect(problemsAfter(change, chapter).problems).toEqual([]);
  });

  it.each(chapter.rules.flatMap(({ refuses }) => refuses))(
    'refuses %s with exactly one problem',
    (_what, code, change) => {
      expect(problemsAfter(change, chapter).problems.map((problem) => problem.code)).toEqual([
        code,
      ]);
    },
  );

  it('produces the messages of the golden file', async () => {
    await expect(tellChapter(chapter)).toMatchFileSnapshot(`${name}.golden.txt`);
  });
});

describe('the corpus', () => {
  it('has accepted and refused trees for each rule', () => {
    const poor = rules.filter(({ accepts, refuses }) => !accepts.length || !refuses.length);
    expect(poor.map(({ rule }) => rule)).toEqual([]);
  });

  it('gives each case of a chapter its own name', () => {
    for (const chapter of Object.values(corpus)) {
      const names = chapter.rules.flatMap(({ refuses }) => refuses.map(([what]) => what));
      expect(names).toEqual([...new Set(names)]);
    }
  });

  it('has a case for every problem code', () => {
    const shown = new Set<string>(rules.flatMap(({ refuses }) => refuses.map(([, code]) => code)));
    const missing = problemCodes.filter((code) => !shown.has(code) && !otherwise.has(code));
    expect(missing).toEqual([]);
  });
});
