/**
 * Prompts as they are written: a text, or a chat of messages and placeholders. Other prompts can be parts of their
 * texts: `@@@langfusePrompt:name=greeting|label=production@@@`, the form that the field's SDKs write.
 */
import { isObject } from '#domain/json.ts';
import { Misfit } from '#observability/read-value.ts';
import type { PromptType } from '#wire/public-api/context.ts';

/** A prompt as it is kept: JSON text. */
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

/** Reads a prompt of a type; of none given it is what it looks like. Throws `Misfit`. */
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

/** What a part of a prompt names. */
export type PromptPart = { name: string; at: { version: number } | { label: string } };

const partForm = /@@@langfusePrompt:([^@]{1,1000})@@@/g;

const readPart = (text: string): PromptPart | undefined => {
  const members = new Map(
    text.split('|').map((member): [string, string] => {
      const split = member.indexOf('=');
      return [member.slice(0, split), member.slice(split + 1)];
    }),
  );
  const name = members.get('name');
  const version = Number(members.get('version'));
  if (name === undefined || name === '') return undefined;
  if (members.has('version')) {
    return Number.isSafeInteger(version) ? { name, at: { version } } : undefined;
  }
  return { name, at: { label: members.get('label') ?? 'production' } };
};

/** The parts that a text has, in their order; each as it is written. */
export const partsOf = (text: string): { written: string; part: PromptPart }[] =>
  [...text.matchAll(partForm)].flatMap(([written, members = '']) => {
    const part = readPart(members);
    return part === undefined ? [] : [{ written, part }];
  });

/** The content with each of its texts changed: of a chat, those of its messages. */
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
