/** Endpoints of user profiles, user events and comments. */
import * as api from '#wire/public-api/operations.ts';
import { createComment, readComment, readComments } from '../../../observability/comments.ts';
import {
  addUserEvent,
  putProfile,
  readProfile,
  readUserEvents,
} from '../../../observability/users.ts';
import type { Parts } from '../../../parts.ts';
import { type Endpoint, endpoint, respond } from '../../server/endpoint.ts';

export const userEndpoints = ({ traces: { db } }: Parts): Endpoint[] => [
  endpoint(api.setUserProfile, async ({ body }, { caller: { projectId } }) =>
    respond(200, await putProfile(db, projectId, body)),
  ),

  endpoint(api.getUserProfile, async ({ params: { userId } }, { caller: { projectId } }) =>
    respond(200, await readProfile(db, projectId, userId)),
  ),

  endpoint(api.createUserEvent, async ({ body }, { caller: { projectId } }) =>
    respond(200, await addUserEvent(db, projectId, body)),
  ),

  endpoint(api.listUserEvents, async ({ query }, { caller: { projectId } }) =>
    respond(200, await readUserEvents(db, projectId, query)),
  ),
];

export const commentEndpoints = ({ traces: { db } }: Parts): Endpoint[] => [
  endpoint(api.createComment, async ({ body }, { caller: { projectId } }) =>
    respond(200, { id: await createComment(db, projectId, body) }),
  ),

  endpoint(api.listComments, async ({ query }, { caller: { projectId } }) =>
    respond(200, await readComments(db, projectId, query)),
  ),

  endpoint(api.getComment, async ({ params: { commentId } }, { caller: { projectId } }) =>
    respond(200, await readComment(db, projectId, commentId)),
  ),
];
