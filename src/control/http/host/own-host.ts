/** A host speaks for itself alone. */
import { AppError } from '#domain/error.ts';
import type { HostCaller } from '../endpoint.ts';

/** The host in the path, which must be the one that the token names. */
export const checkHost = ({ hostId }: HostCaller, named: string): string => {
  if (hostId !== named) throw new AppError('forbidden', `the token is ${hostId}'s, not ${named}'s`);
  return hostId;
};
