import { describe, expect, it } from 'vitest';
import type { RouteContract } from '#language/contract.ts';
import { sampleRoute } from '#test/support/sample-world.ts';
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
]);

const match = (method: string, path: string): unknown => {
  const found = router.match(method, splitPath(path) ?? []);
  return found.kind === 'route' ? [found.route.operation, found.pathArguments] : found;
};

describe('router', () => {
  it('prefers literals, among the routes that have the method', () => {
    expect(match('GET', '/issues/comments')).toEqual(['GET /issues/comments', {}]);
    expect(match('GET', '/issues/7')).toEqual(['GET /issues/{number}', { number: '7' }]);
    expect(match('DELETE', '/issues/comments')).toEqual([
      'DELETE /issues/{number}',
      { number: 'comments' },
    ]);
  });

  it('comes back from a literal that leads nowhere', () => {
    expect(match('GET', '/issues/9/events')).toEqual([
      'GET /{kind}/{id}/events',
      { kind: 'issues', id: '9' },
    ]);
  });

  it('matches HEAD as GET, and the root', () => {
    expect(match('HEAD', '/')).toEqual(['GET /', {}]);
  });

  it('makes nothing of a slash at the end, unless routes differ by it', () => {
    expect(match('GET', '/issues/7/')).toEqual(['GET /issues/{number}', { number: '7' }]);
    expect(match('GET', '/reports/')).toEqual(['GET /reports/', {}]);
    expect(match('GET', '/reports')).toEqual(['GET /reports/', {}]);
    expect(match('GET', '/teams/')).toEqual(['GET /teams', {}]);
    expect(match('POST', '/teams')).toEqual(['POST /teams/', {}]);
    expect(match('PUT', '/teams')).toMatchObject({ allowed: ['GET', 'HEAD', 'OPTIONS', 'POST'] });
  });

  it('compares literals decoded', () => {
    expect(match('GET', '/a%20b/7')).toEqual(['GET /a%20b/{id}', { id: '7' }]);
    expect(match('GET', '/%61%20b/7')).toEqual(['GET /a%20b/{id}', { id: '7' }]);
  });

  it('tells an unknown path from a method that a path does not have', () => {
    expect(match('GET', '/pulls')).toEqual({ kind: 'unknown' });
    expect(match('GET', '/issues//')).toEqual({ kind: 'unknown' });
    expect(match('GET', '//issues/7')).toEqual({ kind: 'unknown' });
    expect(match('PUT', '/issues/7')).toEqual({
      kind: 'method_not_allowed',
      allowed: ['DELETE', 'GET', 'HEAD', 'OPTIONS'],
    });
  });
});

describe('splitPath', () => {
  it('decodes segments, so that an escaped slash divides nothing', () => {
    expect(splitPath('/a%2Fb/c%20d')).toEqual(['a/b', 'c d']);
    expect(splitPath('/%E0%A4%A')).toBeUndefined();
  });
});
