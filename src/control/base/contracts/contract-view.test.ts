import { describe, expect, it } from 'vitest';
import type { Contract } from '#language/contract.ts';
import { pickTools, viewTools, writeTexts } from './contract-view.ts';

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

describe('pickTools', () => {
  it('returns only the named tools, in the order of the world', () => {
    const binding = { kind: 'python', file: 'tools.py', function: 'f' } as const;
    const names = ['a', 'quote"', 'ünï\u2028', 'last'];
    const tools = names.map((name) => ({ name, input: {}, output: { enum: [name] }, binding }));
    const contract = { tools, definitions, tasks: [], dependencies: [] } as unknown as Contract;
    const { toolSchemas, toolLengths } = writeTexts(contract);
    expect(JSON.parse(toolSchemas)).toEqual(viewTools(contract));
    const picked = (given: string[]) => JSON.parse(pickTools(toolSchemas, toolLengths, given));
    const all = viewTools(contract);
    expect(picked(['last', 'ünï\u2028'])).toEqual([all[2], all[3]]);
    expect(picked(names)).toEqual(all);
    expect([picked([]), picked(['none'])]).toEqual([[], []]);
  });
});

describe('viewTools', () => {
  it('includes the definitions that a schema refers to, directly or through others', () => {
    const view = viewOf({ type: 'object' }, { type: 'array', items: { $ref: '#/$defs/Issue' } });
    expect(view?.inputSchema).toEqual({ type: 'object' });
    expect(view?.outputSchema).toEqual({
      type: 'array',
      items: { $ref: '#/$defs/Issue' },
      $defs: { Issue: definitions.Issue, Label: definitions.Label },
    });
  });

  it('terminates for definitions that refer to themselves', () => {
    const view = viewOf({ $ref: '#/$defs/Tree' }, {});
    expect(view?.inputSchema).toEqual({
      $ref: '#/$defs/Tree',
      $defs: { Tree: definitions.Tree },
    });
  });
});
