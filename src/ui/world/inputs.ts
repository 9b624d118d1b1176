/** Parses texts that people enter into values of fields, and formats values for editing. */
import type { PageField } from './model.ts';

export type ReadInput = { value: unknown } | { fault: string };

const readNumber = (text: string, isWhole: boolean): ReadInput => {
  const value = Number(text);
  if (text.trim() !== '' && Number.isFinite(value) && (!isWhole || Number.isInteger(value))) {
    return { value };
  }
  return { fault: isWhole ? 'Enter a whole number.' : 'Enter a number.' };
};

const kindsOf = {
  list: 'a list, for example ["a", "b"]',
  object: 'an object, for example {"a": 1}',
};

const readJson = (text: string, of: PageField['of']): ReadInput => {
  try {
    const value: unknown = JSON.parse(text);
    const isRight =
      of === undefined ||
      value === null ||
      (typeof value === 'object' && Array.isArray(value) === (of === 'list'));
    return isRight ? { value } : { fault: `Enter ${kindsOf[of]}.` };
  } catch (error) {
    return { fault: `This is not JSON: ${error instanceof Error ? error.message : error}` };
  }
};

/** Parses a text that is not empty. */
export const readInput = (field: PageField, text: string): ReadInput => {
  switch (field.kind) {
    case 'text':
      return { value: text };
    case 'integer':
    case 'number':
      return readNumber(text, field.kind === 'integer');
    case 'boolean':
      return { value: text === 'true' };
    case 'choice': {
      const choice = field.choices?.find((one) => JSON.stringify(one) === text);
      return choice === undefined ? { fault: 'Choose one of the list.' } : { value: choice };
    }
    case 'json':
      return readJson(text, field.of);
  }
};

/** Formats a value as the text of a form input; '' if there is no value. */
export const writeInput = (field: PageField, value: unknown): string => {
  if (value === null || value === undefined) return '';
  if (field.kind === 'choice') return JSON.stringify(value);
  if (field.kind === 'json') return JSON.stringify(value, null, 2);
  return String(value);
};

/** Values that a form sends: the changed fields, and error messages for invalid fields. */
export type Entered = { fields: Record<string, unknown>; faults: Record<string, string> };

const readEmpty = (field: PageField, isNew: boolean): ReadInput | undefined => {
  if (isNew) return field.required && !field.nullable ? { fault: 'Enter a value.' } : undefined;
  if (field.nullable) return { value: null };
  return field.kind === 'text'
    ? { value: '' }
    : { fault: 'This field cannot be emptied: the world has no null for it.' };
};

/**
 * Reads the texts of a form. `before` contains the initial texts. Without it the row is new: empty fields are left out,
 * or null if they are required.
 */
export const readForm = (
  fields: readonly PageField[],
  texts: Readonly<Record<string, string>>,
  before?: Readonly<Record<string, string>>,
): Entered => {
  const entered: Entered = { fields: {}, faults: {} };
  for (const field of fields) {
    const text = texts[field.name] ?? '';
    if (before !== undefined && text === before[field.name]) continue;
    const isLeftOut = text === '' && before === undefined;
    const read = text === '' ? readEmpty(field, isLeftOut) : readInput(field, text);
    if (read === undefined) {
      if (field.required) entered.fields[field.name] = null;
    } else if ('fault' in read) entered.faults[field.name] = read.fault;
    else entered.fields[field.name] = read.value;
  }
  return entered;
};
