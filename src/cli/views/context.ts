/** Formats context repositories, prompts and media for a person. */
import type {
  ContextRepoList,
  ContextVersionView,
  PromptList,
  PromptView,
} from '#wire/public-api/projects/context.ts';
import type { Static } from '#wire/type.ts';
import type { View } from '../terminal/context.ts';
import { cutLine, formatAgo, formatFields } from '../terminal/print.ts';
import { formatBytes } from './files.ts';
import { formatFitted } from './fitted-table.ts';

const listed = (words: readonly string[]): string =>
  words.length === 0 ? '-' : cutLine(words.join(', '));

export const listRepos = (repos: Static<typeof ContextRepoList>['data'], view: View): string =>
  formatFitted(
    ['NAME', 'LATEST', 'LABELS', 'TAGS', 'CHANGED'],
    repos.map(({ identifier, latestVersion, labels, tags, updatedAt }) => [
      ...[identifier, String(latestVersion)],
      listed(Object.entries(labels).map(([label, version]) => `${label} ${version}`)),
      ...[listed(tags), formatAgo(updatedAt)],
    ]),
    view,
    {
      none: 'none of this kind; "svc context push" creates the first',
      cut: ['TAGS', 'LABELS'],
    },
  );

/** Returns content as it is written to a file: a text unchanged, other values as JSON. */
export const contentText = (content: unknown): string =>
  typeof content === 'string' ? content : `${JSON.stringify(content, null, 2)}\n`;

const ending = (text: string): string => text.replace(/\n$/, '');

export const describeVersion = (view: ContextVersionView): string =>
  [
    formatFields([
      [view.kind, view.identifier],
      ['version', `${view.version} of ${view.latestVersion}`],
      ['labels', listed(view.labels)],
      ['tags', listed(view.tags)],
      ['message', view.message],
      ['pushed', `${formatAgo(view.createdAt)} by ${view.createdBy}`],
      ['config', JSON.stringify(view.config)],
    ]),
    '',
    ending(contentText(view.content)),
  ].join('\n');

export const listPrompts = (prompts: Static<typeof PromptList>['data'], view: View): string =>
  formatFitted(
    ['PROMPT', 'TYPE', 'VERSIONS', 'LABELS', 'TAGS', 'CHANGED'],
    prompts.map(({ name, type, versions, labels, tags, lastUpdatedAt }) => [
      ...[name, type, String(versions.length)],
      ...[listed(labels), listed(tags), formatAgo(lastUpdatedAt)],
    ]),
    view,
    { none: 'no prompts; "svc prompts create" makes one', cut: ['TAGS', 'LABELS'] },
  );

export const describePrompt = (view: PromptView): string =>
  [
    formatFields([
      ['prompt', view.name],
      ['version', view.version],
      ['type', view.type],
      ['labels', listed(view.labels)],
      ['tags', listed(view.tags)],
      ['message', view.commitMessage],
      ['config', JSON.stringify(view.config)],
    ]),
    '',
    ending(contentText(view.prompt)),
  ].join('\n');

type Media = { mediaId: string; contentType: string; contentLength: number; uploadedAt: string };

export const describeMedia = ({ mediaId, contentType, contentLength, uploadedAt }: Media): string =>
  formatFields([
    ['media', mediaId],
    ['type', contentType],
    ['size', formatBytes(contentLength)],
    ['sent', formatAgo(uploadedAt)],
  ]);
