/**
 * Parses prompts: a text, or a chat of messages and placeholders. Their texts can include other prompts by references
 * such as `@@@langfusePrompt:name=greeting|label=production@@@`, the form that the established SDKs write. Such a
 * reference is called a part.
 */
import { isObject } from '#domain/json.ts';
import { Misfit } from '#observability/read-value.ts';
import type { PromptType } from '#wire/public-api/projects/context.ts';

/** Prompt as it is stored: JSON text. */
export type PromptContent = { type: PromptType; content: string };

const mostMessages = 1_000;

const readMessage = (given: unknown): object => {
  if (!isObject(given)) throw new Misfit('prompt', 'must hold objects {role, content}');
  const { type, role, content, name } = given;
  if (type === 'placeholder') {
    if (typeof name === 'string' && name !== '') return { type, name };
    throw new Misfit('prompt', 'must name each placeholder');
  }
  if (typeof role === 'string' && typeof content === 'string') {
    return { ...given, type: 'chatmessage', role, content };
  }
  throw new Misfit(
    'prompt',
    'must hold {role, content} with two texts, or {type: "placeholder", name}',
  );
};

/**
 * Parses a prompt of the given type. If no type is given, a list is a chat prompt and a text is a text prompt. Throws
 * `Misfit`.
 */
export const readPrompt = (prompt: unknown, type: PromptType | undefined): PromptContent => {
  if (type === 'chat' || (type === undefined && Array.isArray(prompt))) {
    if (!Array.isArray(prompt)) throw new Misfit('prompt', 'must be a list of messages');
    if (prompt.length > mostMessages) {
      throw new Misfit('prompt', `must have at most ${mostMessages} messages`);
    }
    return { type: 'chat', content: JSON.stringify(prompt.map(readMessage)) };
  }
  if (typeof prompt !== 'string') throw new Misfit('prompt', 'must be a text');
  return { type: 'text', content: JSON.stringify(prompt) };
};

/** Reference in a text to another prompt, by version or label. */
export type PromptPart = { name: string; at: { version: number } | { label: string } };

/** Marker at the beginning of each part. */
export const partMark = '@@@langfusePrompt:';

const partForm = new RegExp(`${partMark}name=([^@]{1,1000})@@@`, 'g');

/** Parses the number of a version; returns undefined for other text. */
const readVersion = (text: string | undefined): number | undefined =>
  text !== undefined && /^[1-9]\d{0,9}$/.test(text) && Number(text) < 2 ** 31
    ? Number(text)
    : undefined;

/** Parses the text after `name=`; returns undefined if it has no name, or neither version nor label. */
const readPart = (text: string): PromptPart | undefined => {
  const [name = '', ...members] = text.split('|');
  const given = new Map(
    members.map((member): [string, string] => {
      const split = member.indexOf('=');
      return [member.slice(0, split), member.slice(split + 1)];
    }),
  );
  if (name === '') return undefined;
  if (given.has('version')) {
    const version = readVersion(given.get('version'));
    return version === undefined ? undefined : { name, at: { version } };
  }
  const label = given.get('label') ?? '';
  return label === '' ? undefined : { name, at: { label } };
};

/**
 * Returns the parts in a text, in their order, each with the text of the reference. Malformed references count as plain
 * text.
 */
export const partsOf = (text: string): { written: string; part: PromptPart }[] =>
  [...text.matchAll(partForm)].flatMap(([written, members = '']) => {
    const part = readPart(members);
    return part === undefined ? [] : [{ written, part }];
  });

const variableForm = /\{\{\s*([^{}\s]{1,500})\s*\}\}/g;

/**
 * Returns the names that a chat uses for both a variable and a placeholder. An SDK would fill in both with the same
 * value.
 */
export const namedTwice = (content: unknown): string[] => {
  if (!Array.isArray(content)) return [];
  const messages = content.filter(isObject);
  const variables = new Set(
    messages.flatMap(({ content: text }) =>
      typeof text === 'string' ? [...text.matchAll(variableForm)].map(([, name]) => name) : [],
    ),
  );
  const placeholders = messages.flatMap(({ type, name }) =>
    type === 'placeholder' && typeof name === 'string' ? [name] : [],
  );
  return [...new Set(placeholders)].filter((name) => variables.has(name));
};

/**
 * Returns the content with `change` applied to each of its texts: to the prompt's own text, or to the texts of a chat's
 * messages.
 */
export const mapTexts = async (
  content: unknown,
  change: (text: string) => Promise<string>,
): Promise<unknown> => {
  if (typeof content === 'string') return change(content);
  if (!Array.isArray(content)) return content;
  const changed: unknown[] = [];
  for (const message of content) {
    const { content: text } = isObject(message) ? message : {};
    changed.push(
      typeof text === 'string' ? { ...(message as object), content: await change(text) } : message,
    );
  }
  return changed;
};
