import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { joinFilePath, readFilePath } from './file-path.ts';

const read = (path: string) => readFilePath('path', path);

describe('a path of a project file', () => {
  it.each([
    ['a.txt', ['a.txt'], false],
    ['a/b c/ü.txt', ['a', 'b c', 'ü.txt'], false],
    ['.github/x', ['.github', 'x'], false],
    ['docs/', ['docs'], true],
    ['', [], true],
    ['/', [], true],
    ['👩‍💻.md', ['👩‍💻.md'], false],
  ])('%j is accepted', (path, names, isFolder) => {
    expect(read(path)).toEqual({ names, isFolder });
  });

  it.each([
    '..',
    'a/../b',
    './a',
    'a//b',
    '/a',
    '//',
    'a\0b',
    'a\nb',
    'a\\b',
    '\ud800',
    'a\u202eb',
    'x'.repeat(256),
    'ü'.repeat(128),
    Array.from({ length: 33 }, () => 'a').join('/'),
  ])('%j is refused', (path) => {
    expect(() => read(path)).toThrow(expect.objectContaining({ code: 'invalid' }));
  });

  it('is equal in the composed and decomposed forms of Unicode, and differs by case', () => {
    expect(read('u\u0308.txt')).toEqual(read('\u00fc.txt'));
    expect(read('A.txt')).not.toEqual(read('a.txt'));
  });

  it('is either refused, or unchanged if its stored form is read again', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (path) => {
        let names: string[];
        try {
          ({ names } = read(path));
        } catch {
          return;
        }
        expect(read(joinFilePath(names)).names).toEqual(names);
        expect(names.some((name) => ['', '.', '..'].includes(name))).toBe(false);
      }),
    );
  });
});
