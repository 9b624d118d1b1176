import { describe, expect, it } from 'vitest';
import type { Contract } from '#language/contract.ts';
import { viewTools } from './tool-view.ts';

const definitions = {
  Label: { type: 'string' },
  Issue: { type: 'object', properties: { labels: { items: { $ref: '#/$defs/Label' } } } },
  Tree: { type: 'object', properties: { children: { items: { $ref: '#/$defs/Tree' } } } },
  Unused: { type: 'null' },
};

const viewOf = (input: object, output: object) => {
  const binding = { kind: 'python', file: 'tools.py', function: 'f' } as const;
  const tools = [{ name: 'f', input: { ...input }, output: { ...output }, binding }];
  const [view] = viewTools({ tools, definitions } as unknown as Contract);
  return view;
};

describe('viewTools', () => {
  it('carries the shapes that a schema refers to, and those that they refer to', () => {
    const view = viewOf({ type: 'object' }, { type: 'array', items: { $ref: '#/$defs/Issue' } });
    expect(view?.inputSchema).toEqual({ type: 'object' });
    expect(view?.outputSchema).toEqual({
      type: 'array',
      items: { $ref: '#/$defs/Issue' },
      $defs: { Issue: definitions.Issue, Label: definitions.Label },
    });
  });

  it('comes to an end with shapes that refer to themselves', () => {
    const view = viewOf({ $ref: '#/$defs/Tree' }, {});
    expect(view?.inputSchema).toEqual({
      $ref: '#/$defs/Tree',
      $defs: { Tree: definitions.Tree },
    });
  });
});
