/** Formats a draft of a world for a person: its contents, and open decisions. */
import type { Draft } from '#mirror/draft/draft.ts';
import type { View } from '../terminal/context.ts';
import { formatCount, wrapLines } from '../terminal/print.ts';
import { formatFitted } from './fitted-table.ts';

/** Formats the numbers of entities and routes, and then every open point. */
export const describeDraft = (
  folder: string,
  { entities, operations, marks }: Draft,
  view: View,
): string => {
  const served = operations.filter(({ isServed }) => isServed).length;
  return [
    `${folder}: ${formatCount(entities.length, 'entity', 'entities')}, ${formatCount(operations.length, 'operation')}, ${served} of them served`,
    formatFitted(
      ['ENTITY', 'KEY', 'FIELDS', 'ROWS'],
      entities.map(({ name, key, fields, rows }) => [
        name,
        key.join(', '),
        String(fields),
        String(rows),
      ]),
      view,
    ),
    ...(marks.length === 0
      ? []
      : ['points to decide, also listed at the beginning of connector.toml:']),
    ...marks.flatMap(({ place, message }) => wrapLines(`- ${place}: ${message}`, view.columns)),
  ].join('\n');
};
