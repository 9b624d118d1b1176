import { describe, expect, it } from 'vitest';
import { createPathCheck, foldPath, pathFault, showPath } from './tree-path.ts';

describe('pathFault', () => {
  it.each([
    'a',
    'a/b.py',
    'a b/ü.json',
    '.env',
    '.gitignore',
    'a..b/c',
    'console.md',
    'com.json',
    'com10.json',
    'null.txt',
    'aux_/x.md',
    'git/config',
    'x.git/config',
    '❤️.png',
    'डेटा.json',
    `${'a/'.repeat(31)}a`,
    `${'x'.repeat(255)}`,
  ])('accepts %j', (path) => {
    expect(pathFault(path)).toBeUndefined();
  });

  it.each([
    ['', /1 to 512/],
    ['x'.repeat(513), /1 to 512/],
    ['x'.repeat(256), /255 bytes/],
    ['é'.repeat(128), /255 bytes/],
    [`${'a/'.repeat(32)}a`, /deeper than 32/],
    ['/a', /relative/],
    ['C:/a', /relative/],
    ['c:a', /relative/],
    ['a\\b', /separate/],
    ['..\\..\\x', /separate/],
    ['a//b', /empty/],
    ['a/', /empty/],
    ['./a', /"\."/],
    ['a/../b', /"\."/],
    ['..', /"\."/],
    ['a\0b', /control/],
    ['a\x1b[2J', /control/],
    ['a\u0085b', /control/],
    ['a\u202eb.py', /invisible/],
    ['a\u200bb', /invisible/],
    ['\ufeffa', /invisible/],
    ['a\u2028b', /invisible/],
    ['\ud800', /well-formed/],
    ['notes.md:hidden', /none of/],
    ['a/b:$DATA', /none of/],
    ['what?', /none of/],
    ['a*', /none of/],
    ['"a"', /none of/],
    ['a<b', /none of/],
    ['a|b', /none of/],
    ['CON', /device/],
    ['nul', /device/],
    ['data/NUL.json', /device/],
    ['Com1.txt', /device/],
    ['com¹', /device/],
    ['lpt0.tar.gz', /device/],
    ['aux/x.md', /device/],
    ['prn .md', /device/],
    ['CONIN$', /device/],
    ['a./b', /dot or a blank/],
    ['a ', /dot or a blank/],
    ['a/b.', /dot or a blank/],
    ['a/... ', /dot or a blank/],
    ['.git', /Git/],
    ['.git/config', /Git/],
    ['.GIT/hooks/post-checkout', /Git/],
    ['a/.Git/config', /Git/],
    ['git~1/config', /Git/],
    ['GIT~2', /Git/],
    ['.g\u0131t', /Git/],
    ['.g\u200cit/config', /invisible/],
    ['.gi\ufe0ft/config', /Git/],
    ['．git/config', /Git/],
    ['.vscode/tasks.json', /hidden/],
    ['a/.ssh/config', /hidden/],
  ])('rejects %j', (path, fault) => {
    expect(pathFault(path)).toMatch(fault);
  });
});

describe('createPathCheck', () => {
  const lastFault = (...paths: string[]) => {
    const check = createPathCheck();
    return paths.map(check).at(-1);
  };

  it.each([
    [['a', 'a'], 'occurs more than once'],
    [['README.md', 'readme.MD'], 'is the same as "README.md" on some file systems'],
    [['\u00e9.md', 'e\u0301.md'], 'is the same as "\u00e9.md" on some file systems'],
    [['straße.md', 'STRASSE.md'], 'is the same as "straße.md" on some file systems'],
    [['\u212aelvin', 'kelvin'], 'is the same as "\u212aelvin" on some file systems'],
    [['❤\ufe0f.md', '❤.md'], 'is the same as "❤\ufe0f.md" on some file systems'],
    [['a', 'a/b'], 'is below a path that is a file'],
    [['A', 'a/b/c'], 'is below a path that is a file'],
    [['a/b', 'a'], 'is also a folder'],
    [['a/b', 'A'], 'is also a folder'],
    [['Data/a.md', 'data/b.md'], 'is in a folder that is the same as "Data" on some file systems'],
    [['x/ü/a', 'x/u\u0308/b'], 'is in a folder that is the same as "x/ü" on some file systems'],
  ])('rejects the last of %j', (paths, fault) => {
    expect(lastFault(...paths)).toBe(fault);
  });

  it('ignores a rejected path when it checks later paths', () => {
    expect(lastFault('NUL', 'a', 'A/b', 'b')).toBeUndefined();
    expect(lastFault('data/a', 'data/b', 'data2/a')).toBeUndefined();
  });
});

describe('foldPath', () => {
  it('returns one key for paths that some file system treats as one', () => {
    expect(foldPath('.GI\u200cT')).toBe('.git');
    expect(foldPath('Ä')).toBe(foldPath('a\u0308'));
  });
});

describe('showPath', () => {
  it('escapes invisible characters', () => {
    expect(showPath('a\u202eb\u0000"')).toBe('"a\\u{202e}b\\u0000\\""');
  });
});
