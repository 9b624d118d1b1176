/** Operations on context repositories, and on prompts under the routes that the field's SDKs call. */
import { deleteOperation, getOperation, operation } from '../../operation.ts';
import { Type } from '../../type.ts';
import {
  ContextBody,
  ContextDeleted,
  ContextKindParams,
  ContextListQuery,
  ContextParams,
  ContextPresence,
  ContextQuery,
  ContextRepoList,
  ContextVersionView,
  PromptBody,
  PromptDeleteQuery,
  PromptLabelsBody,
  PromptList,
  PromptListQuery,
  PromptParams,
  PromptQuery,
  PromptVersionParams,
  PromptView,
} from './context.ts';

const bodyBytes = 4.5 * 1024 * 1024;
const refusals = {
  409: 'The latest version is not `baseVersion`, or the existing prompt has the other type.',
  429: 'The project already has the maximum number.',
};

export const listContext = getOperation({
  id: 'listContext',
  summary: 'Context repositories of a kind, newest first',
  path: '/context/{kind}',
  access: 'inspect',
  unknown: 'ignored',
  params: ContextKindParams,
  query: ContextListQuery,
  answer: ContextRepoList,
});

export const getContext = getOperation({
  id: 'getContext',
  summary:
    'The latest or a given version of a context repository; with `existsOnly`, only whether it exists',
  path: '/context/{kind}/{identifier}',
  access: 'inspect',
  unknown: 'ignored',
  params: ContextParams,
  query: ContextQuery,
  answer: Type.Union([ContextVersionView, ContextPresence]),
});

export const pushContext = operation({
  id: 'pushContext',
  summary: 'Push a version of a context repository; the first push creates the repository',
  method: 'POST',
  path: '/context/{kind}/{identifier}',
  access: 'write',
  unknown: 'ignored',
  params: ContextParams,
  body: ContextBody,
  bodyBytes,
  answers: { 201: ContextVersionView },
  refusals,
});

export const deleteContext = deleteOperation({
  id: 'deleteContext',
  summary: 'Delete a context repository with all of its versions',
  path: '/context/{kind}/{identifier}',
  access: 'write',
  unknown: 'ignored',
  params: ContextParams,
  answer: ContextDeleted,
});

export const createPrompt = operation({
  id: 'createPrompt',
  summary: 'Create a prompt, or the next version of the prompt of the same name',
  method: 'POST',
  path: '/v2/prompts',
  access: 'write',
  unknown: 'ignored',
  body: PromptBody,
  bodyBytes,
  answers: { 201: PromptView },
  refusals,
});

export const listPrompts = getOperation({
  id: 'listPrompts',
  summary: 'Prompts, newest first',
  path: '/v2/prompts',
  access: 'inspect',
  unknown: 'ignored',
  query: PromptListQuery,
  answer: PromptList,
});

export const getPrompt = getOperation({
  id: 'getPrompt',
  summary: 'A prompt: the version in production, or the version with a given label or number',
  path: '/v2/prompts/{promptName}',
  access: 'inspect',
  unknown: 'ignored',
  params: PromptParams,
  query: PromptQuery,
  answer: PromptView,
});

export const labelPrompt = operation({
  id: 'labelPrompt',
  summary: 'Move labels to a version of a prompt',
  method: 'PATCH',
  path: '/v2/prompts/{promptName}/versions/{promptVersion}',
  access: 'write',
  unknown: 'ignored',
  params: PromptVersionParams,
  body: PromptLabelsBody,
  answers: { 200: PromptView },
});

export const deletePrompt = operation({
  id: 'deletePrompt',
  summary: 'Delete a prompt, or one version of it',
  method: 'DELETE',
  path: '/v2/prompts/{promptName}',
  access: 'write',
  unknown: 'ignored',
  params: PromptParams,
  query: PromptDeleteQuery,
  answers: { 204: Type.Null() },
});
