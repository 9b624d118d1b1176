/** Trees in the form of a push, and pushes that send only the files that the control plane lacks. */
import { createHash } from 'node:crypto';
import type { TreeFile } from '#domain/world.ts';
import { findMissingFiles, pushVersion } from '#wire/public-api/operations.ts';
import type { PushBody, PushView } from '#wire/public-api/worlds/version.ts';
import type { Send } from './control.ts';

const sha256Of = (content: Uint8Array): string =>
  createHash('sha256').update(content).digest('hex');

/** Returns the files of a body: with their contents, or only with those that `missing` names. */
export const pushFiles = (
  tree: readonly TreeFile[],
  missing?: readonly string[],
): PushBody['files'] =>
  tree.map(({ path, content }) => {
    const sha256 = sha256Of(content);
    const isSent = missing === undefined || missing.includes(sha256);
    return {
      path,
      sha256,
      ...(isSent ? { content: Buffer.from(content).toString('base64') } : {}),
    };
  });

/** Returns the tree with some texts replaced; null removes a file. */
export const changed = (
  tree: readonly TreeFile[],
  texts: Readonly<Record<string, string | null>>,
): TreeFile[] => [
  ...tree.filter(({ path }) => !Object.hasOwn(texts, path)),
  ...Object.entries(texts).flatMap(([path, text]) =>
    text === null ? [] : [{ path, content: new TextEncoder().encode(text) }],
  ),
];

/** Pushes a tree onto the head, or the version that `base` names; returns the result and the files that were sent. */
export const push = async (
  send: Send,
  slug: string,
  tree: readonly TreeFile[],
  more: Partial<PushBody> = {},
): Promise<PushView & { sent: string[]; status: number }> => {
  const params = { slug };
  const sha256 = pushFiles(tree).map((file) => file.sha256);
  const { body: asked } = await send(findMissingFiles, { params, body: { sha256 } });
  const files = pushFiles(tree, asked.missing);
  const answer = await send(pushVersion, {
    params,
    body: { base: asked.head.number, files, ...more },
  });
  const sent = files.filter(({ content }) => content !== undefined).map(({ path }) => path);
  return { ...answer.body, sent, status: answer.status };
};
