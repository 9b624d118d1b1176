import { describe, expect, it } from 'vitest';
import { escapeNames } from './unescaped-names.ts';

const at = '/api/public';

describe('an address with a name', () => {
  it.each([
    ['/v2/prompts/folder/p%201?version=1', '/v2/prompts/folder%2Fp%201?version=1'],
    ['/v2/prompts/a/b/c?label=x/y?z', '/v2/prompts/a%2Fb%2Fc?label=x/y?z'],
    ['/v2/prompts/a/b/versions/3', '/v2/prompts/a%2Fb/versions/3'],
    ['/v2/datasets/a/b', '/v2/datasets/a%2Fb'],
    ['/datasets/a/b', '/datasets/a%2Fb'],
    ['/datasets/a/b/runs', '/datasets/a%2Fb/runs'],
    ['/datasets/a/b/runs/of/today', '/datasets/a%2Fb/runs/of%2Ftoday'],
    ['/datasets/a/b/runs/of/today/stop', '/datasets/a%2Fb/runs/of%2Ftoday/stop'],
    ['/context/skills/a/b', '/context/skills/a%2Fb'],
  ])('gets the slashes in the name escaped: %s', (given, escaped) => {
    expect(escapeNames(`${at}${given}`)).toBe(`${at}${escaped}`);
  });

  it.each([
    '/v2/prompts',
    '/v2/prompts/',
    '/v2/prompts/a%2Fb/versions/3?x=/y/z',
    '/v2/prompts/versions/versions/3',
    '/datasets/a%2Fb/runs/c%2Fd/sessions?limit=1',
    '/datasets/runs/runs/runs',
    '/context/skills?tag=a/b',
    '/worlds/a/b/c',
  ])('stays as it is if there is nothing to escape: %s', (given) => {
    expect(escapeNames(`${at}${given}`)).toBe(`${at}${given}`);
  });
});
