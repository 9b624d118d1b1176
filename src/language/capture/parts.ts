/**
 * The lists and objects of a row, one level at a time: walkers keep a list of what is left to do
 * instead of recursing, because how deep a row nests is a stranger's choice.
 */
import type { Row } from '../contract.ts';
import { enterItem, enterKey, type Position, type Rules } from './rules.ts';

export type Container = unknown[] | Row;

/** A value in a list or object, with its key or index and what applies to it. */
export type Part = { key: string; value: unknown; position: Position };

export const isContainer = (value: unknown): value is Container =>
  typeof value === 'object' && value !== null;

/** What a list or object holds, in order, own keys only. */
export const partsOf = (rules: Rules, container: Container, at: Position): Part[] => {
  if (!Array.isArray(container)) {
    return Object.entries(container).map(([key, value]) => {
      return { key, value, position: enterKey(rules, at, key) };
    });
  }
  const position = enterItem(at);
  return container.map((value: unknown, index) => ({ key: String(index), value, position }));
};

export const emptyLike = (container: Container): Container => (Array.isArray(container) ? [] : {});

/** Adds a part to a copy. A key that objects inherit, `__proto__`, becomes a key like any other. */
export const putPart = (copy: Container, key: string, value: unknown): void => {
  if (Array.isArray(copy)) copy.push(value);
  else if (key !== '__proto__') copy[key] = value;
  else {
    const asOthers = { enumerable: true, configurable: true, writable: true };
    Object.defineProperty(copy, key, { value, ...asOthers });
  }
};
