/**
 * Keys of rows in addresses: the values of the key in order, separated by commas. The characters of a text stay as they
 * are, except the few that have a meaning here.
 */
import { fieldOf, type PageEntity, type Row } from './model.ts';

const escapeText = (text: string): string =>
  text.replaceAll(/[~,/]/g, (one) => `~${one.charCodeAt(0).toString(16)}`);

const unescapeText = (text: string): string =>
  text.replaceAll(/~([0-9a-f]{2})/g, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );

const isText = (entity: PageEntity, field: string): boolean => {
  const { kind, choices } = fieldOf(entity, field) ?? { kind: 'text' };
  return kind === 'text' || (choices ?? []).some((choice) => typeof choice === 'string');
};

/** Returns the key's values, in order. */
export const keyOf = (entity: PageEntity, row: Row): unknown[] =>
  entity.key.map((field) => row[field]);

export const keyText = (entity: PageEntity, key: readonly unknown[]): string =>
  entity.key
    .map((field, index) => {
      const value = key[index];
      return escapeText(isText(entity, field) ? String(value) : (JSON.stringify(value) ?? ''));
    })
    .join();

/** Parses a key; undefined if the text is not a key of the entity. */
export const readKeyText = (entity: PageEntity, text: string): unknown[] | undefined => {
  const parts = text.split(',').map(unescapeText);
  if (parts.length !== entity.key.length) return undefined;
  try {
    return entity.key.map((field, index) => {
      const part = parts[index] ?? '';
      return isText(entity, field) ? part : (JSON.parse(part) as unknown);
    });
  } catch {
    return undefined;
  }
};

/** Formats a key for people: `ann / engine`. */
export const showKey = (key: readonly unknown[]): string =>
  key.map((value) => (typeof value === 'string' ? value : JSON.stringify(value))).join(' / ');

/** Returns the name of a row: its title, or else its key. */
export const nameOf = (entity: PageEntity, row: Row): string => {
  const title = entity.title === null ? undefined : row[entity.title];
  return typeof title === 'string' && title !== '' ? title : showKey(keyOf(entity, row));
};

/** Formats a count of rows: `1 row`, `1,500 rows`. */
export const showCount = (rows: number): string =>
  `${rows.toLocaleString('en')} ${rows === 1 ? 'row' : 'rows'}`;
