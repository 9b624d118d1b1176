/**
 * Checks `[dependencies]`: links to other worlds. Only this world's fields are checked, because the other worlds are
 * not at hand.
 */
import type { Dependency } from '../contract.ts';
import type { DependencyTable, FieldLink } from '../files/dependencies.ts';
import type { Environment } from '../files/svc-env-toml.ts';
import type { Placed } from '../read/kinds.ts';
import type { Place } from '../read/place.ts';
import { findEntity, findField, type Model } from './model.ts';

/** Splits `<entity>.<field>` into the entity and the field. */
const splitField = (place: Place, written: string): [entity: string, field: string] | undefined => {
  const [, entity, field] = /^([A-Za-z]\w*)\.([A-Za-z_]\w*)$/.exec(written) ?? [];
  if (entity !== undefined && field !== undefined) return [entity, field];
  const message = `${JSON.stringify(written.slice(0, 200))} is not <entity>.<field>`;
  place.refuse('bad_dependency', message);
  return undefined;
};

const readLink = ({ from, to, place }: FieldLink, model: Model): Dependency['entities'] => {
  const ownPlace = place.ofKey();
  const own = splitField(ownPlace, from);
  const other = splitField(place, to);
  if (own === undefined || other === undefined) return [];
  const entity = findEntity(ownPlace, own[0], model);
  if (entity !== undefined) findField(ownPlace, own[1], entity, model);
  const [name, field] = own;
  const [targetEntity, targetField] = other;
  return [{ entity: name, field, targetEntity, targetField }];
};

const toDependency = (
  alias: string,
  { place, value }: Placed<DependencyTable>,
  model: Model,
): Dependency => {
  if (!/^[A-Za-z][A-Za-z0-9_-]{0,63}$/.test(alias)) {
    const hint = 'letters, digits, "_" and "-", beginning with a letter';
    place.refuse('bad_name', `${JSON.stringify(alias.slice(0, 100))} is not an alias`, hint);
  }
  const [slug = '', ref = ''] = value.pin.split('@');
  return {
    alias,
    slug,
    ref,
    task: value.task ?? null,
    tools: value.tools ?? null,
    entities: value.entities.flatMap((link) => readLink(link, model)),
  };
};

/** Returns the links of a manifest, in the file's order. */
export const checkDependencies = (
  environment: Environment | undefined,
  model: Model,
): Dependency[] =>
  [...(environment?.dependencies ?? [])].map(([alias, table]) => toDependency(alias, table, model));
