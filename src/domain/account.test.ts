import { describe, expect, it } from 'vitest';
import {
  isWithin,
  maskSecret,
  mayDo,
  readEmail,
  roleInProject,
  roles,
  slugForm,
  slugOf,
  whyNotRole,
} from './account.ts';

describe('a role', () => {
  it.each([
    ['organization:own', ['OWNER']],
    ['organization:manage', ['OWNER', 'ADMIN']],
    ['project:manage', ['OWNER', 'ADMIN']],
    ['project:write', ['OWNER', 'ADMIN', 'MEMBER']],
    ['project:read', ['OWNER', 'ADMIN', 'MEMBER', 'VIEWER']],
    ['self', [...roles]],
  ] as const)('%s', (action, allowed) => {
    expect(roles.filter((role) => mayDo(role, action))).toEqual(allowed);
  });

  it('of the project replaces that of the organization, except for owners', () => {
    expect(roleInProject('MEMBER', undefined)).toBe('MEMBER');
    expect(roleInProject('ADMIN', 'VIEWER')).toBe('VIEWER');
    expect(roleInProject('NONE', 'ADMIN')).toBe('ADMIN');
    expect(roleInProject('OWNER', 'NONE')).toBe('OWNER');
  });

  it('must be that of an owner to change owners, and that of an owner or admin to change members', () => {
    expect(whyNotRole('ADMIN', null, 'ADMIN')).toBeUndefined();
    expect(whyNotRole('ADMIN', null, 'OWNER')).toContain('only an owner');
    expect(whyNotRole('ADMIN', 'OWNER', null)).toContain('only an owner');
    expect(whyNotRole('OWNER', 'OWNER', 'VIEWER')).toBeUndefined();
    expect(whyNotRole('MEMBER', 'VIEWER', 'MEMBER')).toContain('owners and admins');
  });
});

describe('a token created with another token', () => {
  const outer = { scopes: ['accounts', 'mcp:read'], projectIds: ['prj-1', 'prj-2'] } as const;

  it('has no access that the creating token lacks', () => {
    expect(isWithin({ scopes: ['mcp:read'], projectIds: ['prj-2'] }, outer)).toBe(true);
    expect(isWithin({ scopes: ['mcp:write'], projectIds: ['prj-2'] }, outer)).toBe(false);
    expect(isWithin({ scopes: ['mcp:read'], projectIds: ['prj-3'] }, outer)).toBe(false);
    expect(isWithin({ scopes: ['mcp:read'], projectIds: null }, outer)).toBe(false);
    expect(isWithin(outer, { ...outer, projectIds: null })).toBe(true);
  });
});

describe('names', () => {
  it('of users are e-mail addresses in lower case', () => {
    expect(readEmail(' Ada@Example.TEST ')).toBe('ada@example.test');
    for (const text of [
      '',
      'ada',
      'a@b',
      'a b@c.de',
      'a@b.c,d@e.f',
      '<a@b.c>',
      `${'a'.repeat(250)}@b.cd`,
    ])
      expect(readEmail(text), text).toBeUndefined();
  });

  it('of projects are turned into slugs', () => {
    expect(slugOf('  Zürich Team / 2 ')).toBe('zu-rich-team-2');
    expect(slugOf('…')).toBe('');
    expect(slugOf('x'.repeat(100))).toMatch(slugForm);
  });

  it('of secrets are masked except for the prefix and the last characters', () => {
    expect(maskSecret('sk-abcdefghij')).toBe('sk-...ghij');
    expect(maskSecret('pat_abcdefghij')).toBe('pat_...ghij');
  });
});
