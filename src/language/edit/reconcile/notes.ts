/** Writes notes about what reconciling does not change, or leaves to the author, as sentences. */
import type { Model } from '../../check/model.ts';
import type { Connector } from '../../files/connector-toml.ts';
import { isTable } from '../../read/values.ts';
import type { CapturedRows, SourcedRow } from './captured-rows.ts';

const maxNamed = 20;

const listNames = (names: readonly string[]): string => {
  const more = names.length - maxNamed;
  return names.slice(0, maxNamed).join(', ') + (more > 0 ? ` and ${more} more` : '');
};

const neverSeen = (rows: ReadonlyMap<string, SourcedRow[]>, { entities }: Model): string[] =>
  [...entities.values()].flatMap(({ name, schema }) => {
    const own = rows.get(name) ?? [];
    const { properties } = schema;
    if (own.length === 0 || !isTable(properties)) return [];
    const unseen = new Set(Object.keys(properties));
    for (const { row } of own) for (const field of Object.keys(row)) unseen.delete(field);
    if (unseen.size === 0) return [];
    const count = own.length === 1 ? 'the one captured row' : `${own.length} captured rows`;
    return [`${name}: ${listNames([...unseen])} not seen in ${count}; left as declared`];
  });

const notCaptured = (rows: ReadonlyMap<string, SourcedRow[]>, { entities }: Model): string[] => {
  const without = [...entities.keys()].filter((name) => !rows.has(name));
  return without.length === 0 ? [] : [`there are no captured rows of ${listNames(without)}`];
};

/** Returns the fields that a create operation fills. */
const filledFields = (
  api: NonNullable<Connector['operations'][number]['value']['api']>,
): Set<string> => {
  const paths = [...api.body.keys(), ...api.filter.values()];
  const fields = paths.map((path) => path.replace(/^\//, '').split(/[./]/)[0] ?? '');
  return new Set([...fields, ...api.defaults.keys(), ...api.generate.keys()]);
};

/** Returns notes on create operations that do not fill a field which is now required and was not declared before. */
const incompleteCreates = (
  connector: Connector,
  required: ReadonlyMap<string, readonly string[]>,
): string[] =>
  connector.operations.flatMap(({ value: { name, entity, api } }) => {
    if (api?.action !== 'create' || entity === undefined) return [];
    const filled = filledFields(api);
    const lacking = (required.get(entity) ?? []).filter((field) => !filled.has(field));
    if (lacking.length === 0) return [];
    return [`the operation "${name}" creates rows of ${entity} without ${listNames(lacking)}`];
  });

/** Returns all notes; `required` lists the newly required fields by entity. */
export const notesOf = (
  { model, connector, captured, gaps, failed }: CapturedRows,
  required: ReadonlyMap<string, readonly string[]>,
): string[] => {
  const rows = Map.groupBy(captured, ({ source }) => source.entity);
  return [
    ...gaps.map(({ file, gap }) => {
      const times = gap.count > 1 ? ` (in ${gap.count} places)` : '';
      return `${file}: ${gap.source}${gap.pointer} ${gap.detail}${times}`;
    }),
    ...failed.map((file) => `${file}: the request failed, so the capture has no rows`),
    ...notCaptured(rows, model),
    ...neverSeen(rows, model),
    ...incompleteCreates(connector, required),
  ];
};
