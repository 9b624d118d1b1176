/**
 * Titles of the rows that listed rows refer to, so that a list shows `Dr Ada Moss` instead of 17. The titles are
 * grouped by the field that refers, and within it by the referred row's key. The page uses the same rule for the titles
 * of entities.
 */
import { cut } from '#domain/cut.ts';
import { titleFields } from '#language/artifacts/page/model.ts';
import type { Contract, EntityContract, Row } from '#language/contract.ts';
import type { WorldStore } from '#store/world-store.ts';

/** Titles by the name of the referring field, then by the referred row's key as text. */
export type Labels = Record<string, Record<string, string>>;

const labelChars = 100;

const titlesByContract = new WeakMap<Contract, ReadonlyMap<string, string | null>>();

/** Returns the title field of each entity of a contract, computed once per contract. */
const titlesOf = (contract: Contract): ReadonlyMap<string, string | null> => {
  const titles = titlesByContract.get(contract) ?? titleFields(contract);
  titlesByContract.set(contract, titles);
  return titles;
};

type Reference = { field: string; target: EntityContract; title: string };

/** Returns those references of an entity that consist of a single field and whose target has a title field. */
const labelled = (contract: Contract, { relationships }: EntityContract): Reference[] =>
  relationships.flatMap(({ fields: [field, ...others], target: name }) => {
    const target = contract.entities.find((entity) => entity.name === name);
    const title = titlesOf(contract).get(name) ?? null;
    if (field === undefined || others.length > 0 || target === undefined || title === null)
      return [];
    return [{ field, target, title }];
  });

const isKey = (value: unknown): value is string | number =>
  typeof value === 'string' || typeof value === 'number';

const titleAt = (
  store: Pick<WorldStore, 'get'>,
  { target, title }: Reference,
  key: string | number,
): [string, string][] => {
  const payload = store.get(target.name, { [target.primaryKey[0] ?? '']: key });
  const value = payload === undefined ? undefined : (JSON.parse(payload) as Row)[title];
  return typeof value === 'string' && value !== '' ? [[String(key), cut(value, labelChars)]] : [];
};

/** Returns the titles of all rows that the given rows refer to. Fields without titles are left out. */
export const labelsOf = (
  { contract, store }: { contract: Contract; store: Pick<WorldStore, 'get'> },
  entity: EntityContract,
  payloads: readonly string[],
): Labels => {
  const references = labelled(contract, entity);
  if (references.length === 0) return {};
  const rows = payloads.map((payload) => JSON.parse(payload) as Row);
  const labels = references.map((reference): [string, Record<string, string>] => {
    const keys = new Set(rows.map((row) => row[reference.field]).filter(isKey));
    const titles = [...keys].flatMap((key) => titleAt(store, reference, key));
    return [reference.field, Object.fromEntries(titles)];
  });
  return Object.fromEntries(labels.filter(([, titles]) => Object.keys(titles).length > 0));
};
