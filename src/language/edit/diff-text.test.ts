import { describe, expect, it } from 'vitest';
import { diffText } from './diff-text.ts';

describe('diffText', () => {
  it('returns an empty text for equal texts', () => {
    expect(diffText('a\n', 'a\n', 'f')).toBe('');
  });

  it('shows changed lines with their context', () => {
    const before = Array.from({ length: 20 }, (_, index) => `line ${index}\n`).join('');
    const after = before.replace('line 10\n', 'line ten\nand more\n');
    const hunk = '@@ -8,7 +8,8 @@\n line 7\n line 8\n line 9\n-line 10\n+line ten\n+and more\n';
    const around = ' line 11\n line 12\n line 13\n';
    expect(diffText(before, after)).toBe(hunk + around);
    expect(diffText(before, after, 'a/b.json')).toBe(
      `--- a/b.json\n+++ a/b.json\n${hunk}${around}`,
    );
  });

  it('adds a remark if the last line of a file has no line end', () => {
    expect(diffText('a\nb', 'a\nc\n')).toBe(
      '@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n',
    );
  });

  it('replaces the whole text if the texts have little in common', () => {
    const lines = (word: string): string =>
      Array.from({ length: 4_000 }, (_, index) => `${word} ${index}\n`).join('');
    const shown = diffText(lines('old'), lines('new'));
    expect(shown.split('\n').slice(0, 2)).toEqual(['@@ -1,4000 +1,4000 @@', '-old 0']);
    expect(shown.endsWith('+new 3999\n')).toBe(true);
  });
});
