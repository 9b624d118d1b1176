/**
 * Reads from the environment how `svc-mcp` connects to the service. A key pair takes precedence over a token, since it
 * already selects the project.
 */
import { type Env, readEnv } from '#runtime/env.ts';
import { Secret } from '#runtime/secret.ts';

export type McpConfig = {
  /** Base address of the service, without `/api/public`. */
  url: string;
  mode:
    | { kind: 'keys'; publicKey: string; secretKey: Secret }
    | { kind: 'token'; token: Secret; projectId: string | undefined };
  /** Notes for people about settings that were ignored. */
  notes: string[];
};

const defaultUrl = 'http://127.0.0.1:4500';

const howTo =
  'no credentials: set SVC_PUBLIC_KEY and SVC_SECRET_KEY (one project), or SVC_API_TOKEN (a personal access token)';

/** Reads the configuration, or throws `invalid` with every mistake in it. */
export const readConfig = (environment: Env): McpConfig => {
  const env = readEnv(environment);
  const url = env.optionalText('SVC_URL') === undefined ? defaultUrl : env.url('SVC_URL');
  const publicKey = env.optionalText('SVC_PUBLIC_KEY');
  const secretKey = env.optionalText('SVC_SECRET_KEY');
  const token = env.optionalText('SVC_API_TOKEN');
  const projectId = env.optionalText('SVC_PROJECT_ID');
  const notes: string[] = [];
  const isHalf = (publicKey === undefined) !== (secretKey === undefined);
  if (isHalf && token === undefined)
    env.refuse('SVC_PUBLIC_KEY and SVC_SECRET_KEY go together; one of them is not set');
  if (!isHalf && publicKey === undefined && token === undefined) env.refuse(howTo);
  if (token !== undefined && !token.startsWith('pat_'))
    env.refuse('SVC_API_TOKEN does not begin with pat_: it is no personal access token');
  env.finish();
  const base = { url: url.replace(/\/+$/, ''), notes };
  if (publicKey !== undefined && secretKey !== undefined) {
    if (token !== undefined)
      notes.push('the key pair is used; SVC_API_TOKEN is ignored, because both are set');
    return { ...base, mode: { kind: 'keys', publicKey, secretKey: new Secret(secretKey) } };
  }
  if (isHalf) notes.push('SVC_API_TOKEN is used; the incomplete key pair is ignored');
  return { ...base, mode: { kind: 'token', token: new Secret(token ?? ''), projectId } };
};
