/**
 * Tests all lists of commands: each fits a terminal of 80 columns, whatever its entries contain, and is complete if the
 * output is piped.
 */
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { accountsLists } from '#test/support/cli/lists/accounts.ts';
import { evaluationLists } from '#test/support/cli/lists/evaluation.ts';
import { worldsLists } from '#test/support/cli/lists/worlds.ts';
import { createColors } from '../terminal/colors.ts';
import { widthOf } from '../terminal/print.ts';

const terminal = 80;
const lists = { ...accountsLists, ...worldsLists, ...evaluationLists };

/** Returns true for a line with a single value, which is never wrapped. */
const isAlone = (line: string): boolean => !stripVTControlCharacters(line).trim().includes(' ');

describe.each(Object.entries(lists))('the list of %s', (_, [first, show]) => {
  it('has no line wider than a terminal of 80 columns, with or without colours', () => {
    for (const hasColors of [false, true]) {
      const shown = show({ colors: createColors(hasColors), columns: terminal });
      const wide = shown.split('\n').filter((line) => widthOf(line) > terminal);
      expect(wide.filter((line) => !isAlone(line))).toEqual([]);
      expect(shown).toContain(first);
    }
  });

  it('is a table with complete cells if the output is piped', () => {
    const shown = show({ colors: createColors(false), columns: Infinity });
    expect(shown).toContain(first);
    expect(shown).not.toMatch(/ · |…/);
  });
});
