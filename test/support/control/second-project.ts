/** A second project of a control plane, with a key pair of its own. */
import { createHash, randomUUID } from 'node:crypto';
import { basicAuthorization } from '#wire/client.ts';
import type { TestControl } from './control.ts';

export type Answer = { status: number; headers: Record<string, unknown>; body: unknown };

export type Neighbour = {
  projectId: string;
  /** `Authorization` header of its key pair. */
  authorization: string;
  /** Sends a request to the public API with its keys. */
  ask(
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    body?: object,
    at?: TestControl,
  ): Promise<Answer>;
};

/** Creates the project in the existing organization. */
export const addNeighbour = async (control: TestControl): Promise<Neighbour> => {
  const projectId = `prj-${randomUUID()}`;
  const [publicKey, secretKey] = [`pk-${randomUUID()}`, `sk-${randomUUID()}`];
  await control.sql(
    `insert into projects (id, organization_id, slug, name)
     select $1, id, $1, 'neighbour' from organizations limit 1`,
    [projectId],
  );
  await control.sql(
    `insert into keys (id, organization_id, project_id, public_key, secret_hash)
     select $1, organization_id, id, $1, $2 from projects where id = $3`,
    [publicKey, createHash('sha256').update(secretKey).digest(), projectId],
  );
  const authorization = basicAuthorization(publicKey, secretKey);
  return {
    projectId,
    authorization,
    ask: (method, path, body, at = control) =>
      at.raw({
        method,
        path: `/api/public${path}`,
        headers: { authorization, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
  };
};
