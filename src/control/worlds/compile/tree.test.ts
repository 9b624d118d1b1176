import { describe, expect, it } from 'vitest';
import { limits } from '#domain/limits.ts';
import { checkTree, decodeTree, overlay } from './tree.ts';

const file = (path: string, text = '') => ({ path, content: Buffer.from(text) });

describe('decodeTree', () => {
  const decode = (content: string) => decodeTree([{ path: 'a', content }], 'from')[0]?.content;

  it.each(['', 'YQ==', 'YWI=', 'YWJj', '+/+/'])('decodes "%s"', (content) => {
    expect(decode(content)?.toString()).toBe(Buffer.from(content, 'base64').toString());
  });

  it.each(['Y', 'YQ', 'YQ=', 'YQ===', '=YQ=', 'Y-_=', 'YW Jj', 'YWJj\n', 'Y=Q='])(
    'refuses "%s", which is no valid base64',
    (content) => {
      expect(() => decode(content)).toThrow('do not form a tree');
    },
  );

  it('decodes a file of the maximum size', () => {
    const bytes = Buffer.alloc(limits.treeFileBytes, 'x');
    expect(decode(bytes.toString('base64'))?.byteLength).toBe(bytes.byteLength);
  });
});

describe('overlay', () => {
  it('replaces files with the same path, and sorts the files by path', () => {
    const over = overlay([file('b', '1'), file('a', '1')], [file('b', '2'), file('c', '2')]);
    expect(over.map(({ path, content }) => `${path}${Buffer.from(content)}`)).toEqual([
      'a1',
      'b2',
      'c2',
    ]);
  });
});

describe('checkTree', () => {
  it('refuses a tree in which a path is both a file and a folder', () => {
    expect(() => checkTree([file('a'), file('a/b')])).toThrow('"a" is a file');
  });

  it('refuses a tree with too many files', () => {
    const files = Array.from({ length: 2_001 }, (_, index) => file(`f${index}`));
    expect(() => checkTree(files)).toThrow('2001 files');
  });
});
