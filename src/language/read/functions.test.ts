import { describe, expect, it } from 'vitest';
import { declaredFunctions } from './functions.ts';

describe('declaredFunctions', () => {
  it('finds top-level functions of Python', () => {
    const text = `
import x
def plain(a): ...
async def later(): ...
def generic[T](a: T): ...
class C:
    def method(self): ...
# def commented(): ...
lambda_ = lambda: 0
`;
    expect([...declaredFunctions('tools.py', text)]).toEqual(['plain', 'later', 'generic']);
  });

  it('finds exported functions of TypeScript', () => {
    const text = `
export function plain() {}
export async function later() {}
export const arrow = async () => {};
function hidden() {}
export type T = string;
  export function indented() {}
`;
    expect([...declaredFunctions('tools.ts', text)].sort()).toEqual(['arrow', 'later', 'plain']);
  });

  it('finds functions that a Python file imports from its own modules', () => {
    const text = [
      'from .issues import get_issue, list_issues as list_all  # both',
      'from .labels import (',
      '    add_labels,  # one, or many',
      '    set_labels,',
      ')',
      'from svc_env import get, query',
      'import json',
    ].join('\n');
    const names = ['add_labels', 'get_issue', 'list_all', 'set_labels'];
    expect([...declaredFunctions('api/handlers.py', text)].sort()).toEqual(names);
  });

  it('finds functions that a TypeScript file re-exports from its own modules', () => {
    const text = [
      "export { getIssue, list as listAll } from './issues.ts';",
      "export { get } from 'svc_env';",
      "import { hidden } from './hidden.ts';",
    ].join('\n');
    expect([...declaredFunctions('api/handlers.ts', text)]).toEqual(['getIssue', 'listAll']);
  });
});
