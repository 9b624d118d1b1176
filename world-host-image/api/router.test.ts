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

  it('matches HEAD as GET, the root, and one slash at the end', () => {
    expect(match('HEAD', '/')).toEqual(['GET /', {}]);
    expect(match('GET', '/issues/7/')).toEqual(['GET /issues/{number}', { number: '7' }]);
  });

  it('tells an unknown path from a method that a path does not have', () => {
    expect(match('GET', '/pulls')).toEqual({ kind: 'unknown' });
    expect(match('GET', '/issues//')).toEqual({ kind: 'unknown' });
    expect(match('PUT', '/issues/7')).toEqual({
      kind: 'method_not_allowed',
      allowed: ['DELETE', 'GET', 'HEAD'],
    });
  });
});

describe('splitPath', () => {
  it('decodes segments, so that an escaped slash divides nothing', () => {
    expect(splitPath('/a%2Fb/c%20d')).toEqual(['a/b', 'c d']);
    expect(splitPath('/%E0%A4%A')).toBeUndefined();
  });
});
