/**
 * The vendor's body for what a request was refused for: the placeholders `{param}`, `{field}` and `{message}` in its
 * texts are filled. A list whose only item holds placeholders has an item for each thing that is wrong, and a member
 * whose name holds them is there once for each name that they make.
 */
import { isObject } from '#domain/json.ts';

/** One thing that is wrong with a request. */
export type Wrong = {
  /** What the client sent: an argument, or a path into the body (`author.email`); null where it is none of those. */
  param: string | null;
  /** Path into the row; null where no field is at fault. */
  field: string | null;
  /** What is wrong, as the end of a sentence that begins with the field. */
  message: string;
};

type Placeholder = keyof Wrong;

const placeholders = /\{(param|field|message)\}/g;
const onlyPlaceholder = /^\{(param|field|message)\}$/;

/** Returns what a placeholder stands for. A parameter may be no field, and a field no parameter: one stands for both. */
const textOf = (wrong: Wrong | undefined, name: Placeholder): string | null => {
  if (wrong === undefined) return null;
  if (name === 'message') return wrong.message;
  return wrong[name] ?? wrong.param ?? wrong.field;
};

/** Whether a body has placeholders; one without is sent as the author wrote it. */
export const hasPlaceholders = (body: string): boolean => body.search(placeholders) !== -1;

const fillText = (text: string, wrong: Wrong | undefined): string =>
  text.replace(placeholders, (_, name: Placeholder) => textOf(wrong, name) ?? '');

/** A text that is nothing but a placeholder is null where that stands for nothing. */
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

/** Returns the body with its placeholders filled; of a body that is not JSON only by the first thing that is wrong. */
export const fillBody = (body: string, contentType: string, wrongs: readonly Wrong[]): string => {
  if (!hasPlaceholders(body)) return body;
  if (/\bjson\b/i.test(contentType)) return JSON.stringify(fill(JSON.parse(body), wrongs));
  const [first] = wrongs;
  const isMarkup = first !== undefined && /\b(?:xml|html)\b/i.test(contentType);
  return fillText(body, isMarkup ? escapeWrong(first) : first);
};
