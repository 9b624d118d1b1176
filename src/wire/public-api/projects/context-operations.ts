/** Operations on context repositories, and on prompts by the routes that the field's SDKs call. */
import { operation } from '../../operation.ts';
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
  409: 'The latest version is another than `baseVersion`, or the other type of prompt.',
  429: 'The project has no room for another.',
};

export const listContext = operation({
  id: 'listContext',
  summary: 'Context repositories of a kind, newest first',
  method: 'GET',
  path: '/context/{kind}',
  access: 'inspect',
  unknown: 'ignored',
  params: ContextKindParams,
  query: ContextListQuery,
  answers: { 200: ContextRepoList },
});

export const getContext = operation({
  id: 'getContext',
  summary: 'The latest version of a context repository, or another; or whether there is one',
  method: 'GET',
  path: '/context/{kind}/{identifier}',
  access: 'inspect',
  unknown: 'ignored',
  params: ContextParams,
  query: ContextQuery,
  answers: { 200: Type.Union([ContextVersionView, ContextPresence]) },
});

export const pushContext = operation({
  id: 'pushContext',
  summary: 'Push a version of a context repository, which is made with the first',
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

export const deleteContext = operation({
  id: 'deleteContext',
  summary: 'Delete a context repository with all of its versions',
  method: 'DELETE',
  path: '/context/{kind}/{identifier}',
  access: 'write',
  unknown: 'ignored',
  params: ContextParams,
  answers: { 200: ContextDeleted },
});

export const createPrompt = operation({
  id: 'createPrompt',
  summary: 'Create a prompt, or the next version of the one of its name',
  method: 'POST',
  path: '/v2/prompts',
  access: 'write',
  unknown: 'ignored',
  body: PromptBody,
  bodyBytes,
  answers: { 201: PromptView },
  refusals,
});

export const listPrompts = operation({
  id: 'listPrompts',
  summary: 'Prompts, newest first',
  method: 'GET',
  path: '/v2/prompts',
  access: 'inspect',
  unknown: 'ignored',
  query: PromptListQuery,
  answers: { 200: PromptList },
});

export const getPrompt = operation({
  id: 'getPrompt',
  summary: 'A prompt: the version in production, that of a label, or that of a number',
  method: 'GET',
  path: '/v2/prompts/{promptName}',
  access: 'inspect',
  unknown: 'ignored',
  params: PromptParams,
  query: PromptQuery,
  answers: { 200: PromptView },
});

export const labelPrompt = operation({
  id: 'labelPrompt',
  summary: 'Add labels to a version of a prompt, taken from the versions that have them',
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
