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
});
