/** Request and answer schemas of context repositories and of prompts, which are one kind of them. */
import { nullable, oneOf, Timestamp } from '../../schemas.ts';
import { type Static, Type } from '../../type.ts';
import { ListMeta, pageOf } from '../lists.ts';
import { Param, pageParams } from '../observability/trace.ts';

export const contextKinds = ['agents', 'prompts', 'skills', 'memory'] as const;
export type ContextKind = (typeof contextKinds)[number];
export const promptTypes = ['text', 'chat'] as const;
export type PromptType = (typeof promptTypes)[number];

const Json = Type.Unknown({ description: 'any JSON' });
const Text = nullable(Type.String());
const Name = Type.String({ minLength: 1, maxLength: 4_000 });
const Labels = Type.Array(Type.String({ maxLength: 1_000 }), { maxItems: 100 });
const Tags = Type.Array(Type.String({ maxLength: 1_000 }), { maxItems: 100 });

export const ContextParams = Type.Object({ kind: oneOf(contextKinds), identifier: Name });
export const ContextKindParams = Type.Object({ kind: oneOf(contextKinds) });

export const ContextVersionView = Type.Object({
  kind: oneOf(contextKinds),
  identifier: Type.String(),
  version: Type.Integer(),
  latestVersion: Type.Integer(),
  content: Json,
  config: Json,
  labels: Type.Array(Type.String()),
  tags: Type.Array(Type.String()),
  message: Text,
  createdBy: Type.String(),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});
export type ContextVersionView = Static<typeof ContextVersionView>;

export const ContextPresence = Type.Object({
  exists: Type.Boolean(),
  version: nullable(Type.Integer()),
});

export const ContextRepoView = Type.Object({
  kind: oneOf(contextKinds),
  identifier: Type.String(),
  latestVersion: Type.Integer(),
  versions: Type.Integer({ description: 'number of versions' }),
  labels: Type.Record(Type.String(), Type.Integer()),
  tags: Type.Array(Type.String()),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});
export const ContextRepoList = pageOf(ContextRepoView);

export const ContextBody = Type.Object({
  content: Type.Unknown({
    description:
      'any JSON except null; for prompts: a text, or a list of messages `{role, content}`',
  }),
  config: Type.Optional(Json),
  labels: Type.Optional(Labels),
  tags: Type.Optional(Tags),
  message: Type.Optional(Type.String({ maxLength: 500 })),
  baseVersion: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 2 ** 31 - 1,
      description:
        'the latest version that the caller knows, 0 if it knows none; if another is the latest, the answer is 409',
    }),
  ),
});
export type ContextBody = Static<typeof ContextBody>;

export const ContextQuery = Type.Object({
  version: Param('number of the version; default: the latest'),
  label: Param('label of the version'),
  exists: Param('`true`: only return whether the repository exists, without its content'),
});
export const ContextListQuery = Type.Object({
  ...pageParams,
  cursor: Param('`meta.nextCursor` of the previous page'),
  label: Param('only repositories with a version that has this label'),
  tag: Param('only repositories with this tag'),
});
export const ContextDeleted = Type.Object({ deleted: Type.Integer({ description: 'versions' }) });

export const PromptParams = Type.Object({ promptName: Name });
export const PromptVersionParams = Type.Object({ promptName: Name, promptVersion: Name });

export const PromptView = Type.Object({
  id: Type.String(),
  projectId: Type.String(),
  createdAt: Timestamp,
  updatedAt: Timestamp,
  createdBy: Type.String(),
  name: Type.String(),
  version: Type.Integer(),
  type: oneOf(promptTypes),
  prompt: Type.Unknown({ description: 'a text, or a list of messages and placeholders' }),
  config: Json,
  labels: Type.Array(Type.String()),
  tags: Type.Array(Type.String()),
  commitMessage: Text,
  isActive: Type.Boolean({ description: 'whether the version has the label `production`' }),
  resolutionGraph: Type.Unknown({ description: 'always null' }),
});
export type PromptView = Static<typeof PromptView>;

export const PromptMeta = Type.Object({
  name: Type.String(),
  type: oneOf(promptTypes),
  versions: Type.Array(Type.Integer()),
  labels: Type.Array(Type.String()),
  tags: Type.Array(Type.String()),
  lastUpdatedAt: Timestamp,
  lastConfig: Json,
});
export const PromptList = Type.Object({
  data: Type.Array(PromptMeta),
  meta: ListMeta,
  pagination: ListMeta,
});

export const PromptBody = Type.Object({
  name: Type.String({ maxLength: 10_000 }),
  type: Type.Optional(oneOf(promptTypes, 'type of the prompt; default text')),
  prompt: Type.Unknown({
    description:
      'a text; for chat prompts, a list of `{role, content}` and `{type: "placeholder", name}`',
  }),
  labels: Type.Optional(Labels),
  config: Type.Optional(Json),
  tags: Type.Optional(Tags),
  commitMessage: Type.Optional(Type.String({ maxLength: 500 })),
});
export type PromptBody = Static<typeof PromptBody>;

export const PromptLabelsBody = Type.Object({ newLabels: Labels });
export const PromptQuery = Type.Object({
  version: Param('a version'),
  label: Param('label of the version; `production` if neither label nor version is given'),
  resolve: Param('`false`: references to other prompts are left in the text'),
});
export const PromptDeleteQuery = Type.Object({
  version: Param('delete only the version with this number'),
  label: Param('delete only the version with this label'),
});
export const PromptListQuery = Type.Object({
  page: pageParams.page,
  limit: Param('maximum number of prompts on a page; at most 100, default 10'),
  cursor: Param('`meta.nextCursor` of the previous page'),
  name: Param('only the prompt of this name'),
  label: Param('only prompts with a version that has this label'),
  tag: Param('only prompts with this tag'),
  fromUpdatedAt: Param('only prompts changed at or after this time'),
  toUpdatedAt: Param('only prompts changed before this time'),
});
