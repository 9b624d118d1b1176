import { describe, expect, it } from 'vitest';
import type { RouteContract } from '#language/contract.ts';
import { sampleRoute } from '#test/support/worlds/sample-world.ts';
import { createRouter, splitPath } from './router.ts';

const route = (method: RouteContract['method'], path: string): RouteContract =>
  sampleRoute(method, path, { operation: `${method} ${path}` });

const router = createRouter([
  route('GET', '/'),
  route('GET', '/issues/{number}'),
  route('DELETE', '/issues/{number}'),
  route('GET', '/issues/comments'),
  route('PATCH', '/issues/comments/{id}'),
  route('GET', '/{kind}/{id}/events'),
  route('GET', '/reports/'),
  route('GET', '/teams'),
  route('POST', '/teams/'),
  route('GET', '/a%20b/{id}'),
  route('GET', '/branches/{branch...}'),
  route('GET', '/branches/{branch...}/protection'),
  route('DELETE', '/branches/{branch...}/protection/{rule}'),
  route('GET', '/files/{path}.json'),
  route('GET', '/files/{path}.raw.json'),
  route('PUT', '/files/{path}'),
  route('GET', '/compare/{base}...{head}'),
  route('GET', '/a%20{name}%2F'),
]);

const match = (method: string, path: string): unknown => {
  const found = router.match(method, splitPath(path) ?? []);
  return found.kind === 'route' ? [found.route.operation, found.pathArguments] : found;
};

describe('the router', () => {
  it('prefers literals, but only among routes with the requested method', () => {
    expect(match('GET', '/issues/comments')).toEqual(['GET /issues/comments', {}]);
    expect(match('GET', '/issues/7')).toEqual(['GET /issues/{number}', { number: '7' }]);
    expect(match('DELETE', '/issues/comments')).toEqual([
      'DELETE /issues/{number}',
      { number: 'comments' },
    ]);
  });

  it('tries an argument if a literal leads to no route', () => {
    expect(match('GET', '/issues/9/events')).toEqual([
      'GET /{kind}/{id}/events',
      { kind: 'issues', id: '9' },
    ]);
  });

  it('matches HEAD as GET, and matches the root path', () => {
    expect(match('HEAD', '/')).toEqual(['GET /', {}]);
  });

  it('ignores a slash at the end, unless routes differ by it', () => {
    expect(match('GET', '/issues/7/')).toEqual(['GET /issues/{number}', { number: '7' }]);
    expect(match('GET', '/reports/')).toEqual(['GET /reports/', {}]);
    expect(match('GET', '/reports')).toEqual(['GET /reports/', {}]);
    expect(match('GET', '/teams/')).toEqual(['GET /teams', {}]);
    expect(match('POST', '/teams')).toEqual(['POST /teams/', {}]);
    expect(match('PUT', '/teams')).toMatchObject({ allowed: ['GET', 'HEAD', 'OPTIONS', 'POST'] });
  });

  it('compares literals after decoding them', () => {
    expect(match('GET', '/a%20b/7')).toEqual(['GET /a%20b/{id}', { id: '7' }]);
    expect(match('GET', '/%61%20b/7')).toEqual(['GET /a%20b/{id}', { id: '7' }]);
  });

  it('assigns to an argument that spans slashes all segments that the rest of the route does not need', () => {
    const branch = (path: string) => match('GET', `/branches/${path}`);
    expect(branch('main')).toEqual(['GET /branches/{branch...}', { branch: 'main' }]);
    expect(branch('feat/x/y')).toEqual(['GET /branches/{branch...}', { branch: 'feat/x/y' }]);
    expect(branch('feat%2Fx/y/')).toEqual(['GET /branches/{branch...}', { branch: 'feat/x/y' }]);
    expect(branch('feat/x/protection')).toEqual([
      'GET /branches/{branch...}/protection',
      { branch: 'feat/x' },
    ]);
    expect(branch('a/protection/protection')).toEqual([
      'GET /branches/{branch...}/protection',
      { branch: 'a/protection' },
    ]);
    expect(match('DELETE', '/branches/feat/x/protection/7')).toEqual([
      'DELETE /branches/{branch...}/protection/{rule}',
      { branch: 'feat/x', rule: '7' },
    ]);
    expect(branch('')).toEqual({ kind: 'unknown' });
    expect(match('GET', '/branches')).toEqual({ kind: 'unknown' });
  });

  it('reads arguments inside segments, and tries the pattern with the most text first', () => {
    expect(match('GET', '/files/a.b.json')).toEqual(['GET /files/{path}.json', { path: 'a.b' }]);
    expect(match('GET', '/files/a.raw.json')).toEqual([
      'GET /files/{path}.raw.json',
      { path: 'a' },
    ]);
    expect(match('GET', '/files/.json')).toMatchObject({ kind: 'method_not_allowed' });
    expect(match('GET', '/compare/main...feat%2Fx')).toEqual([
      'GET /compare/{base}...{head}',
      { base: 'main', head: 'feat/x' },
    ]);
    expect(match('GET', '/compare/a...b...c')).toEqual([
      'GET /compare/{base}...{head}',
      { base: 'a', head: 'b...c' },
    ]);
    expect(match('GET', '/compare/...b')).toEqual({ kind: 'unknown' });
    expect(match('GET', '/a%20b%2F')).toEqual(['GET /a%20{name}%2F', { name: 'b' }]);
  });

  it('returns only the methods of the most specific route', () => {
    const allowed = (path: string) => router.allowed(splitPath(path) ?? []);
    expect(allowed('/issues/comments')).toEqual(['GET', 'HEAD', 'OPTIONS']);
    expect(allowed('/files/a.json')).toEqual(['GET', 'HEAD', 'OPTIONS']);
    expect(allowed('/files/a')).toEqual(['OPTIONS', 'PUT']);
  });

  it('distinguishes an unknown path from a method that a path does not have', () => {
    expect(match('GET', '/pulls')).toEqual({ kind: 'unknown' });
    expect(match('GET', '/issues//')).toEqual({ kind: 'unknown' });
    expect(match('GET', '//issues/7')).toEqual({ kind: 'unknown' });
    expect(match('PUT', '/issues/7')).toEqual({
      kind: 'method_not_allowed',
      allowed: ['DELETE', 'GET', 'HEAD', 'OPTIONS'],
    });
  });
});

