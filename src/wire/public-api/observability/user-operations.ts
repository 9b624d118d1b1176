/** Operations on profiles and events of users. */
import { getOperation, operation } from '../../operation.ts';
import {
  UserEventBody,
  UserEventList,
  UserEventQuery,
  UserEventView,
  UserParams,
  UserProfileBody,
  UserProfileView,
} from './user.ts';

export const setUserProfile = operation({
  id: 'setUserProfile',
  summary: 'Create or update the record of a user; fields that are absent or null stay as they are',
  method: 'POST',
  path: '/user-profiles',
  access: 'write',
  unknown: 'ignored',
  body: UserProfileBody,
  answers: { 200: UserProfileView },
});

export const getUserProfile = getOperation({
  id: 'getUserProfile',
  summary: 'The record of a user, with counts and summed values of events by name',
  path: '/user-profiles/{userId}',
  access: 'inspect',
  unknown: 'ignored',
  params: UserParams,
  answer: UserProfileView,
});

export const createUserEvent = operation({
  id: 'createUserEvent',
  summary: 'Record an event of a user, optionally with a value',
  method: 'POST',
  path: '/user-events',
  access: 'write',
  unknown: 'ignored',
  body: UserEventBody,
  answers: { 200: UserEventView },
});

export const listUserEvents = getOperation({
  id: 'listUserEvents',
  summary: 'Events of users, latest first',
  path: '/user-events',
  access: 'inspect',
  unknown: 'ignored',
  query: UserEventQuery,
  answer: UserEventList,
});
