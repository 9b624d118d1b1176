/** Shortcuts for what most tests do with a world and its sessions. */
import type { Client } from '#wire/client.ts';
import {
  closeSession,
  createWorld,
  enqueueCall,
  getCall,
  getSession,
  openSession,
} from '#wire/public-api/operations.ts';
import type { CallRequest, CallView } from '#wire/public-api/sessions/call.ts';
import type { OpenSessionBody, SessionView } from '#wire/public-api/sessions/session.ts';
import { encodeTree, notesWorld } from '../worlds/worlds.ts';

/** Creates the world of notes under a slug. */
export const createNotes = (client: Client, slug = 'notes') =>
  client.send(createWorld, { body: { slug, from: encodeTree(notesWorld()) } });

/** Opens a session and waits for its outcome. */
export const open = async (client: Client, body: OpenSessionBody): Promise<SessionView> => {
  const answer = await client.send(openSession, { body, query: { wait: 60 } });
  return answer.body;
};

/** Enqueues a call and returns at once. */
export const enqueue = async (
  client: Client,
  sessionId: string,
  body: CallRequest,
): Promise<CallView> =>
  (await client.send(enqueueCall, { params: { sessionId }, body, query: {} })).body;

/** Enqueues a call and waits for its answer. */
export const call = async (
  client: Client,
  sessionId: string,
  body: CallRequest,
): Promise<CallView> =>
  (await client.send(enqueueCall, { params: { sessionId }, body, query: { wait: 60 } })).body;

export const readCall = async (client: Client, sessionId: string, callId: string) =>
  (await client.send(getCall, { params: { sessionId, callId }, query: {} })).body;

export const readSession = async (client: Client, sessionId: string) =>
  (await client.send(getSession, { params: { sessionId }, query: {} })).body;

/** Closes a session and waits until it is closed. */
export const close = async (
  client: Client,
  sessionId: string,
  keepWarm = false,
): Promise<SessionView> =>
  (
    await client.send(closeSession, {
      params: { sessionId },
      query: { wait: 30 },
      body: { keepWarm },
    })
  ).body;