describe('a search', () => {
  /** Returns all route paths of `levels` segments and `/end`; each of the segments is a literal or an argument. */
  const endings = (levels: number): string[] =>
    levels === 0
      ? ['/end']
      : endings(levels - 1).flatMap((rest) => [`/a${rest}`, `/{x${levels}}${rest}`]);
  const paths = Array.from({ length: 9 }, (_, level) => endings(level + 1)).flat();
  const hostile = createRouter(paths.map((ending) => route('GET', `/{path...}${ending}`)));

  /** Returns how many times the search for a route reads a segment of the path. */
  const looksAt = (path: readonly string[]): number => {
    let looks = 0;
    const counted = new Proxy(path, {
      get(target, name) {
        looks += /^\d+$/.test(String(name)) ? 1 : 0;
        return Reflect.get(target, name);
      },
    });
    expect(hostile.match('GET', counted)).toEqual({ kind: 'unknown' });
    return looks;
  };

  it('takes time linear in its routes and segments', () => {
    expect(paths.length).toBeGreaterThan(1_000);
    const path = (length: number) => Array.from({ length }, () => 'a');
    const [short, long] = [looksAt(path(20)), looksAt(path(2_000))];
    // The search tries the path twice, with and without a trailing slash.
    expect(long - short).toBeLessThanOrEqual(2 * 1_980);
    expect(short).toBeLessThan(10 * paths.length);
  });
});

describe('splitPath', () => {
  it('decodes segments without splitting at an escaped slash', () => {
    expect(splitPath('/a%2Fb/c%20d')).toEqual(['a/b', 'c d']);
    expect(splitPath('/%E0%A4%A')).toBeUndefined();
  });
});
