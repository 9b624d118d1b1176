/**
 * Fills the placeholders `{param}`, `{field}` and `{message}` in the vendor's error body for a rejected request. A
 * list whose only item has placeholders gets one item for each problem. A member whose name has placeholders is
 * repeated for each name that they produce.
 */
import { isObject } from '#domain/json.ts';

/** One problem of a request. */
export type Wrong = {
  /** Name as the client sent it: an argument, or a path into the body (`author.email`); null if it is neither. */
  param: string | null;
  /** Path into the row; null if no field is at fault. */
  field: string | null;
  /** Description of the problem: the end of a sentence that begins with the name of the field. */
  message: string;
};

type Placeholder = keyof Wrong;

const placeholders = /\{(param|field|message)\}/g;
const onlyPlaceholder = /^\{(param|field|message)\}$/;

/**
 * Returns the text for a placeholder. If a problem has only `param` or only `field`, it is used for both placeholders.
 */
const textOf = (wrong: Wrong | undefined, name: Placeholder): string | null => {
  if (wrong === undefined) return null;
  if (name === 'message') return wrong.message;
  return wrong[name] ?? wrong.param ?? wrong.field;
};

/** Returns true if the body has placeholders. A body without any is sent as the author wrote it. */
export const hasPlaceholders = (body: string): boolean => body.search(placeholders) !== -1;

const fillText = (text: string, wrong: Wrong | undefined): string =>
  text.replace(placeholders, (_, name: Placeholder) => textOf(wrong, name) ?? '');

/** Fills one string. A string that is only a placeholder becomes null if the problem has no text for it. */
const fillValue = (text: string, wrong: Wrong | undefined): string | null => {
  const [, name] = onlyPlaceholder.exec(text) ?? [];
  return name === undefined ? fillText(text, wrong) : textOf(wrong, name as Placeholder);
};

const fillMembers = (object: object, wrongs: readonly Wrong[]): [string, unknown][] =>
  Object.entries(object).flatMap(([name, value]): [string, unknown][] => {
    if (!hasPlaceholders(name)) return [[name, fill(value, wrongs)]];
    const byName = Map.groupBy(wrongs, (wrong) => fillText(name, wrong));
    return [...byName].map(([filled, group]) => [filled, fill(value, group)]);
  });

const fill = (value: unknown, wrongs: readonly Wrong[]): unknown => {
  if (typeof value === 'string') return fillValue(value, wrongs[0]);
  if (Array.isArray(value)) {
    const isRepeated = value.length === 1 && hasPlaceholders(JSON.stringify(value));
    return isRepeated
      ? wrongs.map((wrong) => fill(value[0], [wrong]))
      : value.map((item) => fill(item, wrongs));
  }
  return isObject(value) ? Object.fromEntries(fillMembers(value, wrongs)) : value;
};

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

const escapeMarkup = (text: string): string =>
  text.replace(/[&<>"]/g, (character) => escapes[character] ?? character);

const escapeWrong = ({ param, field, message }: Wrong): Wrong => ({
  param: param === null ? null : escapeMarkup(param),
  field: field === null ? null : escapeMarkup(field),
  message: escapeMarkup(message),
});

/** Returns the body with its placeholders filled. A body that is not JSON describes only the first problem. */
export const fillBody = (body: string, contentType: string, wrongs: readonly Wrong[]): string => {
  if (!hasPlaceholders(body)) return body;
  if (/\bjson\b/i.test(contentType)) return JSON.stringify(fill(JSON.parse(body), wrongs));
  const [first] = wrongs;
  const isMarkup = first !== undefined && /\b(?:xml|html)\b/i.test(contentType);
  return fillText(body, isMarkup ? escapeWrong(first) : first);
};
