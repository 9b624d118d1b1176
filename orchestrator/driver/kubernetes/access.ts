/**
 * Checks the orchestrator's rights in its namespace before anything is created, so that all missing rights are
 * reported at once.
 */
import { AppError } from '#domain/error.ts';
import { type Cluster, clusterRefusal } from './cluster.ts';

type Need = { group: string; resource: string; subresource?: string; verbs: readonly string[] };

const onApplied = ['create', 'patch', 'delete'];

/** Rights that the orchestrator's role has to grant; docs/operate/kubernetes.md lists them. */
export const needs: readonly Need[] = [
  { group: '', resource: 'pods', verbs: ['get', 'list', 'watch', 'create', 'delete', 'patch'] },
  { group: '', resource: 'pods', subresource: 'log', verbs: ['get'] },
  { group: '', resource: 'events', verbs: ['list'] },
  { group: '', resource: 'secrets', verbs: ['create'] },
  { group: '', resource: 'namespaces', verbs: ['get'] },
  { group: '', resource: 'configmaps', verbs: ['delete'] },
  { group: 'networking.k8s.io', resource: 'networkpolicies', verbs: onApplied },
  { group: 'policy', resource: 'poddisruptionbudgets', verbs: onApplied },
  { group: 'apps', resource: 'daemonsets', verbs: [...onApplied, 'list'] },
];

const nameOf = ({ group, resource, subresource }: Need): string =>
  `${resource}${subresource === undefined ? '' : `/${subresource}`}${group === '' ? '' : `.${group}`}`;

/** Throws `forbidden` naming every missing right. */
export const checkAccess = async ({ authorization }: Cluster, namespace: string): Promise<void> => {
  const isAllowed = async (need: Need, verb: string): Promise<boolean> => {
    const { group, resource, subresource } = need;
    const resourceAttributes = {
      namespace,
      group,
      resource,
      verb,
      ...(subresource === undefined ? {} : { subresource }),
    };
    const body = { spec: { resourceAttributes } };
    const { status } = await authorization.createSelfSubjectAccessReview({ body });
    return status?.allowed === true;
  };
  const missingOf = async (need: Need): Promise<string[]> => {
    const allowed = await Promise.all(need.verbs.map((verb) => isAllowed(need, verb)));
    const missing = need.verbs.filter((_, index) => allowed[index] !== true);
    return missing.length === 0 ? [] : [`${missing.join(', ')} ${nameOf(need)}`];
  };
  let missing: string[];
  try {
    missing = (await Promise.all(needs.map(missingOf))).flat();
  } catch (error) {
    throw clusterRefusal(`reading the orchestrator's rights in namespace ${namespace}`, error);
  }
  if (missing.length > 0) {
    throw new AppError(
      'forbidden',
      `Kubernetes: not allowed in namespace ${namespace}: ${missing.join('; ')}`,
    );
  }
};
